"""Change right answers in one place each, and test whether their checks refuse them.

`make mutants` changes the solutions of the exercises and the references of the checks,
in every way that `operators.py` lists, gives each mutant to its check, and writes those
that pass to `survivors.txt`. There a person writes for each why it may pass; a
survivor without a reason is a hole in a check.
"""
