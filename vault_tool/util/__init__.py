"""Text, time and atomic files: what every floor above needs and no floor owns."""
