"""Long runs whose numbers the book reads."""
