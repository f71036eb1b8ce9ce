"""Changes to the person's Zotero that a model proposes: what they mean, and what came of them."""
