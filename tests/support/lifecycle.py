"""Extensions whose doctor and versions a test decides, and snapshots of everything a command could have touched."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.cli import Answer, Loopx

# What a provider says must never reach the state file; both streams say this.
SPOKEN = "what-the-provider-said"
# Any version: notes that it was started, then its doctor exits with what the file `doctor-VERSION` beside it
# holds, or 0. Shell builtins only, so that a start costs a millisecond.
PROVIDER = f"""\
#!/bin/sh
here="${{0%/*}}"
echo "$*" >> "$here/starts"
echo "{SPOKEN}" >&2
if [ "$1" = --doctor ]; then
    echo "{SPOKEN}"
    status=0
    if [ -f "$here/doctor-$2" ]; then read -r status < "$here/doctor-$2"; fi
    exit "$status"
fi
printf '{{"ok": true, "said": "{SPOKEN}", "version": "%s"}}\\n' "$2"
"""


class Subject:
    """One extension of a test: manifests for any version, a doctor that obeys, and a record of every start."""

    def __init__(self, loopx: Loopx, extension_id: str = "subject", *, program: str = PROVIDER) -> None:
        self.loopx = loopx
        self.id = extension_id
        self.folder = loopx.root / "extensions" / extension_id
        self.folder.mkdir(parents=True)
        self.program = self.folder / "provider"
        self.program.write_text(program, encoding="utf-8")
        self.program.chmod(0o755)

    def manifest(self, version: str = "1.0", *, permissions: tuple[str, ...] = (), **runtime: object) -> Path:
        """Write the manifest of one version into a folder of its own; keywords are keys of ``[runtime]``."""
        keys: dict[str, object] = {
            "protocol": "subject_v0",
            "entrypoint": str(self.program),
            "args": ["serve", version],
            "doctor_args": ["--doctor", version],
            **runtime,
        }
        lines = [
            'schema_version = "loopx_extension_manifest_v0"',
            f'id = "{self.id}"',
            f'version = "{version}"',
            'requires_loopx_api = "1"',
            f"permissions = {json.dumps(list(permissions))}",
            "[runtime]",
            *(f"{key} = {json.dumps(value)}" for key, value in keys.items() if value is not None),
        ]
        path = self.folder / version / "extension.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def doctor_exits(self, status: int, version: str = "1.0") -> None:
        """Let the doctor of one version exit with `status` from now on."""
        (self.folder / f"doctor-{version}").write_text(f"{status}\n", encoding="ascii")

    @property
    def starts(self) -> list[str]:
        """The argument lists the provider was started with since `forget_starts`."""
        record = self.folder / "starts"
        return record.read_text(encoding="ascii").splitlines() if record.exists() else []

    def forget_starts(self) -> None:
        (self.folder / "starts").unlink(missing_ok=True)

    def replace_program(self, text: str = PROVIDER + "# another build\n") -> None:
        """Put other bytes where the program is."""
        self.program.write_text(text, encoding="utf-8")

    def install(self, version: str = "1.0", *flags: str, **settings: Any) -> Answer:
        return self._with_manifest("install", version, flags, settings)

    def upgrade(self, version: str, *flags: str, **settings: Any) -> Answer:
        return self._with_manifest("upgrade", version, flags, settings)

    def _with_manifest(self, verb: str, version: str, flags: tuple[str, ...], settings: dict[str, Any]) -> Answer:
        manifest = self.manifest(version, **settings)
        return self.loopx("extension", verb, "--manifest", str(manifest), *flags)

    def do(self, verb: str, *flags: str) -> Answer:
        """Run one verb that takes the id."""
        return self.loopx("extension", verb, self.id, *flags)

    def run(self) -> Answer:
        """Run one empty request."""
        return self.loopx.run(self.id, {})

    def row(self) -> dict[str, Any]:
        """Return its row of ``extension list``."""
        return next(row for row in self.loopx.rows() if row["id"] == self.id)

    def entry(self) -> dict[str, Any]:
        """Return its entry of the state file."""
        entry = json.loads(self.loopx.state_file.read_bytes())["extensions"][self.id]
        assert isinstance(entry, dict)
        return entry

    def revisions(self) -> dict[str, str]:
        """Return version → revision of what the entry keeps."""
        return {one["version"]: one["revision"] for one in self.entry()["revisions"]}


def installed(loopx: Loopx, *versions: str, extension_id: str = "subject") -> Subject:
    """Return an extension installed at the first version and upgraded through the others."""
    subject = Subject(loopx, extension_id)
    first, *later = versions or ("1.0",)
    assert subject.install(first, "--execute").status == 0
    for version in later:
        assert subject.upgrade(version, "--execute").status == 0
    subject.forget_starts()
    return subject


Tree = dict[str, tuple[object, ...]]


def tree(root: Path, *, without: tuple[str, ...] = ()) -> Tree:
    """Return everything below `root`: kind, mode, owner, inode, size, time stamps and content."""
    found: Tree = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if str(Path(folder, name).relative_to(root)) not in without]
        for path in (Path(folder), *(Path(folder, name) for name in files)):
            status = path.lstat()
            content: str | None = None
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(root))] = (
                status.st_mode,
                status.st_uid,
                status.st_ino,
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
                content,
            )
    return found


def words(next_command: str | None) -> list[str]:
    """Return a suggested command as the words after ``loopx``."""
    import shlex

    assert next_command is not None
    first, *rest = shlex.split(next_command)
    assert first == "loopx"
    return rest


def drafts(folder: Path) -> list[str]:
    """Return the private temporary files that lie beside a state file."""
    return sorted(path.name for path in folder.iterdir() if path.name.endswith(".tmp"))


def beside(state_file: Path) -> list[str]:
    """Return what lies beside the state file and belongs to it: ``.lock``, ``.d``, copies of damage."""
    folder, name = state_file.parent, state_file.name
    return sorted(path.name.removeprefix(name) for path in folder.iterdir() if path.name.startswith(f"{name}."))


def copies(state_file: Path) -> list[Path]:
    """Return the kept copies of a damaged state file."""
    return sorted(state_file.parent.glob(f"{state_file.name}.damaged-*"))


def run_script(script: str, *, cwd: Path, env: Mapping[str, str], timeout: float = 240) -> list[tuple[int, str]]:
    """Type commands into one shell, one block per blank line; return (status, output) of each block."""
    blocks = [block for block in script.strip().split("\n\n") if block.strip()]
    mark = "\x1e"
    lines = [f"{block}\nprintf '{mark}%d{mark}' $?" for block in blocks]
    ended = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
    parts = ended.stdout.split(mark)
    assert len(parts) == 2 * len(blocks) + 1, ended.stdout
    return [(int(parts[2 * number + 1]), parts[2 * number]) for number in range(len(blocks))]


ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"


def pip(*arguments: str, cwd: Path | None = None) -> None:
    """Run the pip of this environment with the pins of the project."""
    inherited = {name: value for name, value in os.environ.items() if name != "PIP_BUILD_CONSTRAINT"}
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", *arguments],
        cwd=cwd,
        env={
            **inherited,
            "PIP_CONSTRAINT": str(CONSTRAINTS),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            "PIP_NO_INPUT": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def build_wheel(source: Path, out: Path) -> Path:
    """Build one wheel from a source tree with the build backend of this environment; the source stays as it is."""
    out.mkdir(parents=True, exist_ok=True)
    before = set(out.iterdir())
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(out), str(source))
    (made,) = set(out.iterdir()) - before
    return made


def make_venv(folder: Path) -> Path:
    """Make a virtual environment without pip; return its scripts directory."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin"
