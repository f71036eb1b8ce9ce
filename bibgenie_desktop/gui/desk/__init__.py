"""Connects the window with the presenters: wishes go down, what happened comes up."""
