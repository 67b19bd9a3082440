"""Documents that are a text: help, version, completion scripts."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.completions import Completions
    from loopx_host.documents.help import Help
    from loopx_host.documents.version import Version


def to_text(document: Help | Version | Completions) -> str:
    """Return the text itself."""
    return clean_text(document["text"])
