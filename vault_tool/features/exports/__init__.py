"""The memory written out in the forms of other tools, and in one of its own."""
