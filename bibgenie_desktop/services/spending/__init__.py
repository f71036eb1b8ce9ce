"""What requests cost, and what a prompt cache is worth."""
