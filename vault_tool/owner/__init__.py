"""The one process of this machine that keeps a vault's indexes warm; an optimisation, never needed for a right answer."""
