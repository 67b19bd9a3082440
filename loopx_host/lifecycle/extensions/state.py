"""The activation state as a value: parse, look up, change one entry, write back; no file is touched here.

Shape: that of v0 with the additions of extension-formats (*State additions*), see `documents.state`. Unknown
fields are kept. One bad entry is a `BadEntry` and spoils nothing else.
"""

from __future__ import annotations

import json
import re

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import Refused, refusal
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import one_line
from loopx_host.documents.state import ID
from loopx_host.registry.manifest import REVISION_DIGITS, Manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.documents import state as shapes
    from loopx_host.documents.parts import Pin

REPAIR = ("extension", "repair", "--execute")
_DIGEST = re.compile("[0-9a-f]{64}")


class Revision:
    """One trusted snapshot of a manifest within an entry."""

    __slots__ = ("manifest", "raw")

    def __init__(self, raw: shapes.Revision) -> None:
        self.raw = raw
        self.manifest = Manifest(raw["manifest"])

    @property
    def id(self) -> str:
        """The 16-digit revision the state file gives it."""
        return str(self.raw["revision"])

    @property
    def launcher(self) -> Pin | None:
        """The pinned launcher; None in an entry that a v0 tool wrote."""
        pin: Pin | None = self.raw.get("launcher")
        return pin if isinstance(pin, dict) else None

    @property
    def search_path(self) -> list[str] | None:
        """The directories of the PATH it was pinned with; None in an entry of a v0 tool or an earlier release."""
        kept: object = self.raw.get("search_path")
        if not isinstance(kept, list) or not all(isinstance(place, str) and place[:1] == "/" for place in kept):
            return None
        return kept

    @property
    def schemas(self) -> list[str]:
        """The SHA-256 of every schema file this revision refers to."""
        runtime = self.manifest.form["runtime"]
        named = (runtime.get("request_schema"), runtime.get("response_schema")) if runtime else ()
        files = [schema for schema in named if schema is not None]
        return [digest for schema in files for digest in (schema["sha256"], *schema["siblings"].values())]

    @property
    def folder(self) -> str | None:
        """The directory of the manifest it was read from, if that is known."""
        path = self.raw.get("manifest_path")
        return path.rpartition("/")[0] if isinstance(path, str) and path.startswith("/") else None


class Entry:
    """One installed extension; `raw` is the entry as it stands in the file."""

    __slots__ = ("active", "raw", "revisions")

    def __init__(self, raw: shapes.Entry) -> None:
        self.raw = raw
        self.revisions = [Revision(revision) for revision in raw["revisions"]]
        self.active = next(one for one in self.revisions if one.id == raw["active_revision"])

    @property
    def id(self) -> str:
        """The extension id."""
        return str(self.raw["id"])

    @property
    def enabled(self) -> bool:
        """Whether an operator lets it be dispatched."""
        return self.raw["enabled"] is True

    @property
    def rollback_revision(self) -> str | None:
        """The revision a rollback returns to, or None."""
        return self.raw.get("rollback_revision")

    @property
    def manifest(self) -> Manifest:
        """The active manifest."""
        return self.active.manifest

    @property
    def proof(self) -> shapes.Proof | None:
        """The proof of the last executed doctor, while it agrees with the two v0 fields; else None."""
        proof = self.raw.get("proof")
        if not isinstance(proof, dict) or not isinstance(proof.get("groups"), dict):
            return None
        agrees = proof.get("revision") == self.raw.get("doctor_verified_revision") and proof.get(
            "identity"
        ) == self.raw.get("doctor_verified_entrypoint_identity")
        return proof if agrees and proof.get("identity") else None

    @property
    def failure(self) -> shapes.Failure | None:
        """How the doctor of the active revision failed last; None where it did not."""
        proof = self.raw.get("proof")
        if not isinstance(proof, dict) or proof.get("revision") != self.active.id:
            return None
        failure = proof.get("failure")
        return failure if _is_failure(failure) else None

    @property
    def history(self) -> list[shapes.Event]:
        """What was done to it, newest first."""
        kept = self.raw.get("history")
        return kept if isinstance(kept, list) else []

    @property
    def token(self) -> str:
        """What a compare-and-set compares: the digest of the whole entry."""
        return canonical_digest(self.raw)


class BadEntry:
    """An entry that cannot be used; `code` is `state_entry_invalid` or `state_integrity`."""

    __slots__ = ("code", "id", "reason")

    def __init__(self, extension_id: str, code: str, reason: str) -> None:
        self.id = extension_id
        self.code = code
        self.reason = reason

    def refusal(self) -> Refused:
        """Return the refusal that using this entry meets."""
        shown = one_line(self.id, 60)
        return refusal(
            self.code,
            shown,
            f"the state entry of `{shown}` {self.reason}",
            hint="repair takes it out of the state file and keeps a copy; then install the extension again",
            next_command=REPAIR,
        )


class Replacement:
    """What a state file is replaced by: its bytes, the schemas that come with it, those it refers to.

    `schemas` maps SHA-256 to bytes. `referred` is None when an entry cannot be read: then nothing is dropped.
    """

    __slots__ = ("data", "referred", "schemas")

    def __init__(
        self, data: bytes, *, schemas: dict[str, bytes] | None = None, referred: frozenset[str] | None = None
    ) -> None:
        self.data = data
        self.schemas = schemas or {}
        self.referred = referred


