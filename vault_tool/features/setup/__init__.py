"""A vault founded, and its settings."""
