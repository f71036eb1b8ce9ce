"""Zotero's own interfaces over HTTP: the application on this machine, and zotero.org. The one place that
knows pyzotero."""
