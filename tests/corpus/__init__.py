"""Bytes that people's notes hold, as data for tests."""
