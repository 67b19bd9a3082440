"""What exists: manifests, their rules and the values read from them."""
