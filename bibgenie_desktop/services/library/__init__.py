"""What the window may ask of the Zotero library in use."""
