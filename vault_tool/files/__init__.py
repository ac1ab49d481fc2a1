"""The truth on disk: where files live, how heads are read and edited, the one door for writes, journals and git."""
