"""The words of every preview, after what it needs was arranged."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.cli import Loopx
from tests.support.lifecycle import Subject, installed


def of_installed(*flags: str) -> Callable[[Loopx], list[str]]:
    def prepare(loopx: Loopx) -> list[str]:
        installed(loopx, "1.0", "2.0")
        return [flags[0], "subject", *flags[1:]]

    return prepare


def of_install(loopx: Loopx) -> list[str]:
    return ["install", "--manifest", str(Subject(loopx).manifest())]


def of_upgrade(loopx: Loopx) -> list[str]:
    return ["upgrade", "--manifest", str(installed(loopx).manifest("2.0"))]


def of_enable(loopx: Loopx) -> list[str]:
    installed(loopx).do("disable", "--execute")
    return ["enable", "subject"]


def of_export(loopx: Loopx) -> list[str]:
    installed(loopx)
    return ["export", "--output", str(loopx.root / "export.json")]


def of_restore(loopx: Loopx) -> list[str]:
    installed(loopx)
    path = loopx.root / "export.json"
    assert loopx("extension", "export", "--output", str(path), "--execute").status == 0
    assert loopx("extension", "uninstall", "subject", "--execute").status == 0
    return ["restore", str(path)]


def of_repair(loopx: Loopx) -> list[str]:
    loopx.state_file.write_bytes(b"{")
    return ["repair"]


def of_run(loopx: Loopx) -> list[str]:
    installed(loopx)
    (loopx.root / "request.json").write_text("{}", encoding="ascii")
    return ["run", "subject", "--input-json", str(loopx.root / "request.json")]


def of_init(loopx: Loopx) -> list[str]:
    return ["init", "subject", "--destination", str(loopx.root / "scaffold")]


def of_conformance(loopx: Loopx) -> list[str]:
    return ["conformance", str(Subject(loopx).manifest())]


PREVIEWS = {
    "init": of_init,
    "conformance": of_conformance,
    "install": of_install,
    "upgrade": of_upgrade,
    "rollback": of_installed("rollback"),
    "uninstall": of_installed("uninstall"),
    "enable": of_enable,
    "disable": of_installed("disable"),
    "doctor": of_installed("doctor"),
    "run": of_run,
    "export": of_export,
    "restore": of_restore,
    "repair": of_repair,
}
