"""One request to one ready provider, and what a package brings into the host."""
