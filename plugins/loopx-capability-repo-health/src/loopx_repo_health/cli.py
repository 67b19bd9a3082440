"""The provider process: ``--doctor`` proves that it works, otherwise one request in, one answer out."""

from __future__ import annotations

import sys

from loopx_host import OperationFailed, serve_operations
from loopx_repo_health.facts import inspect
from loopx_repo_health.publication import published_view
from loopx_repo_health.request import SURFACE
from loopx_repo_health.sample import empty_repository
from loopx_repo_health.view import check, repository_health_view

MANIFEST_ID = "loopx-capability-repo-health"
DOCTOR_TIME = "2026-01-01T00:00:00Z"


def main() -> int:
    """Serve one call and return the exit status."""
    if sys.argv[1:] == ["--doctor"]:
        return doctor()
    if sys.argv[1:]:
        sys.stderr.write("usage: loopx-capability-repo-health [--doctor] < request.json\n")
        return 2
    return serve_operations({"inspect": inspect}, views={SURFACE: published_view}, manifest_id=MANIFEST_ID)


def doctor() -> int:
    """Inspect a repository without commits, made in the temporary directory, and compare; exit 0 when it is right."""
    with empty_repository() as folder:
        try:
            (seen,) = inspect({"now": DOCTOR_TIME}, {"repo": folder})
        except OperationFailed as failed:
            sys.stderr.write(f"{failed.code}: {failed}\n")
            return 1
    wrong = check(repository_health_view(seen))
    if seen["head"]["state"] != "unborn" or seen["missing"] != ["licence", "readme", "ci"] or wrong:
        sys.stderr.write(f"an empty repository was seen as {seen} {wrong}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
