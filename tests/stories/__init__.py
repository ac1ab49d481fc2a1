"""Vaults whose contents are told in TOML, and what is asked of them."""
