"""Managing extensions runs no byte of theirs: no import, no interpreter, no network, no look at a repository.

Rows B1 and M048. The provider lives in an environment of its own whose `.pth` file and `sitecustomize` leave a
mark; what the host's environment offers beside it would leave one when it is imported.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.packages import MARKING, Vane, manifest, needs_strace, offering, traced, write, write_entry_points

CAPABILITY = """
[[provides]]
id = "made-up"
kind = "report"
title = "A report"
status = "available"
user_value = "shows something"
next_real_step = "use it"
visibility = "public"
real_world_anchor = "a place"
entry_command = "loopx capability show made-up"
"""
MANAGING = {
    "list": ("extension", "list"),
    "show": ("extension", "show", "vane"),
    "history": ("extension", "history", "vane"),
    "export": ("extension", "export"),
    "discover": ("extension", "discover"),
    "discover_rebuild": ("extension", "discover", "--rebuild"),
    "install_preview": ("extension", "install", "canary"),
    "upgrade_preview": ("extension", "upgrade", "--manifest", "NEXT"),
    "enable_preview": ("extension", "enable", "vane"),
    "doctor_preview": ("extension", "doctor", "vane"),
    "rollback_preview": ("extension", "rollback", "vane"),
    "disable_preview": ("extension", "disable", "vane"),
    "uninstall_preview": ("extension", "uninstall", "vane"),
    "repair_preview": ("extension", "repair"),
    "capability_list": ("capability", "list"),
    "capability_show": ("capability", "show", "made-up"),
    "host_doctor": ("doctor",),
    "run_preview": ("extension", "run", "vane", "--input-json", "REQUEST"),
}
LAST = {
    "disable": ("extension", "disable", "vane", "--execute"),
    "uninstall": ("extension", "uninstall", "vane", "--execute"),
}
STATIC = {
    "help": ("--help",),
    "version": ("--version",),
    "no_command": (),
    "help_of_a_group": ("extension", "--help"),
    "help_of_a_verb": ("extension", "run", "--help"),
    "unknown_command": ("extensions",),
    "unknown_verb": ("extension", "frobnicate"),
}
ALL = {**MANAGING, **STATIC}


class Trapped(Vane):
    """An installed provider, with marks waiting wherever code of a package could come to run."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.marks = root / "marks"
        self.marks.mkdir()
        program = f"#!{self.python}\nimport sys, vane\nopen({str(self.marks / 'launcher')!r}, 'a').close()\n"
        self.put("vane", *self.requires, files={**self.files(program), "vane/__init__.py": self.mark("init")})
        write(self.packages / "trap.pth", f"import os; open({str(self.marks / 'pth')!r}, 'a').close()\n")
        write(self.packages / "sitecustomize.py", f"open({str(self.marks / 'sitecustomize')!r}, 'a').close()\n")
        write(self.manifest, manifest("vane", "1.0", entrypoint=str(self.launcher)))
        # The provider's package leaves its mark on import and ends with it, so its doctor is another program.
        calm = write(root / "calm/provider", f"#!{self.python} -IS\n")
        self.next = write(root / "next/extension.toml", manifest("vane", "1.1", entrypoint=str(self.launcher)))
        write(root / "first/extension.toml", manifest("vane", "0.9", entrypoint=str(calm)))
        write(root / "second/extension.toml", manifest("vane", "1.0", entrypoint=str(calm), timeout_seconds=9))
        write(root / "capable/extension.toml", manifest("capable", top=CAPABILITY, entrypoint=str(calm)))
        self.request = write(root / "request.json", "{}")
        package = offering(self.site, "canary", files={"__init__.py": self.mark("canary")})
        write_entry_points(
            package,
            {
                "loopx.extensions": {"canary": "canary"},
                "loopx.plugins": {"canary": "canary"},
                "loopx.commands": {"frobnicate": "canary:main"},
            },
        )
        for verb, name in (("install", "first"), ("upgrade", "second"), ("install", "capable")):
            path = str(root / name / "extension.toml")
            answer = self("extension", verb, "--manifest", path, "--execute")
            assert answer.status == 0, answer
        self.forget_marks()

    def mark(self, name: str) -> str:
        """Return source that leaves a mark and ends whatever imports it."""
        return MARKING.format(mark=str(self.marks / name))

    def forget_marks(self) -> None:
        for path in self.marks.iterdir():
            path.unlink()

    def left(self) -> list[str]:
        """Return the names of the marks that were left."""
        return sorted(path.name for path in self.marks.iterdir())

    def words(self, command: tuple[str, ...]) -> list[str]:
        """Return a command with its placeholders filled in."""
        return [{"NEXT": str(self.next), "REQUEST": str(self.request)}.get(word, word) for word in command]


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Trapped:
    return Trapped(tmp_path_factory.mktemp("trapped"))


