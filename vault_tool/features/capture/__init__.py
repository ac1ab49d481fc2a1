"""Reading of the session files that clients keep on this machine, where a person allowed it."""
