"""The one renderer: a receipt or error document → JSON for programs, plain text for people."""

from __future__ import annotations

import json

from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_QUIET = frozenset({"ok", "schema_version", "containment", "external_writes_performed"})


class Foreign(dict[str, "Any"]):
    """A document that a package made: it is shown plainly, whatever schema it says it has."""


def to_json(document: dict[str, Any], *, indent: bool) -> str:
    """Return one document, ASCII-escaped and free of lone surrogates."""
    text = json.dumps(document, indent=2 if indent else None)
    if "\\ud" in text.lower():
        text = json.dumps(_without_surrogates(document), indent=2 if indent else None)
    return text + "\n"


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return visible(value)
        return value
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(inner) for key, inner in value.items()}
    return [_without_surrogates(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def to_text(document: dict[str, Any]) -> str:
    """Return a document for a person; whatever a third party wrote in it is cleaned."""
    schema = document.get("schema_version")
    if "$schema" in document:
        return to_json(document, indent=True)
    if isinstance(document.get("text"), str):
        # A package's command may have written it; help and completions hold nothing that cleaning changes.
        return _clean(document["text"].rstrip("\n").split("\n"))
    drawn = _fields if isinstance(document, Foreign) else _BY_SCHEMA.get(str(schema), _fields)
    return drawn(document)


def _error(document: dict[str, Any]) -> str:
    lines = [f"loopx: error [{document['code']}]: {document['error']}"]
    for problem in document.get("problems", ()):
        where = f"line {problem['line']}: " if problem["line"] else ""
        lines.append(f"  {where}{problem['summary']} [{problem['code']}]")
    tail = document.get("doctor", {}).get("stderr_tail")
    if tail:
        lines += ["  the provider's standard error ended with:", *_indented(tail)]
    lines += [
        f"  {label}: {document[key]}" for label, key in (("hint", "hint"), ("next", "next_command")) if document[key]
    ]
    return _clean(lines)


def _list(document: dict[str, Any]) -> str:
    rows = document["extensions"]
    if not rows:
        return "no extension is installed; `loopx extension discover` shows what packages offer\n"
    heads = ["ID", "VERSION", "ENABLED", "READY", "REVISION", "REASON"]
    cells = [
        [
            row["id"],
            row["version"] or "-",
            _word(row["enabled"]),
            _word(row["ready"]),
            row["active_revision"] or "-",
            row["reason"] or "",
        ]
        for row in rows
    ]
    return _table(heads, cells) + _hints(rows, "id")


def _offers(document: dict[str, Any]) -> str:
    rows = document["extensions"]
    if not rows:
        return "no installed package offers an extension\n"
    heads = ["ID", "STATE", "VERSION", "PACKAGE", "REASON"]
    cells = [
        [row["id"] or "-", row["state"], row["version"] or "-", _package(row), row["reason"] or row["code"] or ""]
        for row in rows
    ]
    return _table(heads, cells) + _hints(rows, "id")


def _catalog(document: dict[str, Any]) -> str:
    """Show each capability with how far it is from being usable, and the way to the next step."""
    rows = document["capabilities"]
    heads = ["CAPABILITY", "STATE", "PROVIDER", "TITLE"]
    cells = [[row["id"], _reached(row), row["provider_id"], row["title"] or ""] for row in rows]
    cells += [["-", "broken", row["id"], row["code"]] for row in document["invalid"]]
    if not cells:
        return "no capability is known here\n"
    return _table(heads, cells) + _hints(rows, "id") + _packages(rows) + _surfaces(document)


def _reached(row: dict[str, Any]) -> str:
    """Say in one word how far a capability is; `off` says that its package is not there."""
    state = row["provider_state"]
    if state["ready"]:
        return "ready"
    if state["enabled"]:
        return "not ready"
    if state["installed"]:
        return "disabled"
    return "off" if row["reason"] == "package_not_installed" else "not installed"


def _packages(rows: list[dict[str, Any]]) -> str:
    lines = [f"{row['id']}: {row['install_package']}" for row in rows if row["install_package"]]
    return _clean(lines) if lines else ""


def _surfaces(document: dict[str, Any]) -> str:
    rows = document["presentation_surfaces"]
    if not rows:
        return ""
    cells = [[row["surface_id"], row["state"], row["visibility"], row["extension_id"], row["title"]] for row in rows]
    return "\n" + _table(["SURFACE", "STATE", "VISIBILITY", "EXTENSION", "TITLE"], cells)


def _binding(document: dict[str, Any]) -> str:
    binding = document["binding"]
    operations, provider = ", ".join(binding["operations"]), binding["provider"]
    served = f"served by {provider['extension_id']} {provider['revision']}"
    about = f"goal {document['goal_id']}, capability {document['capability_id']} ({operations}), {served}"
    lines = [f"{about}: {_BOUND[document['status']]}"]
    if document["dry_run"] and document["next_command"]:
        lines.append(f"to do it: {document['next_command']}")
    return _clean(lines)


_BOUND = {
    "ready": "nothing was written yet",
    "written": "bound",
    "no_change": "bound already",
    "removed": "no longer bound",
}


def _invocation(document: dict[str, Any]) -> str:
    name = f"{document['capability_id']} {document['operation']} by {document['provider']['extension_id']}"
    if not document["executed"]:
        lines = [f"{name}: {document['status']} (nothing was started; add --execute)"]
        return _clean(lines + _refusal_lines(document))
    result = document["provider_result"]
    ended = f"{name}: {document['status']} in {document['duration_ms']} ms ({document['invocation_id']})"
    return _clean([ended, *_outcome(document, result and result["observations"])])


def _outcome(document: dict[str, Any], shown: object) -> list[str]:
    """Return the lines of what a provider's process came to: its failure, what it answered, the end of its errors."""
    lines = [f"{document['failure_kind']}: {document['error']}"] if document["error"] else []
    if shown is not None:
        lines += json.dumps(shown, indent=2, ensure_ascii=False).split("\n")
    if document["stderr_tail"]:
        lines += ["the provider's standard error ended with:", *_indented(document["stderr_tail"])]
    return lines


def _checks(document: dict[str, Any]) -> str:
    heads = ["STATUS", "CHECK", "SUMMARY"]
    cells = [[row["status"], row["code"] or row["check"], row["summary"]] for row in document["checks"]]
    return _table(heads, cells) + _hints(document["checks"], "subject")


def _rules(document: dict[str, Any]) -> str:
    heads = ["RULE", "GROUP", "STATUS", "PROMISE"]
    cells = [[row["rule"], row["group"], row["status"], row["reason"] or row["promise"]] for row in document["rules"]]
    return _table(heads, cells)


def _routes(document: dict[str, Any]) -> str:
    heads = ["ROUTE", "MEDIAN MS", "P95 MS", "BARE PYTHON MS", "RATIO"]
    keys = ("route", "median_ms", "p95_ms", "bare_median_ms", "ratio_median")
    where = document["environment"]
    told = f"Python {where['python']} on {where['system']}, {document['pairs']} pairs, first dropped\n"
    return _table(heads, [[str(row[key]) for key in keys] for row in document["routes"]]) + told


def _package(row: dict[str, Any]) -> str:
    owner = row["distribution"]
    return f"{owner['name']} {owner['version']}" if owner else str(row["location"])


def _hints(rows: list[dict[str, Any]], key: str) -> str:
    return _clean([f"{row[key]}: {row['next_command']}" for row in rows if row["next_command"]])


def _table(heads: list[str], cells: list[list[str]]) -> str:
    lines = [heads, *([visible(str(cell)) for cell in line] for line in cells)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return _clean(
        ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    )


_DONE = {
    "install": "installed",
    "upgrade": "upgraded",
    "rollback": "rolled back",
    "enable": "enabled",
    "disable": "disabled",
    "uninstall": "uninstalled",
}
# Fields that the headline already says, or that only programs read.
_SAID = _QUIET | {
    "operation",
    "dry_run",
    "changed",
    "would_change",
    "extension_id",
    "version",
    "doctor",
    "next_command",
}


def _operation(document: dict[str, Any]) -> str:
    """Say first what was done or would be done, then the details, then how to go on."""
    if document["operation"] not in _DONE:
        return _fields(document)
    name = " ".join(filter(None, (document["extension_id"], document.get("version"))))
    lines = [f"{name}: {_headline(document)}"]
    lines += _field_lines({key: value for key, value in document.items() if key not in _SAID | {"would_refuse"}}, 1)
    lines += _refusal_lines(document)
    if document["dry_run"] and document.get("next_command") and not document.get("would_refuse"):
        lines.append(f"to do it: {document['next_command']}")
    return _clean(lines)


def _headline(document: dict[str, Any]) -> str:
    done, doctor = _DONE[document["operation"]], document.get("doctor")
    if document["dry_run"]:
        nothing = document.get("would_change") is False
        return f"already {done}" if nothing else f"would be {done}; nothing was changed"
    proved = f"; its doctor passed in {doctor['duration_ms']} ms" if doctor else ""
    return f"{done if document['changed'] else f'already {done}'}{proved}"


def _doctor(document: dict[str, Any]) -> str:
    name = f"{document['extension_id']} {document['version']}"
    if document["status"] == "probe_required":
        lines = [f"{name}: would be probed; nothing was started", *_refusal_lines(document)]
        return _clean([*lines, f"to do it: {document['next_command']}"])
    lines = [f"{name}: {document['status']}; its doctor {_verdict(document)} in {document['duration_ms']} ms"]
    if document["reason"]:
        lines.append(f"{document['failure_kind']}: {document['reason']}")
    if document["stderr_tail"]:
        lines += ["the provider's standard error ended with:", *_indented(document["stderr_tail"])]
    return _clean([*lines, *([f"next: {document['next_command']}"] if document["next_command"] else [])])


def _verdict(document: dict[str, Any]) -> str:
    return "passed" if document["verified"] else "failed"


def _run(document: dict[str, Any]) -> str:
    name = f"{document['extension_id']} {document['provider_version']}"
    if not document["executed"]:
        lines = [f"{name}: {document['status']} (nothing was run; add --execute to run it)"]
        return _clean(lines + _refusal_lines(document))
    ended = f"{name}: {document['status']} in {document['duration_ms']} ms"
    return _clean([ended, *_outcome(document, document["provider_result"])])


def _fields(document: dict[str, Any]) -> str:
    return _clean(_field_lines(document, 0))


def _field_lines(document: dict[str, Any], depth: int) -> list[str]:
    lines: list[str] = []
    for key, value in document.items():
        if key in _QUIET or value in (None, [], {}):
            continue
        label = f"{'  ' * depth}{key.replace('_', ' ')}"
        if isinstance(value, dict):
            lines += [f"{label}:", *_field_lines(value, depth + 1)]
        elif isinstance(value, list):
            lines.append(f"{label}:")
            lines += [line for item in value for line in _item_lines(item, depth + 1)]
        else:
            lines.append(f"{label}: {_word(value)}")
    return lines


def _item_lines(item: object, depth: int) -> list[str]:
    if isinstance(item, dict):
        inner = _field_lines(item, 0)
        return [f"{'  ' * depth}{'- ' if index == 0 else '  '}{line}" for index, line in enumerate(inner)]
    return [f"{'  ' * depth}- {_word(item)}"]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _refusal_lines(document: dict[str, Any]) -> list[str]:
    refused = document.get("would_refuse")
    if not refused:
        return []
    return [
        f"it would be refused [{refused['code']}]: {refused['error']}",
        f"  next: {refused['next_command']}",
    ]


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.rstrip("\n").split("\n")]


def _clean(lines: list[str]) -> str:
    return "".join(f"{visible(line)}\n" for line in lines)


_BY_SCHEMA = {
    "loopx_extension_error_v0": _error,
    "loopx_extension_operation_v0": _operation,
    "loopx_extension_doctor_v0": _doctor,
    "loopx_extension_state_v0": _list,
    "loopx_extension_run_receipt_v0": _run,
    "loopx_extension_discovery_v0": _offers,
    "loopx_doctor_v0": _checks,
    "loopx_capability_catalog_v0": _catalog,
    "loopx_goal_external_capability_binding_receipt_v0": _binding,
    "loopx_external_domain_capability_invocation_v0": _invocation,
    "loopx_extension_conformance_v0": _rules,
    "loopx_performance_diagnosis_v0": _routes,
}
