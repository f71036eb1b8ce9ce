"""Zotero's notes: their HTML, and Markdown for models and people."""
