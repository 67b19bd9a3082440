"""The provider process: ``--doctor`` proves that it works, otherwise one request in, one answer out."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from loopx_host import OperationFailed, serve_operations
from loopx_recall.operations import search_notes

MANIFEST_ID = "loopx-capability-recall"


def main() -> int:
    """Serve one call and return the exit status."""
    if sys.argv[1:] == ["--doctor"]:
        return doctor()
    if sys.argv[1:]:
        sys.stderr.write("usage: loopx-capability-recall [--doctor] < request.json\n")
        return 2
    return serve_operations({"search": search_notes}, manifest_id=MANIFEST_ID)


def doctor() -> int:
    """Search two notes made in the temporary directory; exit 0 when the right one is found."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.md").write_text("# Apples\nred and green\n", "utf-8")
        Path(folder, "b.md").write_text("# Pears\nyellow\n", "utf-8")
        try:
            found = [row["note"] for row in search_notes({"query": "GREEN apples"}, {"notes": folder})]
        except OperationFailed as failed:
            sys.stderr.write(f"{failed.code}: {failed}\n")
            return 1
    if found != ["a.md"]:
        sys.stderr.write(f"expected the note a.md, found {found}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
