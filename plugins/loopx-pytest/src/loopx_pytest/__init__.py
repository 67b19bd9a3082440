"""Test loopx extensions with pytest; the rules and the runs are the host's own."""

from loopx_host import conformance, run_manifest

__all__ = ["conformance", "run_manifest"]
