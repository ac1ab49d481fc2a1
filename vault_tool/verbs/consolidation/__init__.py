"""Passes over what is new, and the subjects that they are about."""
