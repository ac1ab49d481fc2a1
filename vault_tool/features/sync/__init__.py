"""Sync: what two machines, or several people, wrote is brought together, and passed on."""
