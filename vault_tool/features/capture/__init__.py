"""What clients keep of their sessions, read on this machine where a person said so."""
