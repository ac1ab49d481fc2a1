"""Subjects, projects, and what is understood of several of them."""
