"""A memory for AI agents and the people they work with: markdown files in git, everything else derived."""
