"""The provider process: ``--doctor`` proves that it works, otherwise one request in, one response out."""

from __future__ import annotations

import json
import sys

from loopx_text_stats.stats import REQUEST_SCHEMA, answer, failure

DOCTOR_TEXT = "one two\nthree"
DOCTOR_EXPECTS = {"characters": 13, "non_whitespace_characters": 11, "words": 3, "lines": 2}


def main() -> int:
    """Serve one call and return the exit status."""
    if sys.argv[1:] == ["--doctor"]:
        return doctor()
    if sys.argv[1:]:
        print("usage: loopx-text-stats [--doctor] < request.json", file=sys.stderr)
        return 2
    try:
        request = json.loads(sys.stdin.buffer.read().decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        response = failure(f"the request is not JSON: {error}")
    else:
        response = answer(request)
    json.dump(response, sys.stdout)
    sys.stdout.write("\n")
    return 0 if response["ok"] else 1


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse a key that stands twice: two readers could take different ones."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def doctor() -> int:
    """Count a known text and compare; exit 0 only when the answer is right. Reads and writes nothing else."""
    response = answer({"schema_version": REQUEST_SCHEMA, "text": DOCTOR_TEXT})
    if response.get("result") != DOCTOR_EXPECTS:
        print(f"expected {DOCTOR_EXPECTS}, got {response.get('result')}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
