"""Search over a folder of notes: words in, the notes that hold all of them out; read-only, nothing kept."""
