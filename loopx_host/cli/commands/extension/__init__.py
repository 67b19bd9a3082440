"""`loopx extension …`."""
