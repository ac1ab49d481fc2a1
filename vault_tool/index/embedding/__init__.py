"""Texts as vectors: one port, the providers behind it, and which of them answers on this machine."""
