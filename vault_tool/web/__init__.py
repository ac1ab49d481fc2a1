"""A page for people: the vault in a browser, for its owner. Every page asks verbs, and everything that it does is a verb."""
