"""Bounded reads, atomic writes, locks and directories."""
