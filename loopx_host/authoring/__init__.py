"""For those who write extensions: scaffold, validation, schemas, conformance."""
