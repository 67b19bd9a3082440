"""Packages as installers leave them, written by hand, and what a traced command did to the machine."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import PATIENCE_SECONDS, Answer, Loopx

PROVIDER = """\
#!/bin/sh
[ "$1" = --doctor ] && exit 0
echo '{"ok": true}'
"""
# Leaves a mark, raises and prints when it is imported or executed.
MARKING = 'import sys\nopen({mark!r}, "a").close()\nprint("imported")\nraise SystemExit("imported")\n'


def manifest(extension_id: str, version: str = "1.0", *, top: str = "", api: str = "1", **runtime: object) -> str:
    """Return a manifest whose launcher lies beside it; keywords add or replace keys of ``[runtime]``."""
    keys: dict[str, object] = {
        "protocol": "test_v0",
        "entrypoint": "./provider",
        "args": ["run"],
        "doctor_args": ["--doctor"],
        **runtime,
    }
    lines = [
        'schema_version = "loopx_extension_manifest_v0"',
        f'id = "{extension_id}"',
        f'version = "{version}"',
        f'requires_loopx_api = "{api}"',
        top,
        "[runtime]",
        *(f"{key} = {json.dumps(value)}" for key, value in keys.items() if value is not None),
    ]
    return "\n".join(lines) + "\n"


def distribution(
    site: Path,
    name: str,
    version: str = "1.0",
    *,
    groups: Mapping[str, Mapping[str, str]] | None = None,
    files: Mapping[str, str] | None = None,
    requires: tuple[str, ...] = (),
    editable: Path | None = None,
    folder: str | None = None,
) -> Path:
    """Write files and the metadata folder of one installed distribution; return that folder."""
    info = site / (folder or f"{name.replace('-', '_')}-{version}.dist-info")
    info.mkdir(parents=True)
    for relative, text in (files or {}).items():
        write(site / relative, text)
    head = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"]
    (info / "METADATA").write_text("".join([*head, *(f"Requires-Dist: {line}\n" for line in requires)]), "utf-8")
    if groups:
        write_entry_points(info, groups)
    if editable is not None:
        origin = {"url": editable.as_uri(), "dir_info": {"editable": True}}
        (info / "direct_url.json").write_text(json.dumps(origin), "utf-8")
    write_record(info, list(files or {}))
    return info


def write(path: Path, text: str) -> Path:
    """Write one file of a package; a `provider` may be executed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    if path.name == "provider":
        path.chmod(0o755)
    return path


