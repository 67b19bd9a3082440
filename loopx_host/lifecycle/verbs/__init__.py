"""One module per verb; each knows the order of its steps, and takes only the ports it needs."""
