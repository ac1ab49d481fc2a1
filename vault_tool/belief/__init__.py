"""What the vault thinks of its memories: truth, utility and decay, folded from signals; values in, values out."""
