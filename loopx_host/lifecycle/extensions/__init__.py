"""What may run: trusted revisions, their proof, and the commands that change them."""
