"""Bringing the indexes up to date with the files: what a file says, what differs, and how it gets into the catalogue."""
