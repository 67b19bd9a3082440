"""Counts what is in a text; answers one JSON request on standard input. Does not depend on loopx."""
