"""What a vault is made of, as frozen values; imports nothing but util and errors."""
