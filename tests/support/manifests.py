"""Manifests for tests: a folder in memory, a writer of TOML, the normal form and revision done independently."""

from __future__ import annotations

import hashlib
import json
import posixpath
from typing import Any

import pytest

from loopx_host.core.errors import Refused
from loopx_host.registry.folder_error import FolderError
from loopx_host.registry.load import load
from loopx_host.registry.manifest import Manifest

NAME = "extension.toml"
Document = dict[str, Any]
NEW_CAPABILITY = """
[[provides]]
id = "new-thing"
kind = "read"
title = "A thing"
status = "available"
user_value = "It helps"
next_real_step = "Use it"
visibility = "internal"
"""


def runtime_of(manifest: Manifest) -> Any:
    """Return the table `[runtime]` of the normal form, to be looked into."""
    return manifest.form["runtime"]


class MemoryFolder:
    """A ManifestFolder that never touches a disk. `links` leads to another name, inside or outside."""

    location = "/memory"

    def __init__(
        self,
        files: dict[str, bytes],
        *,
        folders: tuple[str, ...] = (),
        links: dict[str, str] | None = None,
    ) -> None:
        self.files = files
        self.folders = folders
        self.links = links or {}

    def read(self, relative: str, limit: int) -> bytes:
        if "\0" in relative:
            raise FolderError("unreadable", "its name holds a NUL")
        path = posixpath.normpath(posixpath.join(self.location, relative))
        path = posixpath.normpath(posixpath.join(self.location, self.links.get(self._inside(path), path)))
        name = self._inside(path)
        if name in self.folders or name == ".":
            raise FolderError("not_regular", "it is not a regular file")
        if name not in self.files:
            raise FolderError("missing", "there is no such file")
        if len(self.files[name]) > limit:
            raise FolderError("too_large", f"it is larger than {limit} bytes")
        return self.files[name]

    def _inside(self, path: str) -> str:
        if posixpath.commonpath((path, self.location)) != self.location:
            raise FolderError("outside", "it lies outside the directory of the manifest")
        return posixpath.relpath(path, self.location)


def minimal(**runtime: object) -> Document:
    """Return the smallest manifest with a runtime; keyword arguments are keys of `[runtime]`."""
    return {
        "schema_version": "loopx_extension_manifest_v0",
        "id": "sample",
        "version": "1.0",
        "requires_loopx_api": ">=1,<2",
        "runtime": {"protocol": "sample_v0", "entrypoint": "sample", **runtime},
    }


def capability(**keys: object) -> Document:
    """Return one complete public `[[provides]]`."""
    return {
        "id": "notes",
        "kind": "note_search",
        "title": "Notes",
        "status": "active",
        "user_value": "Find notes.",
        "next_real_step": "Install it.",
        "visibility": "public",
        "real_world_anchor": "a folder of notes",
        "entry_command": "sample notes",
        **keys,
    }


def documentation(**keys: object) -> Document:
    """Return one complete `[documentation]`."""
    return {"source_root": "docs", "site_root": "site/sample", "canonical": "README.md", "aliases": [], **keys}


def surface(**keys: object) -> Document:
    return {
        "id": "board",
        "kind": "note_board",
        "title": "Notes",
        "view_schema": "note_board_v0",
        "view_validator": "sample.views:check",
        "visibility": "public-safe",
        "empty_state_title": "No notes yet",
        "empty_state_detail": "Publish some.",
        **keys,
    }


def without(document: Document, *keys: str) -> Document:
    """Return `document` less `keys`."""
    return {key: value for key, value in document.items() if key not in keys}


def to_toml(document: Document) -> str:
    """Write `document` as TOML, tables after plain values, in the order given."""
    return "".join(_lines(document, ""))


def _lines(table: Document, prefix: str) -> list[str]:
    lines = [f"{key_text(key)} = {value_text(value)}\n" for key, value in table.items() if not _is_section(value)]
    for key, value in table.items():
        name = f"{prefix}{key_text(key)}"
        if isinstance(value, dict):
            lines += [f"\n[{name}]\n", *_lines(value, f"{name}.")]
        elif _is_section(value):
            for row in value:
                lines += [f"\n[[{name}]]\n", *_lines(row, f"{name}.")]
    return lines


