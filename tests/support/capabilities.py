"""A capability of a test: its manifest, its profile, and what a provider answers."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.cli import Answer
from tests.support.packages import Environment, distribution, manifest, write

CAPABILITY, PROTOCOL = "weather", "test_v0"
PROFILE_SCHEMA = "loopx_external_domain_capability_profile_v1"
RESULT_SCHEMA = "loopx_external_domain_capability_result_v0"
READ_ONLY, EXTERNAL_WRITE = "read_only", "external_write"

PROVIDES = """
[[provides]]
id = "{id}"
kind = "report"
title = "{title}"
status = "available"
user_value = "shows something"
next_real_step = "use it"
visibility = "{visibility}"
real_world_anchor = "a place"
entry_command = "loopx capability show {id}"
"""
WITH_PROFILE = PROVIDES + 'integration_profile = "profile.json"\n'
IMPLEMENTS = '[[implements]]\ncapability_id = "{id}"\nprotocol = "test_v0"\n'


def provides(
    capability_id: str = CAPABILITY, *, visibility: str = "public", title: str = "A report", profile: bool = True
) -> str:
    """Return the table of a manifest that declares a capability, with a profile beside the manifest."""
    text = WITH_PROFILE if profile else PROVIDES
    return text.format(id=capability_id, visibility=visibility, title=title)


def operation(
    name: str = "inspect", *, effect: str = READ_ONLY, permission: str = "fs.read:repo", **schemas: Any
) -> dict[str, Any]:
    """Return one operation of a profile; schemas accept every object unless given."""
    made = {
        "id": name,
        "effect_class": effect,
        "required_permission": permission,
        "request_schema": {"type": "object"},
        "result_schema": {"type": "object"},
        **schemas,
    }
    if effect == EXTERNAL_WRITE:
        made["todo_contract"] = {"action_kinds": ["publish"], "target_key_prefixes": ["report:"]}
    return made


def profile(*operations: dict[str, Any], capability_id: str = CAPABILITY, protocol: str = PROTOCOL) -> str:
    """Return a profile as text, with the one read `inspect` unless told otherwise."""
    document = {
        "schema_version": PROFILE_SCHEMA,
        "capability_id": capability_id,
        "protocol": protocol,
        "operations": list(operations) or [operation()],
    }
    return json.dumps(document)


def effects(*, invoked: bool = True, basis: str = "declared") -> dict[str, Any]:
    """Return the effects of a read; below the level `contained` nothing but its profile says that it only read."""
    unchanged = ("external_write_performed", "loopx_state_written", "quota_spent")
    return {"provider_invoked": invoked, **dict.fromkeys(unchanged, False), "basis": basis}


def result(invocation_id: str, **fields: Any) -> dict[str, Any]:
    """Return the clean result of a read, with some fields replaced."""
    return {
        "schema_version": RESULT_SCHEMA,
        "invocation_id": invocation_id,
        "status": "succeeded",
        "observations": [{"kind": "fact", "path": "src/app.py"}],
        "domain_state_mutations": [],
        "domain_transition_receipts": [],
        "transition_proposals": [],
        "effect_receipt": None,
        "follow_up": {"kind": "none"},
        **fields,
    }


# Notes its start where the fence lets it, then does what the input says: `code` is Python over `request`, `fields`
# (of the result), `observations` and `reach(path)`, which tells how an attempt to read ended.
PROVIDER = """\
#!{python} -IS
import errno, json, os, sys, time

if "--doctor" in sys.argv:
    sys.exit(0)
try:
    with open({starts!r}, "a") as kept:
        kept.write({name!r} + "\\n")
except OSError:
    pass
request = json.load(sys.stdin)


def reach(path):
    try:
        if os.path.isdir(path):
            os.listdir(path)
        else:
            with open(path, "rb") as file:
                file.read()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "read"


