"""The data about a person: listed, exported and erased."""