def _is_section(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)
    )


def key_text(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else value_text(key)


def value_text(value: object) -> str:
    """Write one value inline. JSON is TOML for everything but DEL, null and tables."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key_text(key)} = {value_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(value_text(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def load_bytes(data: bytes, **files: bytes) -> Manifest:
    return load(MemoryFolder({NAME: data, **files}), NAME)


def load_text(text: str, files: dict[str, bytes] | None = None) -> Manifest:
    return load_bytes(text.encode(), **(files or {}))


def load_document(document: Document, files: dict[str, bytes] | None = None) -> Manifest:
    return load_text(to_toml(document), files)


def refusal(source: Document | str | bytes, files: dict[str, bytes] | None = None) -> Refused:
    """Return the refusal that loading `source` meets; fails when it loads."""
    text = to_toml(source) if isinstance(source, dict) else source
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(Refused) as caught:
        load_bytes(data, **(files or {}))
    return caught.value


def problems(source: Document | str | bytes, files: dict[str, bytes] | None = None) -> list[Document]:
    """Return the rows of the report that refuses `source`."""
    rows = refusal(source, files).document["problems"]
    assert isinstance(rows, list)
    return rows


def found(source: Document | str | bytes, files: dict[str, bytes] | None = None) -> set[tuple[str, str]]:
    """Return (code, pointer) of each row of the report that refuses `source`."""
    return {(row["code"], row["pointer"]) for row in problems(source, files)}


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def revision_of(form: object) -> str:
    """Return the revision of a normal form by the words of the contract, without the code under test."""
    return sha256(canonical(form))[:16]


def expected_form(document: Document, files: dict[str, bytes] | None = None) -> Document:
    """Return the normal form of a valid `document` as the formats page says it: v0 keys, defaults, stripped."""
    kept = files or {}
    owner = {"provider_id": document["id"].strip(), "provider_version": document["version"].strip()}
    described = document.get("documentation")
    docs = None if described is None else {"aliases": [], **{key: _strip(described[key]) for key in described}}
    return {
        "provider": {
            "declared": True,
            "enabled": False,
            "installed": False,
            "ready": False,
            "origin": "extension",
            "id": owner["provider_id"],
            "version": owner["provider_version"],
            "requires_loopx_api": document["requires_loopx_api"].strip(),
            "permissions": _strip(document.get("permissions", [])),
        },
        "runtime": _expected_runtime(document.get("runtime"), kept),
        "capabilities": [_expected_capability(row, owner, docs, kept) for row in document.get("provides", [])],
        "implementations": [{**_strip(row), **owner} for row in document.get("implements", [])],
        "presentation_surfaces": [_strip(row) for row in document.get("presentation_surfaces", [])],
        "documentation": docs,
    }


def _expected_runtime(runtime: Document | None, files: dict[str, bytes]) -> Document | None:
    if runtime is None:
        return None
    form = {"args": [], "doctor_args": [], "required_permissions": [], "timeout_seconds": 30}
    for key, value in runtime.items():
        if key.startswith("x-"):
            continue
        if key in {"request_schema", "response_schema"}:
            form[key] = {"path": value, "sha256": sha256(files[posixpath.normpath(value)]), "siblings": {}}
        else:
            form[key] = value if key in {"args", "doctor_args"} else _strip(value)
    return form


def _expected_capability(row: Document, owner: Document, docs: Document | None, files: dict[str, bytes]) -> Document:
    form = {**_strip(row), **owner, "origin": "extension", "capability_kind": row["kind"].strip()}
    if docs is not None:
        form["documentation"] = docs
    if "integration_profile" in row:
        profile = json.loads(files[row["integration_profile"]])
        form["integration_profile"] = {
            "path": row["integration_profile"],
            "digest": f"sha256:{sha256(canonical(profile))}",
            "document": profile,
        }
    return form


def _strip(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strip(item) for key, item in value.items() if not key.startswith("x-")}
    if isinstance(value, list):
        return [_strip(item) for item in value]
    return value.strip() if isinstance(value, str) else value
