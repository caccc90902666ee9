"""Exercises with their solutions, and the grading of a class."""
