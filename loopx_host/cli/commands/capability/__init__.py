"""`loopx capability …`."""
