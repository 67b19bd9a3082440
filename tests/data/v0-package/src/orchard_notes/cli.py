"""Count trees; one JSON request on standard input, one JSON response on standard output."""

import json
import sys


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def main() -> int:
    if "--doctor" in sys.argv:
        print("orchard-notes is fine")
        return 0
    try:
        request = json.load(sys.stdin, object_pairs_hook=unique, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        print(f"cannot read the request: {error}", file=sys.stderr)
        return 2
    if not isinstance(request, dict) or request.get("schema_version") != "orchard_notes_request_v0":
        json.dump(
            {"ok": False, "schema_version": "orchard_notes_response_v0", "error": "unknown request"}, sys.stdout
        )
        return 1
    counts: dict[str, int] = {}
    for tree in request.get("trees", []):
        counts[tree] = counts.get(tree, 0) + 1
    # No "ok": success is exit status 0 and "ok" absent or true.
    json.dump({"schema_version": "orchard_notes_response_v0", "counts": counts}, sys.stdout)
    return 0
