"""Notes of other tools turned into notes of a vault: bytes and values in, bytes and values out."""
