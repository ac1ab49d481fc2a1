"""What an agent reads as its session begins, goes on and ends."""
