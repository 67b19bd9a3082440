"""Bounded provider processes and their end."""
