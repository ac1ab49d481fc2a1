"""Keeping the indexes up to date while people and programs change the files; a hint, the comparison stays the truth."""
