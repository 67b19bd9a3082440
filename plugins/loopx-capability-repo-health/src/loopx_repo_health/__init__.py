"""Facts about a git repository that a context reference names; a governed, read-only capability of loopx."""
