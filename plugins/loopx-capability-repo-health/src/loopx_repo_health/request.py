"""What a request names and how far it may go; nothing here reads a repository, so help may know it."""

from __future__ import annotations

REFERENCE = "repo"
LARGE_FILE_KB = 1024
LARGE_FILE_KB_MAX = 1_048_576
PUBLISH_SCHEMA = "loopx_repo_health_publish_request_v0"
SURFACE = "repository-health"
