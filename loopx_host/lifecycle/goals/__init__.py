"""What a goal may ask of a capability: bindings and governed calls."""
