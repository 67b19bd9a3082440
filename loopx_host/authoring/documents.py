"""JSON Schemas of the documents loopx reads and writes, for editors and for programs that check receipts.

Receipts are described as v0 fixed them, with the additions as they are made today; a receipt may hold more
than its schema names, so that an addition never breaks a reader.
"""

from __future__ import annotations

from loopx_host.authoring import schema_inputs as inputs
from loopx_host.authoring import schema_receipts as receipts
from loopx_host.authoring.schema_parts import DIALECT
from loopx_host.core.errors import refuse
from loopx_host.core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Schema = dict[str, Any]


def schema(name: str) -> Schema:
    """Return one schema by its name. Raises Refused `schema_unknown`, which lists the names."""
    made = _DOCUMENTS.get(name)
    if made is None:
        raise refuse(
            "schema_unknown",
            one_line(name, 60),
            f"there is no schema `{one_line(name, 60)}`",
            hint=f"the names are {', '.join(names())}",
            names=names(),
        )
    return {"$schema": DIALECT, "title": f"loopx: {name}", **made()}


def names() -> list[str]:
    """Return the names of all schemas, sorted."""
    return sorted(_DOCUMENTS)


_DOCUMENTS: dict[str, Callable[[], Schema]] = {
    "manifest": inputs.manifest_schema,
    "integration-profile": inputs.profile_schema,
    "state": inputs.state_schema,
    "export": inputs.export_schema,
    "error": receipts.error_schema,
    "list": receipts.list_schema,
    "detail": receipts.detail_schema,
    "history": receipts.history_schema,
    "operation": receipts.operation_schema,
    "doctor": receipts.doctor_schema,
    "run-receipt": receipts.run_schema,
    "restore": receipts.restore_schema,
    "repair": receipts.repair_schema,
    "discovery": receipts.discovery_schema,
    "host-doctor": receipts.host_doctor_schema,
    "capability-catalog": receipts.catalog_schema,
    "capability-detail": receipts.capability_schema,
    "scaffold": receipts.scaffold_schema,
    "validation": receipts.validation_schema,
    "conformance": receipts.conformance_schema,
    "performance-diagnosis": receipts.performance_schema,
    "completions": receipts.completions_schema,
    "help": receipts.help_schema,
    "version": receipts.version_schema,
}
