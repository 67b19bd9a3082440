"""Where few files may be open, a run succeeds or is refused for just that; no provider is blamed."""

from __future__ import annotations

import resource

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.levels import NOBODY_ASKS
from tests.support.providers import ECHO

pytestmark = NOBODY_ASKS

LEAST, ENOUGH = 4, 40


@pytest.fixture(scope="module")
def loopx(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    made = Loopx(tmp_path_factory.mktemp("few"))
    made.make_extension("echo", ECHO)
    return made


def bounded(loopx: Loopx, files: int, *words: str) -> Answer:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    return loopx(*words, stdin=b"{}", preexec_fn=limit)


@pytest.mark.parametrize(
    "words",
    [("run", "echo", "--input-json", "-", "--execute"), ("doctor", "echo", "--execute"), ("list",)],
    ids=["run", "doctor", "list"],
)
def test_every_number_of_files_leads_to_an_answer_or_to_its_own_refusal(loopx: Loopx, words: tuple[str, ...]) -> None:
    before = loopx.state_file.read_bytes()
    wrong: dict[int, Answer] = {}
    for files in range(LEAST, ENOUGH):
        answer = bounded(loopx, files, "extension", *words)

        told = answer.document.get("code") if answer.stdout else ""
        refused = answer.status == 75 and (told == "no_processes" or b"[no_processes]" in answer.stderr)
        starved = answer.status == 1 and not answer.stdout  # the interpreter itself did not come up
        if not (answer.status == 0 or refused or starved) or b"loopx_host" in answer.stderr:
            wrong[files] = answer

    assert wrong == {}
    assert bounded(loopx, ENOUGH, "extension", *words).status == 0
    assert "doctor" in words or loopx.state_file.read_bytes() == before
    assert loopx("extension", "list").document["extensions"][0]["ready"] is True
    assert loopx.private_directories() == []
