"""Pictures in the window: taking them in, showing them small, showing them large."""
