"""Composition root without Qt: builds everything from settings, for the window and for the command line."""
