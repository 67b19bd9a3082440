"""The command line: translate argv, call one operation, render once."""
