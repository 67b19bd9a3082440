"""The periodic report: a neutral document, its rendering, and the contract of the sinks that carry it."""
