"""The panels at the right: branches, context, library."""
