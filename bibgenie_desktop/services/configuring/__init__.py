"""Providers and models as a person sets them up and tests them."""
