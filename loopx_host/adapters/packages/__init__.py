"""Launchers and the identity of what is installed."""
