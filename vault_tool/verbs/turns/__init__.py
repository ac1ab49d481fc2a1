"""Turns of a conversation: what they recall, and what becomes of what they say."""