class State:
    """The whole document; never changed in place."""

    __slots__ = ("document",)

    def __init__(self, document: shapes.StateFile) -> None:
        self.document = document

    @classmethod
    def parse(cls, data: bytes | None, location: str) -> State:
        """Return the state in `data`; None (no file) is the empty state.

        Raises Refused `state_damaged` for anything that is not a whole v0 state: nothing is ever reset.
        """
        if data is None:
            return cls({"schema_version": ID, "extensions": {}})
        try:
            document = parse_object(data)
        except JsonViolation as error:
            raise _damaged(location, str(error)) from None
        if document.get("schema_version") != ID:
            raise _damaged(location, f"its schema_version is not {ID}")
        if not isinstance(document.get("extensions"), dict):
            raise _damaged(location, "it has no table of extensions")
        return cls(document)  # type: ignore[arg-type]  # its entries are judged one by one, when they are read

    def replacement(self, schemas: dict[str, bytes] | None = None) -> Replacement:
        """Return this state as what the file is to be replaced by."""
        entries = self.entries()
        referred: frozenset[str] | None = None
        if not any(isinstance(entry, BadEntry) for entry in entries):
            whole = [entry for entry in entries if isinstance(entry, Entry)]
            referred = frozenset(digest for entry in whole for one in entry.revisions for digest in one.schemas)
        return Replacement(self.to_bytes(), schemas=schemas, referred=referred)

    def to_bytes(self) -> bytes:
        """Return the document as it is written: sorted, indented, one final line feed."""
        return json.dumps(self.document, indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"

    def entries(self) -> list[Entry | BadEntry]:
        """Return every entry by id, the bad ones among them."""
        extensions: dict[str, shapes.Entry] = self.document["extensions"]
        return [_read(extension_id, extensions[extension_id]) for extension_id in sorted(extensions)]

    def bad_entries(self) -> list[BadEntry]:
        """Return the entries that cannot be used."""
        return [entry for entry in self.entries() if isinstance(entry, BadEntry)]

    @property
    def damage(self) -> str | None:
        """The digest of the entries that cannot be used, which names one damage; None when all can be."""
        raw = self.document["extensions"]
        bad = {entry.id: raw[entry.id] for entry in self.bad_entries()}
        return canonical_digest(bad) if bad else None

    def entry(self, extension_id: str) -> Entry:
        """Return one entry. Raises Refused: `extension_not_installed`, or the code of a bad entry."""
        found = self.find(extension_id)
        if found is None:
            shown = one_line(extension_id, 60)
            raise refusal(
                "extension_not_installed",
                shown,
                f"extension `{shown}` is not installed",
                hint="see what is",
                next_command=("extension", "list"),
            )
        if isinstance(found, BadEntry):
            raise found.refusal()
        return found

    def find(self, extension_id: str) -> Entry | BadEntry | None:
        """Return one entry, whole or bad, or None."""
        extensions: dict[str, shapes.Entry] = self.document["extensions"]
        return _read(extension_id, extensions[extension_id]) if extension_id in extensions else None

    def token(self, extension_id: str) -> str | None:
        """Return the token of an entry as it stands, whole or bad; None when there is none."""
        extensions: dict[str, shapes.Entry] = self.document["extensions"]
        return canonical_digest(extensions[extension_id]) if extension_id in extensions else None

    def without_entry(self, extension_id: str) -> State:
        """Return the state without one entry."""
        kept = {name: raw for name, raw in self.document["extensions"].items() if name != extension_id}
        return State({**self.document, "extensions": kept})

    def with_entry(self, raw: shapes.Entry) -> State:
        """Return the state with this entry added or replaced."""
        extensions = {**self.document["extensions"], raw["id"]: raw}
        return State({**self.document, "extensions": extensions})


def _damaged(location: str, reason: str) -> Refused:
    return refusal(
        "state_damaged",
        location,
        f"the state file {location} is damaged: {reason}",
        hint="nothing was changed; repair moves the file aside and deletes nothing",
        next_command=REPAIR,
    )


def holds_damage(damage: str) -> Callable[[bytes], bool]:
    """Return what tells of a copy whether it holds the bad entries that `damage` stands for."""

    def is_copy(data: bytes) -> bool:
        try:
            return State.parse(data, "").damage == damage
        except Refused:
            return False

    return is_copy


def _read(extension_id: str, raw: object) -> Entry | BadEntry:
    reason = _misshapen(extension_id, raw)
    if reason or not isinstance(raw, dict):
        return BadEntry(extension_id, "state_entry_invalid", reason or "is not an object")
    for revision in raw["revisions"]:
        if canonical_digest(revision["manifest"])[:REVISION_DIGITS] != revision["revision"]:
            return BadEntry(
                extension_id,
                "state_integrity",
                f"holds a manifest that is not the one revision {one_line(revision['revision'], 20)} was made from",
            )
    return Entry(raw)  # type: ignore[arg-type]  # of the shape that `_misshapen` found nothing wrong with


def _misshapen(extension_id: str, raw: object) -> str | None:
    """Return what is wrong with the shape of an entry, as a clause, or None."""
    if not isinstance(raw, dict):
        return "is not an object"
    if raw.get("id") != extension_id or not isinstance(raw.get("enabled"), bool):
        return "does not carry its own id and an enabled bit"
    revisions = raw.get("revisions")
    if not isinstance(revisions, list) or not revisions:
        return "has no revisions"
    for revision in revisions:
        reason = _misshapen_revision(extension_id, revision)
        if reason:
            return reason
    known = [revision["revision"] for revision in revisions]
    if raw.get("active_revision") not in known:
        return "has an active revision that it does not hold"
    return None if raw.get("rollback_revision") in (None, *known) else "has a rollback revision that it does not hold"


def _misshapen_revision(extension_id: str, revision: object) -> str | None:
    if not isinstance(revision, dict) or not isinstance(revision.get("revision"), str):
        return "has a revision without a number"
    form = revision.get("manifest")
    if not isinstance(form, dict) or not _is_normal_form(form):
        return "has a revision whose manifest is not a normal form"
    if form["provider"]["id"] != extension_id:
        return "has a manifest of another extension"
    pin = revision.get("launcher")
    if pin is not None and not _is_pin(pin):
        return "has a launcher that is not an absolute path"
    owner = revision.get("distribution")
    if owner is not None and not _is_distribution(owner):
        return "has a distribution without name and version"
    return None


_OPERATION = ("id", "effect_class", "required_permission")
_JUDGED = ("request_schema", "result_schema")


def _is_normal_form(form: dict[str, object]) -> bool:
    provider, runtime = form.get("provider"), form.get("runtime")
    return (
        "runtime" in form
        and isinstance(provider, dict)
        and all(isinstance(provider.get(key), str) for key in ("id", "version", "requires_loopx_api"))
        and _is_texts(provider.get("permissions"))
        and _is_rows(form.get("capabilities"), "id")
        and _is_rows(form.get("implementations"), "capability_id")
        and _is_rows(form.get("presentation_surfaces"), "id")
        and (runtime is None or (isinstance(runtime, dict) and _is_runtime(runtime)))
    )


def _is_rows(rows: object, name: str) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, dict) and isinstance(row.get(name), str) and _is_profile(row.get("integration_profile"))
        for row in rows
    )


