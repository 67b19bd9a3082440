"""How a provider stands to every rule of the contract."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    class RuleRow(TypedDict):
        """One rule: what it promises to whoever relies on the provider, and why it was broken or skipped."""

        rule: str
        group: str
        promise: str
        status: str
        reason: str | None

    class Conformance(TypedDict):
        """``ok`` is false when a rule was broken; a kit that asks the engine itself binds no plan."""

        ok: bool
        schema_version: str
        extension_id: str
        version: str
        revision: str
        executed: bool
        dry_run: bool
        rules: list[RuleRow]
        plan: NotRequired[str]


ID = "loopx_extension_conformance_v0"
PASSED, FAILED, SKIPPED, NOT_RUN = STATUSES = ("passed", "failed", "skipped", "not_run")
FRIENDLY, HOSTILE = GROUPS = ("friendly", "hostile")


def conformance(
    rules: list[RuleRow], *, extension_id: str, version: str, revision: str, executed: bool
) -> Conformance:
    """Return the report of these rules."""
    return {
        "ok": all(row["status"] != FAILED for row in rules),
        "schema_version": ID,
        "extension_id": extension_id,
        "version": version,
        "revision": revision,
        "executed": executed,
        "dry_run": not executed,
        "rules": rules,
    }


def planned(report: Conformance, plan: str) -> Conformance:
    """Return the report with the plan of holding the provider to the rules."""
    return {**report, "plan": plan}


def rule_row(rule: str, group: str, promise: str, status: str, reason: str | None) -> RuleRow:
    """Return the row of one rule."""
    return {"rule": rule, "group": group, "promise": promise, "status": status, "reason": reason}


def schema() -> dict[str, object]:
    """Return the JSON Schema of a report."""
    from loopx_host.documents import words

    rule = words.object_of(
        {
            "rule": words.TEXT,
            "group": {"enum": list(GROUPS)},
            "promise": words.TEXT,
            "status": {"enum": list(STATUSES)},
            "reason": words.NULLABLE_TEXT,
        },
        closed=True,
    )
    return words.receipt_of(
        ID,
        {
            "extension_id": words.ID,
            "version": words.TEXT,
            "revision": words.REVISION,
            "executed": words.BOOLEAN,
            "dry_run": words.BOOLEAN,
            "rules": words.rows_of(rule),
        },
        {"plan": words.DIGEST},
    )
