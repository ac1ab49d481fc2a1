"""`read`, `write` and `update` as contracts: JSON requests checked twice, all faults told at once, and their answers."""