observations, fields = [{{"kind": "fact"}}], {{}}
exec(request["input"].get("code", ""), globals())
answer = {{
    "schema_version": "loopx_external_domain_capability_result_v0",
    "invocation_id": request["invocation_id"],
    "status": "succeeded",
    "observations": observations,
    "domain_state_mutations": [],
    "domain_transition_receipts": [],
    "transition_proposals": [],
    "effect_receipt": None,
    "follow_up": {{"kind": "none"}},
}}
answer.update(fields)
sys.stdout.write(json.dumps(answer))
"""


class Station(Environment):
    """The command line with packages that serve capabilities on its search path, and a folder to refer to."""

    def __init__(self, root: Path, *sites: str) -> None:
        super().__init__(root, *sites)
        self.starts_file = root / "starts"
        self.folder = root / "folder"
        write(self.folder / "inside/notes.txt", "inside")
        write(self.folder / "beside.txt", "beside")

    @property
    def starts(self) -> list[str]:
        """The extensions whose providers were started for a request."""
        return self.starts_file.read_text("utf-8").splitlines() if self.starts_file.exists() else []

    def put(
        self,
        extension_id: str = "station",
        *operations: dict[str, Any],
        top: str | None = None,
        version: str = "1.0",
        hooks: str | None = None,
        files: Mapping[str, str] | None = None,
        commands: Mapping[str, str] | None = None,
        **runtime: Any,
    ) -> Path:
        """Put a package on the search path in place of an earlier version of it; return its metadata folder.

        Unless told otherwise it serves the capability `weather`; `hooks` is the source of its module of hooks.
        """
        package = extension_id.replace("-", "_")
        for old in self.site.glob(f"{package}_package-*.dist-info"):
            shutil.rmtree(old)
        permissions = 'permissions = ["fs.read:repo", "net.connect", "note.read"]\n'
        text = manifest(extension_id, version, top=permissions + (provides() if top is None else top), **runtime)
        program = PROVIDER.format(python=sys.executable, starts=str(self.starts_file), name=extension_id)
        made = {
            f"{package}/__init__.py": "",
            f"{package}/extension.toml": text,
            f"{package}/profile.json": profile(*operations),
            f"{package}/provider": program,
            **{f"{package}/{name}": content for name, content in (files or {}).items()},
        }
        groups: dict[str, Mapping[str, str]] = {"loopx.extensions": {extension_id: package}}
        if hooks is not None:
            made[f"{package}/hooks.py"] = hooks
            groups["loopx.plugins"] = {extension_id: f"{package}.hooks"}
        if commands:
            groups["loopx.commands"] = commands
        return distribution(self.site, f"{extension_id}-package", version, groups=groups, files=made)

    def served(self, extension_id: str = "station", *operations: dict[str, Any], **settings: Any) -> Station:
        """Put a package on the search path and install its extension."""
        self.put(extension_id, *operations, **settings)
        self.install_id(extension_id)
        return self

    def bind(self, *flags: str, operations: tuple[str, ...] = ("inspect",), goal: str = "g1") -> Answer:
        """Bind a goal to operations of the capability `weather`; a preview unless the flags say otherwise."""
        named = [word for one in operations for word in ("--operation", one)]
        return self("capability", "bind", CAPABILITY, "--goal-id", goal, *named, *flags)

    def bound(self, **settings: Any) -> Station:
        """Bind, and return the environment."""
        answer = self.bind("--execute", **settings)
        assert answer.status == 0, answer
        return self

    def invoke(
        self,
        code: str = "",
        *flags: str,
        goal: str = "g1",
        operation: str = "inspect",
        reference: Path | str | None = "inside",
        execute: bool = True,
        **settings: Any,
    ) -> Answer:
        """Invoke one operation of the capability `weather`; its provider does `code`."""
        ref = () if reference is None else ("--ref", f"repo={self.folder / reference}")
        words = ("capability", "invoke", CAPABILITY, "--goal-id", goal, "--operation", operation, *ref, *flags)
        done = ("--execute",) if execute else ()
        return self(*words, "--input-json", "-", *done, stdin=json.dumps({"code": code}).encode(), **settings)