def test_the_traps_work(tmp_path: Path) -> None:
    """Without this the tests below could not fail."""
    trapped = Trapped(tmp_path)

    subprocess.run([trapped.launcher], check=False, capture_output=True)

    assert trapped.left() == ["init", "pth", "sitecustomize"]


@pytest.mark.req("B1")
@pytest.mark.parametrize("command", ALL.values(), ids=list(ALL))
def test_managing_leaves_no_mark_of_any_package(trapped: Trapped, command: tuple[str, ...]) -> None:
    answer = trapped(*trapped.words(command))

    unknown = command in (STATIC["unknown_command"], STATIC["unknown_verb"])
    assert answer.status == (2 if unknown else 0), answer
    assert trapped.left() == []


@pytest.mark.req("B1")
@pytest.mark.parametrize("command", LAST.values(), ids=list(LAST))
def test_switching_off_leaves_no_mark_of_any_package(tmp_path: Path, command: tuple[str, ...]) -> None:
    trapped = Trapped(tmp_path)

    answer = trapped(*command)

    assert (answer.status, answer.document["changed"]) == (0, True)
    assert trapped.left() == []


@needs_strace
@pytest.mark.req("B1")
@pytest.mark.parametrize("command", MANAGING.values(), ids=list(MANAGING))
def test_managing_starts_no_interpreter(trapped: Trapped, command: tuple[str, ...]) -> None:
    lines = traced(trapped, *trapped.words(command), calls="execve,execveat")

    assert len(lines) == 1, lines  # the command itself


@needs_strace
@pytest.mark.req("B1")
@pytest.mark.parametrize("command", LAST.values(), ids=list(LAST))
def test_switching_off_starts_no_interpreter(tmp_path: Path, command: tuple[str, ...]) -> None:
    trapped = Trapped(tmp_path)

    lines = traced(trapped, *command, calls="execve,execveat")

    assert len(lines) == 1, lines


@needs_strace
@pytest.mark.req("M048")
@pytest.mark.parametrize("command", ALL.values(), ids=list(ALL))
def test_managing_uses_no_network(trapped: Trapped, command: tuple[str, ...]) -> None:
    lines = traced(trapped, *trapped.words(command), calls="%network", status=None)

    assert [line for line in lines if "exited" not in line] == []


@needs_strace
@pytest.mark.req("M048")
@pytest.mark.parametrize(
    "command",
    [*STATIC.values(), MANAGING["list"], MANAGING["capability_list"]],
    ids=[*STATIC, "list", "capabilities"],
)
def test_help_lists_and_unknown_commands_scan_no_repository_and_open_no_provider(
    trapped: Trapped, command: tuple[str, ...]
) -> None:
    """Neither the directory they are called in nor one above it, nor the modules of the provider.

    Whether a package brings an unknown word as its command is looked up in metadata alone.
    """
    repository = trapped.root / "repository/below"
    repository.mkdir(parents=True, exist_ok=True)
    (trapped.root / "repository/.git").mkdir(exist_ok=True)
    write(repository / "extension.toml", "")
    write(repository.parent / "pyproject.toml", "")
    for _ in range(50):
        trapped(*trapped.words(command))
        if any(trapped.cache.glob("fingerprints/*")):
            break

    lines = traced(trapped, *trapped.words(command), calls="open,openat,getdents64", status=None, cwd=repository)

    opened = [match[1] for line in lines if (match := re.search(r'open(?:at)?\(.*?"(.*?)"', line))]
    assert [path for path in opened if path.startswith((str(trapped.root / "repository"), "."))] == []
    inside = [path for path in opened if path.startswith((str(trapped.packages), str(trapped.site / "canary")))]
    looked_up = "unknown" in " ".join(command) or command not in (MANAGING["list"], MANAGING["capability_list"])
    allowed = (".dist-info", "/entry_points.txt", "/METADATA", "/RECORD", "/extension.toml", "/canary")
    assert [path for path in inside if not (looked_up and path.endswith(allowed))] == []
    assert [path for path in inside if path.endswith((".py", ".pyc", ".so"))] == []
