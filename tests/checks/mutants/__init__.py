"""Right answers, changed in one place each: does the check refuse them?

`make mutants` changes the solutions of the exercises and the references of the checks,
in every way that `operators.py` knows, gives each mutant to its check, and writes those
that pass to `survivors.json`. For each of them a person says there why it may pass; a
survivor without a reason is a hole in a check.
"""
