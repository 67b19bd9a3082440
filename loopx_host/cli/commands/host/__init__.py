"""Commands of one word, about the host itself."""
