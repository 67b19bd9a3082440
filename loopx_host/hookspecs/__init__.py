"""The promise to package authors: what a package may do inside the host, and what it is called with."""

from __future__ import annotations

from loopx_host.core.limits import HOST_API

API_VERSION = HOST_API  # a manifest's `requires_loopx_api` decides: of another version nothing is ever loaded