def _is_profile(profile: object) -> bool:
    """Whether a row has no profile, or one whose operations can be looked at."""
    if profile is None:
        return True
    document = profile.get("document") if isinstance(profile, dict) else None
    if not isinstance(profile, dict) or not isinstance(document, dict):
        return False
    operations = document.get("operations")
    return (
        all(isinstance(text, str) for text in (profile.get("digest"), document.get("protocol")))
        and isinstance(operations, list)
        and all(
            isinstance(one, dict) and all(isinstance(one.get(key), str) for key in _OPERATION) for one in operations
        )
        and all(isinstance(one.get(key), (dict, str)) for one in operations for key in _JUDGED)
    )


def _is_runtime(runtime: dict[str, object]) -> bool:
    target = runtime.get("entrypoint", runtime.get("python_module"))
    seconds = (runtime.get("timeout_seconds", 1), runtime.get("doctor_timeout_seconds", 1))
    bounds = (runtime.get("memory_limit_mb", 1), runtime.get("open_files_limit", 1))
    return (
        isinstance(target, str)
        and isinstance(runtime.get("protocol"), str)
        and all(_is_texts(runtime.get(key)) for key in ("args", "doctor_args", "required_permissions"))
        and _is_texts(runtime.get("env", []))
        and _is_text_table(runtime.get("requires", {}))
        and all(_is_schema(runtime[key]) for key in ("request_schema", "response_schema") if key in runtime)
        and all(type(number) is int and number > 0 for number in (*seconds, *bounds))
    )


def _is_schema(named: object) -> bool:
    if not isinstance(named, dict) or not isinstance(named.get("siblings"), dict):
        return False
    digests = (named.get("sha256"), *named["siblings"].values())
    return all(isinstance(digest, str) and _DIGEST.fullmatch(digest) for digest in digests)


def _is_failure(failure: object) -> bool:
    """Whether how a doctor failed can be shown."""
    if not isinstance(failure, dict):
        return False
    kinds = {"exit_code": (int, type(None)), "signal": (str, type(None)), "stderr_sha256": (str, type(None))}
    return all(isinstance(failure.get(key), str) for key in ("kind", "at")) and all(
        type(failure.get(key)) in kind for key, kind in kinds.items()
    )


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and "\0" not in item for item in value)


def _is_text_table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_distribution(owner: object) -> bool:
    return isinstance(owner, dict) and all(isinstance(owner.get(key), str) for key in ("name", "version"))


def _is_pin(pin: object) -> bool:
    if not isinstance(pin, dict):
        return False
    path = pin.get("path")
    return (
        pin.get("kind") in ("entrypoint", "python_module")
        and isinstance(path, str)
        and path.startswith("/")
        and "\0" not in path
    )
