"""Capabilities that stay in the core, or are on their way out of it."""
