"""The discovery port, and what an operator should know of this environment's packages."""

from __future__ import annotations

import os

from loopx_host.adapters.packages import index, search_path
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.discovery_index import IndexUse, Offer
    from loopx_host.lifecycle.extensions.ports import Finding
    from loopx_host.registry.catalog import TrainMember


class LocalEnvironment:
    """The environment of the interpreter that runs loopx."""

    def offers(self, *, rebuild: bool) -> tuple[list[Offer], IndexUse]:
        """Return what the environment offers, from the index (see the port)."""
        return index.read(rebuild=rebuild)

    def train(self) -> list[TrainMember]:
        """Return the extensions of the release train (see the port)."""
        from loopx_host.adapters.packages.train import members

        return members()

    def findings(self) -> list[Finding]:
        """Return what is damaged, left over, doubled or executed at start (see the port)."""
        places = search_path.directories()
        return [
            *(row for place in places for row in _metadata_rows(place)),
            *_duplicates(places),
            *(row for place in places for row in _path_rows(place)),
        ]


def _metadata_rows(place: str) -> list[Finding]:
    from loopx_host.adapters.packages import distributions

    rows: list[Finding] = []
    for name in distributions.metadata_names(place):
        path = visible(os.path.join(place, name))
        if name.startswith(distributions.LEFTOVER):
            summary = f"{path} was left by an interrupted install (incompletely removed); delete it"
            rows.append(_finding("metadata", "leftover_install", path, summary))
            continue
        found = distributions.Installed(os.path.join(place, name))
        found.entry_points()
        if found.damage is not None:
            rows.append(_finding("metadata", "metadata_damaged", path, found.damage))
    return rows


def _duplicates(places: list[str]) -> list[Finding]:
    """Return the distributions that stand more than once on the search path; only the first counts."""
    from loopx_host.adapters.packages import distributions

    seen: dict[str, list[str]] = {}
    for place in places:
        for folder in distributions.metadata_names(place):
            if not folder.startswith(distributions.LEFTOVER):
                seen.setdefault(distributions.name_of(folder), []).append(visible(os.path.join(place, folder)))
    return [
        _finding(
            "metadata", "duplicate_distribution", name, f"`{name}` is installed more than once: {', '.join(paths)}"
        )
        for name, paths in sorted(seen.items())
        if len(paths) > 1
    ]


def _path_rows(place: str) -> list[Finding]:
    from loopx_host.adapters.packages import source_trees

    rows: list[Finding] = []
    for path in source_trees.path_files(place):
        lines = source_trees.code_lines(path)
        if lines:
            shown = visible(path)
            summary = f"{shown} runs code at every start of Python, before loopx (line {lines[0]})"
            rows.append(_finding("start_up", "pth_code", shown, summary))
    return rows


def _finding(check: str, code: str, subject: str, summary: str) -> Finding:
    return {"check": check, "code": code, "subject": subject, "summary": summary}
