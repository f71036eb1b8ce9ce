"""Citing: styles, references for other programs, and the check of quotes."""
