"""The book's drawings in SVG; each is made by the file of its name."""
