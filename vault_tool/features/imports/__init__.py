"""Notes of other tools, taken in."""
