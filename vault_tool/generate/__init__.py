"""The pages and texts that the vault writes for people and prompts; values in, text out."""
