"""Two texts of one note, settled."""
