"""Count trees; one JSON request on standard input, one JSON response on standard output."""

import json
import sys


def main() -> int:
    if "--doctor" in sys.argv:
        print("orchard-notes is fine")
        return 0
    try:
        request = json.load(sys.stdin)
    except ValueError as error:
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
