"""The full-text index by itself: what it reads of notes and questions, how it stores it, and what it finds."""
