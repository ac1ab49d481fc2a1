"""History: what happened, earlier texts, and operations taken back."""
