"""The composition root: the only place that builds adapters."""
