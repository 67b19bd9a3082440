"""Say what is in store; one JSON request on standard input, one JSON result on standard output."""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

PROFILE = Path(__file__).with_name("profile.json")
KEYS = {
    "schema_version",
    "invocation_id",
    "capability_id",
    "operation",
    "goal",
    "provider",
    "context_refs",
    "input",
}
DIGEST = re.compile("sha256:[0-9a-f]{64}")


class UnacceptableError(Exception):
    """The request is not the one that the contract describes."""


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def digest(value: object) -> str:
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


def need(holds: bool, what: str) -> None:
    if not holds:
        raise UnacceptableError(what)


def check(request: dict[str, Any]) -> None:
    need(set(request) == KEYS, f"keys {sorted(set(request) ^ KEYS)}")
    need(request["schema_version"] == "orchard_stock_look_request_v0", "schema_version")
    need(request["capability_id"] == "orchard-stock", "capability_id")
    need(request["operation"] == "look", "operation")
    goal, provider, rows = request["goal"], request["provider"], request["context_refs"]
    need(set(goal) == {"goal_id", "capability_binding_digest"}, "goal")
    need(bool(DIGEST.fullmatch(goal["capability_binding_digest"])), "capability_binding_digest")
    need(set(provider) == {"extension_id", "revision", "profile_digest"}, "provider")
    need(provider["extension_id"] == "orchard-stock", "extension_id")
    need(bool(re.fullmatch("[0-9a-f]{16}", provider["revision"])), "revision")
    need(provider["profile_digest"] == digest(json.loads(PROFILE.read_text("utf-8"))), "profile_digest")
    binding = {
        "schema_version": "loopx_goal_external_capability_binding_v0",
        "goal_id": goal["goal_id"],
        "capability_id": "orchard-stock",
        "operations": ["look"],
        "provider": provider,
    }
    need(goal["capability_binding_digest"] == digest(binding), "binding digest")
    need(isinstance(rows, list) and 1 <= len(rows) <= 32, "context_refs")
    for row in rows:
        need(set(row) == {"kind", "ref", "digest"} and bool(DIGEST.fullmatch(row["digest"])), "context_refs row")
    need(isinstance(request["input"], dict), "input")
    asked = {
        "goal_binding_digest": goal["capability_binding_digest"],
        "capability_id": request["capability_id"],
        "operation": request["operation"],
        "provider_input_digest": digest({"context_refs": rows, "input": request["input"]}),
    }
    expected = "capability-" + hashlib.sha256(canonical(asked)).hexdigest()[:24]
    need(request["invocation_id"] == expected, "invocation_id")


def main() -> int:
    if "--doctor" in sys.argv:
        return 0
    data = sys.stdin.buffer.read()
    request = json.loads(data)
    try:
        need(data == canonical(request), "canonical JSON")
        check(request)
    except UnacceptableError as refused:
        print(json.dumps({"ok": False, "code": "request_invalid", "error": f"not a v0 request: {refused}"}))
        return 0
    result = {
        "schema_version": "orchard_stock_look_result_v0",
        "invocation_id": request["invocation_id"],
        "status": "succeeded",
        "observations": [{"kind": "stock", "of": row["ref"], "crates": 12} for row in request["context_refs"]],
    }
    result.update(request["input"].get("say", {}))
    print(json.dumps(result))
    return 0
