"""The book's drawings in SVG, each made by the file that has its name."""
