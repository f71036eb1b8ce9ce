"""The commands that print: `inspect`, `check` and `export`. No Qt, no network, and nothing is written.

Works while the application runs: the database is opened for reading only, Zotero's through a private copy.
"""
