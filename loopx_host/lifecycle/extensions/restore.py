"""`extension restore`: install what an export names, where exactly the same manifest is at hand."""

from __future__ import annotations

from loopx_host.core.errors import Refused, refusal
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import one_line
from loopx_host.documents import restore as document
from loopx_host.documents.export import ID as EXPORT
from loopx_host.lifecycle.extensions.disable import disable
from loopx_host.lifecycle.extensions.install import install_source
from loopx_host.lifecycle.extensions.plan import content_digest, hold_to_plan
from loopx_host.lifecycle.extensions.requests import ChangeRequest
from loopx_host.lifecycle.extensions.state import BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.export import ExportedExtension
    from loopx_host.documents.restore import Restore, RestoredExtension
    from loopx_host.lifecycle.extensions.ports import CanProve, Packages
    from loopx_host.lifecycle.extensions.source import HasSources, Source, Sources

    class RestorePorts(CanProve, HasSources, Protocol):
        """What restoring needs."""


class RestoreRequest:
    """Install what the export in `data` names; `path` is where it was read from, as it is shown."""

    __slots__ = ("data", "execute", "path", "plan")

    def __init__(self, data: bytes, path: str, *, execute: bool, plan: str | None = None) -> None:
        self.data = data
        self.path = path
        self.execute = execute
        self.plan = plan


def restore(request: RestoreRequest, ports: RestorePorts) -> Restore:
    """Install the extensions of an export whose manifest has the same digest here; list the rest.

    Each is an install of its own, doctor included. For what is missing the row carries the pip command that
    would bring it; it is never run. ``ok`` is false when an executed restore is incomplete.
    """
    items, preview_command = _items(request.data, request.path), ("extension", "restore", request.path)
    rows = [_restored(item, ports, execute=False) for item in items]
    content = [[item["digest"], row["status"]] for item, row in zip(items, rows, strict=True)]
    digest = content_digest("restore", content)
    hold_to_plan(digest, request.plan, "restore", preview_command)
    if request.execute:
        rows = [_restored(item, ports, execute=True) for item in items]
    next_command = None if request.execute else (*preview_command, "--execute")
    return document.restore(rows, executed=request.execute, plan=digest, next_command=next_command)


def _restored(item: ExportedExtension, ports: RestorePorts, *, execute: bool) -> RestoredExtension:
    """Restore one row of an export, or say what would become of it; a refusal becomes the row's."""
    try:
        status = _standing(item, State.parse(ports.store.read(), ports.store.location))
        if status is None:
            source = _exported(ports.sources, item)
            refused = install_source(source, ports, execute=execute, plan=None).get("would_refuse")
            if refused:
                return _row(item, "refused", refused["code"], refused["error"], ports.packages)
            if execute and not item["enabled"]:
                disable(ChangeRequest(item["id"], execute=True), ports)
            status = "installed" if execute else "would_install"
    except Refused as refused:
        return _row(item, "refused", refused.code, refused.diagnostic.summary, ports.packages)
    return _row(item, status, None, None, ports.packages)


def _standing(item: ExportedExtension, state: State) -> str | None:
    """Return the status of what is already there, or None when it is to be installed."""
    found = state.find(item["id"])
    if found is None:
        return None
    if isinstance(found, BadEntry):
        raise found.refusal()
    return "already_installed" if found.active.manifest.digest == item["digest"] else "another_revision_installed"


def _manifest_path(item: ExportedExtension) -> str:
    path: str | None = item["manifest_path"]
    if path is None:
        raise refusal(
            "manifest_unreadable",
            item["id"],
            f"`{item['id']}` was installed by a tool that did not record where its manifest is",
            hint="install it by hand with --manifest",
        )
    return path


def _exported(sources: Sources, item: ExportedExtension) -> Source:
    """Return the manifest an export names, if it still is that one. Raises Refused."""
    source = sources.open(_manifest_path(item))
    if source.manifest.digest != item["digest"] or source.manifest.id != item["id"]:
        raise refusal(
            "manifest_changed",
            item["id"],
            f"the manifest of `{item['id']}` at {source.path} is not the exported one",
            hint="install the exported version of its package, or install this one by hand",
        )
    return source


def _row(
    item: ExportedExtension, status: str, code: str | None, reason: str | None, packages: Packages
) -> RestoredExtension:
    owner, missing = item["distribution"], status not in document.DONE
    return document.row(
        extension_id=item["id"],
        revision=item["revision"],
        status=status,
        code=code,
        reason=reason,
        install_package=packages.pip_command(owner) if missing and owner else None,
    )


def _items(data: bytes, path: str) -> list[ExportedExtension]:
    """Return the rows of an export. Raises Refused `export_invalid`."""
    try:
        export = parse_object(data)
    except JsonViolation as violation:
        raise _invalid(path, str(violation)) from None
    rows = export.get("extensions")
    if export.get("schema") != EXPORT or not isinstance(rows, list):
        raise _invalid(path, f"its schema is not {EXPORT}")
    for row in rows:
        if not _is_item(row):
            raise _invalid(path, "it has a row that no export writes")
    return rows


def _is_item(row: object) -> bool:
    if not isinstance(row, dict):
        return False
    owner = row.get("distribution")
    path = row.get("manifest_path")
    texts = all(isinstance(row.get(key), str) for key in ("id", "revision", "digest"))
    placed = path is None or (isinstance(path, str) and path.startswith("/") and "\0" not in path)
    named = owner is None or (isinstance(owner, dict) and all(isinstance(owner.get(key), str) for key in _OWNER))
    return texts and placed and named and isinstance(row.get("enabled"), bool)


_OWNER = ("name", "version")


def _invalid(path: str, reason: str) -> Refused:
    shown = one_line(path, 200)
    summary = f"{shown} is not an export of loopx: {reason}"
    return refusal("export_invalid", shown, summary, hint="make one with `loopx extension export`")
