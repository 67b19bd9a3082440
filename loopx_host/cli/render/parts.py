"""What the renderers share: clean lines, tables, fields, refusals, what a provider's process came to."""

from __future__ import annotations

from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loopx_host.documents.invocation import Invocation
    from loopx_host.documents.parts import WouldRefuse
    from loopx_host.documents.run_receipt import RunReceipt

QUIET = frozenset({"ok", "schema_version", "containment", "external_writes_performed", "basis"})


def clean(lines: Iterable[str]) -> str:
    """Return the lines as text in which nothing steers a terminal."""
    return "".join(f"{visible(line)}\n" for line in lines)


def clean_text(text: str) -> str:
    """Return a text of several lines in which nothing steers a terminal."""
    return clean(text.rstrip("\n").split("\n"))


def table(heads: list[str], cells: Sequence[Sequence[object]]) -> str:
    """Return a table whose columns are as wide as their widest cell."""
    lines = [heads, *([visible(str(cell)) for cell in line] for line in cells)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return clean(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def next_commands(rows: Iterable[Mapping[str, object]], key: str) -> str:
    """Return a line for each row that knows how to go on; `key` is the field that names it."""
    return clean(f"{row[key]}: {row['next_command']}" for row in rows if row["next_command"])


def word(value: object) -> str:
    """Return a value as it stands in a sentence or a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def field_lines(document: Mapping[str, object], depth: int) -> list[str]:
    """Return a line for each field that holds something, what it holds indented below it."""
    lines: list[str] = []
    for key, value in document.items():
        if key in QUIET or value in (None, [], {}):
            continue
        label = f"{'  ' * depth}{key.replace('_', ' ')}"
        if isinstance(value, dict):
            lines += [f"{label}:", *field_lines(value, depth + 1)]
        elif isinstance(value, list):
            lines.append(f"{label}:")
            lines += [line for item in value for line in _item_lines(item, depth + 1)]
        else:
            lines.append(f"{label}: {word(value)}")
    return lines


def refusal_lines(refused: WouldRefuse | None) -> list[str]:
    """Return the lines of the refusal that a preview foresees."""
    if not refused:
        return []
    return [
        f"it would be refused [{refused['code']}]: {refused['error']}",
        f"  next: {refused['next_command']}",
    ]


def outcome_lines(document: RunReceipt | Invocation, result: object) -> list[str]:
    """Return the lines of what a provider's process came to: its failure, its result, the end of its errors."""
    lines = [f"{document['failure_kind']}: {document['error']}"] if document["error"] else []
    if result is not None:
        import json

        lines += json.dumps(result, indent=2, ensure_ascii=False).split("\n")
    return lines + stderr_lines(document["stderr_tail"])


def stderr_lines(tail: str | None) -> list[str]:
    """Return the end of a provider's standard error, below a line that says so."""
    if not tail:
        return []
    return ["the provider's standard error ended with:", *(f"    {line}" for line in tail.rstrip("\n").split("\n"))]


def _item_lines(item: object, depth: int) -> list[str]:
    if isinstance(item, dict):
        inner = field_lines(item, 0)
        return [f"{'  ' * depth}{'- ' if index == 0 else '  '}{line}" for index, line in enumerate(inner)]
    return [f"{'  ' * depth}- {word(item)}"]
