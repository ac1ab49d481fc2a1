"""The beginning, course and end of an agent's session: what it reads, what it may judge and keep."""
