"""A refusal: what happened, where, and what to do next."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean, stderr_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.error import Error


def to_text(document: Error) -> str:
    """Return the summary, a line for each problem, then the hint and the next command."""
    lines = [f"loopx: error [{document['code']}]: {document['error']}"]
    for problem in document.get("problems", ()):
        where = f"line {problem['line']}: " if problem["line"] else ""
        lines.append(f"  {where}{problem['summary']} [{problem['code']}]")
    tail = stderr_lines(document.get("doctor", {}).get("stderr_tail"))
    lines += [f"  {line}" for line in tail[:1]] + tail[1:]
    for label, value in (("hint", document["hint"]), ("next", document["next_command"])):
        if value:
            lines.append(f"  {label}: {value}")
    return clean(lines)
