"""Review by a person: what waits for it, consent, and the drafts that are kept."""
