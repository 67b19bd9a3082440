"""What commands answered, written down so that two machines write down the same: one text file per scenario."""

from __future__ import annotations

import difflib
import importlib.metadata
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from packaging.requirements import Requirement

from tests.support.capabilities import Station
from tests.support.cli import COMMAND, PATIENCE_SECONDS, Answer
from tests.support.lifecycle import ROOT, make_venv

FOLDER = ROOT / "tests/data/recorded"
WIDTH = "100"

# A path of the machine → its name in a recording; the longest is replaced first.
_PLACES = {
    str(ROOT): "{checkout}",
    sys.prefix: "{venv}",
    str(Path(sys.executable).resolve().parents[1]): "{python}",
}
# What a clock, a scheduler, the kernel's limits or the interpreter decides.
_VARIES = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "<time>"),
    (r"\d{8}T\d{6}(\d{6})?Z", "<time>"),
    (r"\b\d+(\.\d+)? ms\b", "<n> ms"),
    (r'("duration_ms": |duration ms: )\d+', r"\1<n>"),
    (r'("run_id": "|run id: )[0-9a-f]+', r"\1<run id>"),
    (r"\bdamaged-[0-9a-f]{8}\b", "damaged-<random>"),
    (r"\bcapability-[0-9a-f]{8,}", "capability-<invocation>"),
    (r"python3\.\d+", "python3.<minor>"),
    (r"linux-(x86_64|aarch64)", "linux-<machine>"),
)
_DIGEST = re.compile(r"(?<![0-9a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,64}(?![0-9a-f])")
# What the kernel of this machine can do decides these.
_CONTAINMENT = re.compile(
    r'"containment": \{"rung"(?:[^{}\[\]]|\[[^\]]*\])*\}'
    r'|"highest": "\w+", "reasons": \[[^\]]*\]'
    r"|up to `\w+` when asked for"
)
# A sign of life, which depends on how long a step took, and findings about what else the environment holds.
_ALIVE = re.compile(rb"^loopx: the provider is still running \(\d+ s\)\n", re.MULTILINE)
_LINES = re.compile(r"^\w+ +pth_code .*\n", re.MULTILINE)
_ROWS = re.compile(r', \{"check": "start_up", "status": "warning", "code": "pth_code"[^{}]*\}')


class Recorder(Station):
    """The command line in a new home at the default containment, which keeps what every step answered.

    `root` has to be as long on every machine: the columns of a table are as wide as the paths in them. `scripts` is
    the folder of the launcher, that of the tests' environment unless told otherwise.
    """

    def __init__(self, root: Path, wanted: str, scripts: Path | None = None) -> None:
        super().__init__(root)
        self.format = wanted
        self._scripts = scripts or Path(sys.executable).parent
        self._digests: list[str] = []
        self._steps: list[str] = []
        self.env |= {"COLUMNS": WIDTH, "PATH": f"{self._scripts}:{os.defpath}"}

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        return [str(self._scripts / "loopx"), *super().command(*words, options=options)[len(COMMAND) :]]

    @property
    def text(self) -> str:
        """Everything that was recorded."""
        return "\n".join(self._steps)

    def step(
        self,
        label: str,
        *words: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        state: bool = True,
        change: Callable[[str], str] = str,
    ) -> Answer:
        """Run one command and keep its answer; `change` is applied before the common normalising."""
        added = ["--state-file", str(self.state_file)] if state else []
        if self.format == "json" and not any(word.startswith("--format") for word in words):
            added += ["--format", "json"]
        answer = self(*words, *added, stdin=stdin, env=env, options=False, cwd=self.folder)
        self._keep(label, [*words, *added], stdin, answer, change, env)
        return answer

    def on_terminal(self, label: str, *words: str, stdin: bytes = b"") -> None:
        """Run one command with standard output on a terminal and keep what the terminal got."""
        ours, theirs = pty.openpty()
        all_words = [*words, "--state-file", str(self.state_file)]
        child = subprocess.Popen(
            self.command(*all_words, options=False),
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=subprocess.PIPE,
            env={**self.env, "TERM": "xterm-256color"},
            cwd=self.folder,
        )
        os.close(theirs)
        _, stderr = child.communicate(stdin, timeout=PATIENCE_SECONDS)
        answer = Answer(child.returncode, _drain(ours), stderr)
        self._keep(label, all_words, stdin, answer, str, {"TERM": "xterm-256color"})

    def _keep(
        self,
        label: str,
        words: list[str],
        stdin: bytes,
        answer: Answer,
        change: Callable[[str], str],
        env: Mapping[str, str] | None,
    ) -> None:
        line = [*(f"{name}={value}" for name, value in (env or {}).items()), "loopx", *map(shlex.quote, words)]
        if stdin:
            line += ["<<<", shlex.quote(_shortened(stdin.decode("utf-8", "replace")))]
        parts = [f"# {label}\n$ {' '.join(line)}\nexit {answer.status}\n"]
        parts += [_stream(name, data) for name, data in (("stdout", answer.stdout), ("stderr", answer.stderr))]
        self._steps.append(self._normal(change("".join(parts))))

    def _normal(self, text: str) -> str:
        """Return a step without what another machine or another minute would change."""
        places = {str(self.root): "{root}", str(self._scripts.parent): "{venv}", **_PLACES}
        for place in sorted(places, key=len, reverse=True):
            text = text.replace(place, places[place])
        text = _ROWS.sub("", _LINES.sub("", text))
        text = _CONTAINMENT.sub(_kernel_decides, text)
        for pattern, name in _VARIES:
            text = re.sub(pattern, name, text)
        return _indented(_DIGEST.sub(self._named, text))

    def _named(self, match: re.Match[str]) -> str:
        """Name a digest by the order of appearance; a shortened one has the name of the whole."""
        digest = match[0]
        for number, known in enumerate(self._digests):
            if known.startswith(digest) or digest.startswith(known):
                self._digests[number] = max(known, digest, key=len)
                break
        else:
            number = len(self._digests)
            self._digests.append(digest)
        return f"<digest {number + 1}, {len(digest)} digits>"


