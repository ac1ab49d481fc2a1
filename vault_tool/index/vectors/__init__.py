"""Notes by meaning: the vectors of their texts, kept once a text, searched exactly or by Chroma."""
