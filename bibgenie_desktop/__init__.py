"""A desktop research assistant for people who keep their literature in Zotero."""

__version__ = "0.1.0"
