"""Providers in other languages: their pages do what they say, and the same kit holds them to every rule (row B11)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopx_host.authoring.conformance import RULES
from loopx_host.lifecycle.extensions.prerequisites import satisfies
from tests.support.cli import Loopx
from tests.support.pages import follow

ROOT = Path(__file__).parents[2]
BUILD = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror")
NODE_WANTED = ">=18"


class Example:
    """A copy of one example in a place of its own, ready to be called."""

    def __init__(self, folder: Path, extension_id: str, protocol: str, answer: dict[str, object]) -> None:
        self.folder = folder
        self.extension_id = extension_id
        self.protocol = protocol
        self.answer = answer
        self.program = next(path for path in folder.iterdir() if path.stem == "provider" and os.access(path, os.X_OK))

    def call(self, data: bytes) -> tuple[int, dict[str, object]]:
        """Call the program by hand; return its status and the object it answered."""
        ended = subprocess.run([self.program], input=data, capture_output=True, timeout=20, check=False)
        answer = json.loads(ended.stdout)
        assert isinstance(answer, dict)
        return ended.returncode, answer

    def request(self, text: bytes) -> bytes:
        """Return a request whose text is `text` between quotes, as it stands."""
        return b'{"schema_version": "%s_request_v0", "text": "%s"}' % (self.protocol.encode(), text)


def _copied(name: str, place: Path) -> Path:
    ignored = shutil.ignore_patterns("provider")
    return Path(shutil.copytree(ROOT / "examples" / name, place / name, ignore=ignored))


def _node(place: Path) -> Example:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on PATH, so the provider in JavaScript cannot be run")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip("v\n")
    if not satisfies(version, NODE_WANTED):
        pytest.skip(f"node on PATH is {version}, and the provider in JavaScript needs {NODE_WANTED}")
    folder = _copied("node-provider", place)
    answer: dict[str, object] = {"words": 11, "different_words": 5}
    return Example(folder, "loopx-node-word-count", "loopx_node_word_count", answer)


def _c(place: Path) -> Example:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler as cc on PATH, so the provider in C cannot be built")
    folder = _copied("c-provider", place)
    subprocess.run(["cc", *BUILD, "-o", str(folder / "provider"), str(folder / "provider.c")], check=True)
    return Example(folder, "loopx-c-checksum", "loopx_c_checksum", {"bytes": 9, "crc32": "cbf43926"})


@pytest.fixture(scope="module", params=[_node, _c], ids=["node", "c"])
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Example:
    made = request.param(tmp_path_factory.mktemp("polyglot"))
    assert isinstance(made, Example)
    return made


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.mark.req("B11")
def test_it_installs_and_runs(example: Example, loopx: Loopx) -> None:
    installed = loopx.install(example.folder / "extension.toml")
    ran = loopx.run(example.extension_id, (example.folder / "examples" / "request.json").read_bytes())

    assert installed.status == 0, installed
    assert ran.status == 0, ran
    assert ran.document["provider_result"] == {
        "ok": True,
        "schema_version": f"{example.protocol}_response_v0",
        **example.answer,
    }


@pytest.mark.req("B11", "B7")
def test_the_kit_holds_it_to_every_rule(example: Example, loopx: Loopx) -> None:
    report = loopx("extension", "conformance", str(example.folder), "--execute")

    assert {row["rule"]: row["status"] for row in report.document["rules"]} == {
        rule.__name__: "passed" for rule in RULES
    }, report


@pytest.mark.req("B11")
def test_nothing_about_it_would_only_be_a_warning(example: Example, loopx: Loopx) -> None:
    assert loopx("extension", "validate", str(example.folder), "--strict").status == 0


def test_its_page_does_what_it_says(example: Example, loopx: Loopx) -> None:
    place = loopx.root / "page"
    place.mkdir()
    shutil.copytree(example.folder, place / example.folder.name)
    env = {**loopx.env, "PATH": f"{Path(sys.executable).parent}:{loopx.env['PATH']}"}

    assert follow(example.folder / "README.md", place, env) == []


@pytest.mark.parametrize(
    "text",
    [
        b'a", "text": "b',
        b'a", "\\u0074ext": "b',
        b'a", "n": {"k": 1, "k": 1}, "m": "',
        b'a", "n": NaN, "m": "',
        b'a", "n": 1e999, "m": "',
        b'a", "n": 01, "m": "',
        b'a", "n": [1,], "m": "',
        b"\xff",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"\\udc00\\ud800",
        b"\\x41",
        b"a\nb",
        b"a\x00b",
        b'a"} {"b": "',
    ],
    ids=repr,
)
def test_it_refuses_what_is_no_strict_json(text: bytes, example: Example) -> None:
    unknown = example.call(example.request(b'a", "n": "'))[1]

    status, answer = example.call(example.request(text))

    assert (status, answer["ok"]) == (1, False)
    assert answer["schema_version"] == f"{example.protocol}_response_v0"
    assert answer["error"] != unknown["error"]  # it is refused by the reader, not for the field beside it


@pytest.mark.parametrize("text", ["é\U0001f600".encode(), b"\\u00e9\\ud83d\\ude00"], ids=["bytes", "escapes"])
def test_it_reads_every_way_to_write_a_character(text: bytes, example: Example) -> None:
    expected = {"bytes": 6, "crc32": "7f805a06"} if "bytes" in example.answer else {"words": 1, "different_words": 1}

    status, answer = example.call(example.request(text).replace(b'"text"', b'"\\u0074ext"'))

    assert status == 0
    assert {name: answer[name] for name in expected} == expected


@pytest.mark.parametrize(("levels", "reads"), [(63, True), (64, False)], ids=["64 levels", "65 levels"])
def test_it_reads_sixty_four_levels_and_no_more(levels: int, reads: bool, example: Example) -> None:
    """Depth 64 is well-formed and fails as an unknown field; depth 65 fails in the reader, for another reason."""
    field = b'a", "n": ' + b"[" * levels + b"]" * levels + b', "m": "'

    unknown = example.call(example.request(b'a", "n": "'))[1]
    deep = example.call(example.request(field))[1]

    assert deep["ok"] is False
    assert (deep["error"] == unknown["error"]) is reads
