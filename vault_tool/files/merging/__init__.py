"""The merge of one note that was changed in two places: its lines, its head, and the whole of it."""
