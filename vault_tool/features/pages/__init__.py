"""CORE.md and REFLECTION.md, as they are asked for."""
