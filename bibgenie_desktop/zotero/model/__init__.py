"""What a Zotero library consists of, as values, and the rules about them."""
