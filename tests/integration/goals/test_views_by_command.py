"""Views of a package at the command line: a preview touches nothing, and nobody's word publishes what is private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.capabilities import Station
from tests.support.cli import Answer
from tests.support.document_life import SURFACE, VIEW
from tests.support.packages import manifest, write

ID = "herald"
OWN = "herald_board_v0"
# The package's own schema admits everything; each time its module is loaded that leaves a mark.
HOOKS = """\
from loopx_host.hookspecs.markers import hookimpl

with open({marks!r}, "a") as marks:
    marks.write("hook\\n")


@hookimpl
def loopx_view_schemas():
    return {{"{own}": {{}}}}
"""
PROVIDER = """\
#!/bin/sh
[ "$1" = --doctor ] && exit 0
cat > /dev/null
echo '{answer}'
"""
PRIVATE: dict[str, dict[str, Any]] = {
    "a password": {**VIEW, "sections": [{"password": "letmein"}]},
    "a token": {**VIEW, "title": "ghp_" + "a1B2" * 9},
    "a home": {**VIEW, "title": "see /home/somebody/notes"},
    "a response": {**VIEW, "responseBody": "text"},
    "deep inside": {**VIEW, "sections": [{"items": [{"in": [{"token": "abc"}]}]}]},
}


class Herald(Station):
    """A package with one surface, a schema of its own for it, and a view."""

    def __init__(self, root: Path, view: dict[str, Any]) -> None:
        super().__init__(root)
        self.marks = root / "marks"
        surface = SURFACE.replace("loopx_sections_view_v0", OWN)
        provider = PROVIDER.format(answer=json.dumps({"ok": True, "view": view}))
        hooks = HOOKS.format(marks=str(self.marks), own=OWN)
        self.put(ID, top=surface, files={"provider": provider}, hooks=hooks)
        self.install_id(ID)

    def publish(self, *flags: str) -> Answer:
        return self("extension", "publish-projection", ID, "board", "--input-json", "-", *flags, stdin=b"{}")

    def shown(self) -> str:
        (row,) = self("capability", "list").document["presentation_surfaces"]
        return str(row["state"])


def test_a_preview_touches_neither_provider_nor_package(tmp_path: Path) -> None:
    """publish_preview_inert (case 125)"""
    herald = Herald(tmp_path / "herald", VIEW)
    before = herald.marks.read_text("ascii") if herald.marks.exists() else None

    preview = herald.publish()

    assert (preview.status, preview.document["dry_run"]) == (0, True), preview
    assert preview.document["effects"]["provider_invoked"] is False
    assert (herald.marks.read_text("ascii") if herald.marks.exists() else None) == before
    assert herald.shown() == "empty"
    assert herald.publish("--execute").status == 0
    assert herald.shown() == "ready"
    assert herald.marks.read_text("ascii").startswith("hook")


@pytest.mark.req("M111")
@pytest.mark.parametrize("what", PRIVATE)
def test_a_view_with_private_content_is_refused_though_its_package_admits_everything(
    tmp_path: Path, what: str
) -> None:
    """publish_public_safe_enforced (case 126)"""
    herald = Herald(tmp_path / "herald", PRIVATE[what])

    refused = herald.publish("--execute")

    assert (refused.status, refused.code) == (2, "private_material")
    assert all(secret not in refused.stdout.decode() for secret in ("letmein", "a1B2a1B2", "somebody"))
    assert herald.shown() == "empty"


@pytest.mark.parametrize("execute", [False, True])
def test_one_that_implements_what_nobody_declares_is_not_installed(tmp_path: Path, execute: bool) -> None:
    """implements_unknown_capability (case 25)"""
    station = Station(tmp_path / "station")
    top = '[[implements]]\ncapability_id = "nobody-declares-this"\nprotocol = "test_v0"\n'
    path = write(tmp_path / "alone/extension.toml", manifest("alone", top=top, entrypoint="./provider"))
    write(path.with_name("provider"), PROVIDER.format(answer='{"ok": true}')).chmod(0o755)

    answer = station("extension", "install", "--manifest", str(path), *(["--execute"] if execute else []))

    assert (answer.status, answer.code) == (2, "capability_unknown")
    assert not station.state_file.exists()
    assert station("capability", "list").status == 0
