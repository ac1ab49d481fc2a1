"""What there is of a person: listed, exported and erased."""
