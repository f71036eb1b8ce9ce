"""Sheets that open from a button: models, appearance."""
