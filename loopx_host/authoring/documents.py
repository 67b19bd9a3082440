"""`loopx extension schema NAME`: the JSON Schemas of the documents loopx reads and writes, for editors and programs.

Receipts are described as v0 fixed them, with the additions as they are made today; a receipt may hold more
than its schema names, so that an addition never breaks a reader.
"""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line
from loopx_host.documents.catalog import MODULES, document


def schema(name: str) -> dict[str, object]:
    """Return one schema by its name. Raises Refused `schema_unknown`, which lists the names."""
    if name not in MODULES:
        raise refusal(
            "schema_unknown",
            one_line(name, 60),
            f"there is no schema `{one_line(name, 60)}`",
            hint=f"the names are {', '.join(names())}",
            names=names(),
        )
    from loopx_host.documents.words import DIALECT

    return {"$schema": DIALECT, "title": f"loopx: {name}", **document(name).schema()}


def names() -> list[str]:
    """Return the names of all schemas, sorted."""
    return sorted(MODULES)
