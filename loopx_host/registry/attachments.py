"""The files a manifest names: schemas with their siblings, integration profiles; read once, kept by digest."""

from __future__ import annotations

import posixpath

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.digest import sha256_hex
from loopx_host.core.limits import PROFILE_BYTES, SCHEMA_BYTES
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import one_line
from loopx_host.registry import grammar
from loopx_host.registry.folder_error import FolderError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loopx_host.documents.normal_form import Profile, SchemaFile
    from loopx_host.registry.ports import ManifestFolder
    from loopx_host.registry.report import Report
    from loopx_host.registry.schemas import Bundle

SIBLINGS = 32


class Attachments:
    """Reads from one folder; `snapshot` holds the bytes of every schema file by SHA-256."""

    def __init__(self, folder: ManifestFolder, check_schema: Callable[[Bundle], None] | None = None) -> None:
        self._folder = folder
        self._check_schema = check_schema
        self.snapshot: dict[str, bytes] = {}

    def schema(self, report: Report, pointer: str, path: str) -> SchemaFile | None:
        """Return ``{path, sha256, siblings}`` of a schema and the files its references reach, or None."""
        digests: dict[str, str] = {}
        before = len(report.errors)
        waiting = [posixpath.normpath(path)]
        while waiting:
            name = waiting.pop()
            if name in digests:
                continue
            if len(digests) > SIBLINGS:
                report.bad(pointer, f"reaches more than {SIBLINGS} sibling files")
                return None
            document, data = self._json(report, pointer, name, SCHEMA_BYTES)
            if document is None:
                return None
            digests[name] = self._keep(data)
            waiting += self._siblings(report, pointer, name, document)
        root = digests.pop(posixpath.normpath(path))
        named: SchemaFile = {"path": path, "sha256": root, "siblings": digests}
        if len(report.errors) == before:
            self._check(report, pointer, named)
        return named

    def _check(self, report: Report, pointer: str, named: SchemaFile) -> None:
        """Report a schema that could not judge anything: found when it is trusted, not at the first run."""
        from loopx_host.registry.schemas import Bundle, SchemaError, check

        try:
            (self._check_schema or check)(Bundle.of(named, self.snapshot))
        except SchemaError as error:
            report.error(error.code, pointer, f"{pointer} names a schema that cannot be used: {error}")

    def profile(
        self, report: Report, pointer: str, path: str, capability: str, permissions: list[str]
    ) -> Profile | None:
        """Return ``{path, digest, document}`` of an integration profile, or None with the problem reported."""
        from loopx_host.registry import profile_rules, schemas

        document, _ = self._json(report, pointer, path, PROFILE_BYTES)
        if document is None:
            return None
        profile = profile_rules.checked(
            report,
            pointer,
            one_line(path, 80),
            document,
            capability=capability,
            permissions=permissions,
            check_schema=self._check_schema or schemas.check,
        )
        if profile is None:
            return None
        return {"path": path, "digest": f"sha256:{canonical_digest(profile)}", "document": profile}

    def _json(self, report: Report, pointer: str, path: str, limit: int) -> tuple[dict[str, object] | None, bytes]:
        try:
            data = self._folder.read(path, limit)
            return parse_object(data), data
        except (FolderError, JsonViolation) as error:
            summary = f"{pointer} names {one_line(path, 80)}, which is unusable: {error}"
            report.error("manifest_file_unreadable", pointer, summary)
            return None, b""

    def _keep(self, data: bytes) -> str:
        digest = sha256_hex(data)
        self.snapshot[digest] = data
        return digest

    def _siblings(self, report: Report, pointer: str, name: str, document: dict[str, object]) -> list[str]:
        found: list[str] = []
        for reference in _references(document):
            target = reference.partition("#")[0]
            if not target:
                continue
            joined = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            if ":" in target or not target.isprintable() or grammar.relative_path(joined):
                report.bad(pointer, f"refers to {one_line(reference, 80)}; only files of this package are followed")
                return []
            found.append(joined)
        return found


def _references(document: object) -> Iterator[str]:
    waiting = [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str):
                yield reference
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
