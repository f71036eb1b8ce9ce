"""The settings: a dialog over the window with a page for each subject. Pages show and report; they decide
nothing."""
