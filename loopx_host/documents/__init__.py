"""What loopx writes and reads as JSON: one module per document, its id, its shape, how it is built, its JSON Schema.

A builder takes plain values and gives the keys in the order that stands in the bytes. The shapes are TypedDicts that
only a type checker sees, so that a route pays for no `typing`; the last of a module is that of the document itself.
`catalog` names them all. Other layers import from the module of the document.
"""
