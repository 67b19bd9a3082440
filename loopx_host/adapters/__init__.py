"""The outside world: processes, files, installed packages, the clock."""
