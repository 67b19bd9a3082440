"""The shared words of every layer; imports nothing above itself."""
