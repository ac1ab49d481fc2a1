"""The vault in the shapes that other libraries ask for."""
