"""What the pages tell their readers to type works, and prints what they say it prints."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.pages import Command, follow, problems, steps

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
USE = ROOT / "docs" / "how-to" / "use-a-capability.md"  # installs a package, so it needs an environment of its own
HOW_TO = sorted(set((ROOT / "docs" / "how-to").glob("*.md")) - {USE})
TUTORIALS = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
PRIVATE = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "LOOPX_RUNTIME_ROOT", "XDG_RUNTIME_DIR", "VIRTUAL_ENV")


def environment(place: Path, programs: Path) -> dict[str, str]:
    """Return this process's environment with private places and `programs` first on PATH."""
    kept = {name: value for name, value in os.environ.items() if name not in PRIVATE}
    return {
        **kept,
        "PATH": f"{programs}:{os.environ.get('PATH', os.defpath)}",
        "XDG_STATE_HOME": str(place / "home" / "state"),
        "XDG_CACHE_HOME": str(place / "home" / "cache"),
    }


@pytest.mark.parametrize("page", [ROOT / "README.md", *HOW_TO], ids=lambda page: page.name)
def test_the_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    assert follow(page, tmp_path, environment(tmp_path, BIN)) == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [*TUTORIALS, USE], ids=lambda page: page.name)
def test_the_page_works_from_a_bare_checkout(page: Path, tmp_path: Path) -> None:
    for name in ("loopx_host", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    pip = {
        "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip")),
        "PIP_CONSTRAINT": "constraints.txt",
        "PIP_BUILD_CONSTRAINT": "constraints.txt",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
    }

    wrong = follow(page, tmp_path, {**environment(tmp_path, Path(sys.base_prefix) / "bin"), **pip})

    assert wrong == []


PAGE = """\
Text.

```toml file=a/b.toml
key = 1
```

```console
$ cat a/b.toml
key = 1
$ printf 'one\\n' \\
    'two\\n'
one
```

```console not-run
$ false
```

```json
{"neither": "written nor typed"}
```
"""


def test_blocks_become_files_and_commands() -> None:
    found = list(steps(PAGE))

    assert [step.file for step in found] == ["a/b.toml", None]
    assert found[0].body == "key = 1\n"
    assert [command.text for command in found[1].commands] == ["cat a/b.toml", "printf 'one\\n' \\\n    'two\\n'"]
    assert [command.expected for command in found[1].commands] == [["key = 1"], ["one"]]


def test_a_page_that_is_right_has_no_problem(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")

    assert follow(page, tmp_path, environment(tmp_path, BIN)) == []


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        (["two"], "one\nstatus 0"),
        (["one", "two"], "two\none\nstatus 0"),
        (["one"], "one more\nstatus 0"),
        ([], "one\nstatus 1"),
        (["one … three"], "one two\nstatus 0"),
    ],
)
def test_output_or_status_that_differs_is_a_problem(expected: list[str], output: str) -> None:
    assert len(problems(Command("command", expected), output)) == 1


@pytest.mark.parametrize("expected", [["…"], ["one"], ["…", "three"], ["o…e", "…", "three"], []])
def test_output_may_hold_more_than_the_page_shows(expected: list[str]) -> None:
    assert problems(Command("command", expected), "one\ntwo\nthree\nstatus 0") == []