def write_entry_points(info: Path, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Write the entry points of a metadata folder."""
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")


def write_record(info: Path, files: list[str]) -> None:
    """Write the RECORD of a metadata folder, with the digests an installer would write."""
    own = [f"{info.name}/{path.name}" for path in sorted(info.iterdir()) if path.name != "RECORD"]
    rows = [_recorded(info.parent, name) for name in [*files, *own]]
    (info / "RECORD").write_text("\n".join([*rows, f"{info.name}/RECORD,,"]) + "\n", "utf-8")


def _recorded(site: Path, name: str) -> str:
    data = (site / name).read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def offering(
    site: Path,
    extension_id: str,
    *,
    name: str | None = None,
    version: str = "1.0",
    package: str | None = None,
    text: str | None = None,
    files: Mapping[str, str] | None = None,
    **settings: Any,
) -> Path:
    """Write a distribution that offers one extension with a provider of its own; return its metadata folder."""
    package = package or extension_id.replace("-", "_")
    place = package.replace(".", "/")
    made = {
        f"{place}/__init__.py": "",
        f"{place}/extension.toml": text if text is not None else manifest(extension_id, version),
        f"{place}/provider": PROVIDER,
        **{f"{place}/{relative}": content for relative, content in (files or {}).items()},
    }
    groups = {"loopx.extensions": {extension_id: package}}
    return distribution(site, name or f"{extension_id}-package", version, groups=groups, files=made, **settings)


class Environment(Loopx):
    """The command line with directories of hand-made packages on its search path, in this order."""

    def __init__(self, root: Path, *sites: str) -> None:
        super().__init__(root)
        self.sites = [root / name for name in sites or ("site",)]
        for site in self.sites:
            site.mkdir()
        self.look_in(*self.sites)

    @property
    def site(self) -> Path:
        """The first directory."""
        return self.sites[0]

    @property
    def cache(self) -> Path:
        """Where the host keeps what it may forget."""
        return self.root / "home/cache/loopx"

    def look_in(self, *sites: Path) -> None:
        """Set the directories of the search path."""
        self.env["PYTHONPATH"] = ":".join(map(str, sites))

    def discover(self, *flags: str, **settings: Any) -> dict[str, Any]:
        """Return the document of ``extension discover``."""
        answer = self("extension", "discover", *flags, **settings)
        assert answer.status == 0, answer
        return answer.document

    def offers(self, *flags: str, **settings: Any) -> list[dict[str, Any]]:
        """Return the rows of what lies in the hand-made directories."""
        rows = self.discover(*flags, **settings)["extensions"]
        return [row for row in rows if row["location"].startswith(str(self.root))]

    def offer(self, extension_id: str, *flags: str) -> dict[str, Any]:
        """Return the one row of an id."""
        (found,) = [row for row in self.offers(*flags) if row["id"] == extension_id]
        return found

    def row(self, extension_id: str) -> dict[str, Any]:
        """Return the row of ``extension list``."""
        return next(row for row in self.rows() if row["id"] == extension_id)

    def install_id(self, extension_id: str) -> None:
        """Install an offered extension."""
        answer = self("extension", "install", extension_id, "--execute")
        assert answer.status == 0, answer


STRACE = shutil.which("strace")
needs_strace = pytest.mark.skipif(STRACE is None, reason="strace is not installed")


def traced(loopx: Loopx, *words: str, calls: str, status: int | None = 0, **settings: Any) -> list[str]:
    """Run a command under strace, descendants included; return the lines of the calls that succeeded."""
    assert STRACE is not None
    output = loopx.root / "trace"
    argv = [STRACE, "-f", "-qq", "-s", "300", "-e", f"trace={calls}", "-o", str(output), *loopx.command(*words)]
    done = subprocess.run(
        argv,
        env=loopx.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        **settings,
    )
    assert status is None or done.returncode == status, Answer(done.returncode, done.stdout, done.stderr)
    lines = output.read_text("utf-8", "replace").splitlines()
    return [line for line in lines if not re.search(r"= -1 |\+\+\+|---", line)]


class Vane(Environment):
    """A provider in a virtual environment of its own: a console script, its package, and what that depends on.

    ``vane`` requires ``leaf``, which requires ``twig``; ``motor`` with its extra ``fast``, which brings
    ``booster``; and ``absent``, which is not installed.
    """

    FILES = ("vane/__init__.py", "vane/__main__.py", "vane/cli.py", "vane/data.json")

    def __init__(self, root: Path, *, program: str | None = None) -> None:
        super().__init__(root)
        self.venv = root / "venv"
        self.python = self.venv / "bin/python"
        self.packages = self.venv / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
        self.launcher = self.venv / "bin/vane"
        self.packages.mkdir(parents=True)
        self.python.parent.mkdir()
        base = Path(sys.executable).resolve()
        self.python.symlink_to(base)
        write(self.venv / "pyvenv.cfg", f"home = {base.parent}\ninclude-system-site-packages = false\n")
        self.requires = ("leaf>=1", "motor[fast]", "absent", 'never; python_version < "3"')
        self.put("vane", *self.requires, files=self.files(program))
        self.put("leaf", "twig")
        self.put("twig")
        self.put("motor", 'booster; extra == "fast"', 'slow; extra == "slow"')
        self.put("booster")
        self.manifest = root / "extensions/vane/extension.toml"
        write(self.manifest, manifest("vane", entrypoint=str(self.launcher)))

    def files(self, program: str | None = None) -> dict[str, str]:
        """Return the files of the provider's distribution, its launcher among them."""
        launcher = f"#!{self.python} -S\nprint('{{\"ok\": true}}')\n"
        return {**{name: f"# {name}\n" for name in self.FILES}, "../../../bin/vane": program or launcher}

    def put(self, name: str, *requires: str, version: str = "1.0", files: Mapping[str, str] | None = None) -> Path:
        """Install one version of a distribution in place of any other."""
        for old in self.packages.glob(f"{name}-*.dist-info"):
            shutil.rmtree(old)
        files = files or {f"{name}.py": f"# {version}\n"}
        info = distribution(self.packages, name, version, requires=requires, files=files)
        if self.launcher.exists():
            self.launcher.chmod(0o755)
        return info

    def proved(self) -> Vane:
        """Install the extension, and return the environment."""
        answer = self.install(self.manifest)
        assert answer.status == 0, answer
        assert self.row("vane")["ready"] is True
        return self

    @property
    def covered(self) -> list[Path]:
        """The files of the provider's distribution."""
        return [self.launcher, *(self.packages / name for name in self.FILES)]
