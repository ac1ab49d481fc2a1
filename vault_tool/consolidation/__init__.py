"""What two memories or subjects have in common, and what a pass of consolidation is made of."""
