"""What every verb stands on: the open vault, names and ids, one operation at a time, and what may be written."""