def bare_environment(folder: Path) -> Path:
    """Make a virtual environment of the host and what it needs, and nothing that offers an extension.

    Links to the tests' environment stand for an installer; return the folder of its launcher.
    """
    scripts = make_venv(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    for installed in _with_requirements("loopx-core"):
        for name in {file.parts[0] for file in installed.files or ()} - {"..", "__pycache__"}:
            (site / name).symlink_to(str(installed.locate_file(name)))
    _, _, program = Path(sys.executable).with_name("loopx").read_text("utf-8").partition("\n")
    (scripts / "loopx").write_text(f"#!{scripts / 'python'}\n{program}", "utf-8")
    (scripts / "loopx").chmod(0o755)
    return scripts


def _with_requirements(*names: str) -> Iterator[importlib.metadata.Distribution]:
    """Yield the distributions of these names and all that they require, each once."""
    wanted, seen = list(names), set[str]()
    for name in wanted:
        key = name.lower().replace("_", "-")
        if key in seen:
            continue
        seen.add(key)
        installed = importlib.metadata.distribution(name)
        requirements = map(Requirement, installed.requires or ())
        wanted += [one.name for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]
        yield installed


def difference(recorded: str, now: str, name: str) -> str:
    """Return a unified diff, empty when nothing changed."""
    lines = difflib.unified_diff(recorded.splitlines(), now.splitlines(), f"recorded/{name}", "now", lineterm="", n=6)
    return "\n".join(lines)


def _stream(name: str, data: bytes) -> str:
    text = _ALIVE.sub(b"", data).decode("utf-8", "backslashreplace")
    text = text.replace("\r\n", "\u240d\n").replace("\x1b", "\u241b")
    if not text:
        return ""
    return f"--- {name}\n{text}" + ("" if text.endswith("\n") else "\n\\ no newline at the end\n")


def _kernel_decides(match: re.Match[str]) -> str:
    text = match[0]
    if text.startswith('"containment"'):
        keys = re.findall(r'"(\w+)": ', re.sub(r"\{[^{}]*\}", "", text[len('"containment": {') :]))
        return f'"containment": {json.dumps({"keys": keys})}'
    return re.sub(r"`\w+`", "`<level>`", re.sub(r'"highest".*', '"highest": "<level>", "reasons": []', text))


def _indented(text: str) -> str:
    """Write every document over several lines, with its own order of keys; one that was not canonical says so."""
    return re.sub(r"^(--- stdout\n)(\{.*\})\n", _spread, text, flags=re.MULTILINE)


def _spread(match: re.Match[str]) -> str:
    document = json.loads(re.sub(r'": <n>', '": "<n>"', match[2]))
    canonical = json.dumps(document, ensure_ascii=True).replace('"<n>"', "<n>")
    note = "" if canonical == match[2].replace('"<n>"', "<n>") else "(not as json.dumps writes it)\n"
    return f"{match[1]}{note}{json.dumps(document, indent=1, ensure_ascii=True)}\n"


def _shortened(text: str) -> str:
    return text if len(text) < 400 else f"{text[:60]}… {len(text)} characters"


def _drain(descriptor: int) -> bytes:
    kept = bytearray()
    try:
        while chunk := os.read(descriptor, 65536):
            kept += chunk
    except OSError:  # how a terminal says that its other side is closed
        pass
    finally:
        os.close(descriptor)
    return bytes(kept)
