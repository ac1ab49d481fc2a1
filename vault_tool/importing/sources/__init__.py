"""Exports of other tools as values: one module an export, files in, items out."""
