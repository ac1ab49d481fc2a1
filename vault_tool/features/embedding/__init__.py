"""Texts embedded: models, their download, and what is behind."""
