"""Verbs that answer questions: `recall`, `search`, `search_observations` and `snapshot`."""
