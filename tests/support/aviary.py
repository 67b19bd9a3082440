"""A package as pip installs it, whose code is reached in four ways, in an environment that also holds loopx."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.cli import Answer, Loopx
from tests.support.packages import manifest

ROOT = Path(__file__).parents[2]
SURFACE = """
[[presentation_surfaces]]
id = "board"
kind = "note_board"
title = "Notes"
view_schema = "bird_view_v0"
view_validator = "bird.hooks:check"
visibility = "public-safe"
empty_state_title = "No notes yet"
empty_state_detail = "Publish some."
"""
# What everything the package runs imports: a module beside it, a namespace, what it requires, what may be missing.
LIBRARY = """\
import feather, nest.inner.part, seed, seed.husk
for name in ("bird.optional", "seed.optional"):
    try:
        __import__(name)
    except ImportError:
        pass
"""
CLI = """\
import json, os, sys
import bird.library

def main():
    if "--doctor" in sys.argv:
        return 0
    request = json.load(sys.stdin)
    for path in request.get("plant", []):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").close()
    for path in request.get("remove", []):
        os.unlink(path)
    print(json.dumps({"ok": True, "view": {"notes": []}}))
    return 0

if __name__ == "__main__":
    sys.exit(main())
"""
HOOKS = """\
import bird.library
from loopx_host.hookspecs.markers import hookimpl

@hookimpl
def loopx_view_schemas():
    return {"bird_view_v0": {"type": "object"}}

@hookimpl(specname="loopx_run_command")
def chirp(arguments, host):
    return {"ok": True, "schema_version": "bird_chirp_v0"}
"""
BIRD = {
    "bird/__init__.py": "",
    "bird/library.py": LIBRARY,
    "bird/cli.py": CLI,
    "bird/hooks.py": HOOKS,
    "bird/extension.toml": manifest("bird", entrypoint="bird-of-paradise", top="") + SURFACE,
    "bird/module/__init__.py": "",
    "bird/module/extension.toml": manifest(
        "bird-module", entrypoint=None, python_module="bird.cli", env=["PYTHONPATH"]
    ),
    "feather.py": "",
    "nest/inner/part.py": "",
}
BIRD_POINTS = {
    "console_scripts": {"bird-of-paradise": "bird.cli:main"},
    "loopx.extensions": {"bird": "bird", "bird-module": "bird.module"},
    "loopx.plugins": {"bird": "bird.hooks"},
    "loopx.commands": {"chirp": "bird.hooks:chirp"},
}
SEED = {"seed/__init__.py": "", "seed/husk.py": "VALUE = 1\n"}


class Aviary(Loopx):
    """The environment with ``bird``, which requires ``seed``; `canary` is what planted code would write."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.venv = root / "environment"
        self.canary = root / "canary"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.venv)], check=True)
        self.site = Path(sysconfig.get_path("purelib", vars={"base": str(self.venv)}))
        self.scripts = self.venv / "bin"
        self.added = root / "added"
        self.archive = root / "added.zip"
        self.added.mkdir()
        seen = [str(ROOT), sysconfig.get_path("purelib"), str(self.added), str(self.archive)]
        (self.site / "seen.pth").write_text("\n".join(seen) + "\n", encoding="utf-8")
        self.install_wheel("seed", SEED)
        self.install_wheel("bird", BIRD, points=BIRD_POINTS, requires=["seed"])

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        """Return the argv of a command of this environment's loopx."""
        return [str(self.scripts / "python"), "-E", "-m", "loopx_host", *super().command(*words, options=options)[1:]]

    def install_wheel(
        self,
        name: str,
        files: Mapping[str, str],
        *,
        points: Mapping[str, Mapping[str, str]] | None = None,
        requires: list[str] | None = None,
    ) -> None:
        """Build a wheel of `files` and let pip install it."""
        wheel = wheel_of(self.root, name, files, points=points or {}, requires=requires or [])
        words = ["--python", str(self.scripts / "python"), "install", "--no-index", "--no-deps", "--force-reinstall"]
        subprocess.run(
            [sys.executable, "-m", "pip", "--disable-pip-version-check", *words, str(wheel)],
            check=True,
            capture_output=True,
            env=self.env,
        )

    def proved(self) -> Aviary:
        """Install both extensions."""
        for extension_id in ("bird", "bird-module"):
            answer = self("extension", "install", extension_id, "--execute")
            assert answer.status == 0, answer
        return self

    def reach(self, way: str, **request: Any) -> Answer:
        """Have the package's code run in one of `WAYS`."""
        if way == "hook":
            words = ("extension", "publish-projection", "bird", "board", "--input-json", "-", "--execute")
            return self(*words, stdin=b"{}")
        if way == "command":
            return self("chirp")
        return self.run("bird" if way == "console script" else "bird-module", request)

    @property
    def planted_code(self) -> str:
        """The text of a module that leaves its mark."""
        return f"open({str(self.canary)!r}, 'a').close()\n"


WAYS = ("console script", "module", "hook", "command")


def wheel_of(
    root: Path, name: str, files: Mapping[str, str], *, points: Mapping[str, Mapping[str, str]], requires: list[str]
) -> Path:
    """Write a wheel as a build backend would."""
    info = f"{name}-1.0.dist-info"
    lines = [
        line for group, rows in points.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in rows.items()))
    ]
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    members = {
        **files,
        f"{info}/METADATA": head + "".join(f"Requires-Dist: {one}\n" for one in requires),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join(lines) + "\n",
    }
    rows = [f"{path},sha256={_digest(text)},{len(text)}" for path, text in members.items()]
    members[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
    path = root / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in members.items():
            archive.writestr(member, text)
    return path


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
