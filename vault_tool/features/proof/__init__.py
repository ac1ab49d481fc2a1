"""Proof of use: figures that show whether the memory helps."""
