"""The embedding API (extension-formats, *Embedding*): its documents, refusals and time limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import Loopx, Place, await_end
from tests.support.embedding import embed
from tests.support.puppets import install_puppets


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return install_puppets(tmp_path_factory.mktemp("puppets"))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


def test_a_program_lists_and_runs_and_gets_the_documents_of_the_command_line(puppets: Loopx, place: Place) -> None:
    told = embed(puppets, place, "tell(list=host.list(), run=host.run('puppet', request('answer(n=1)')))")

    printed = puppets.run("puppet", place.request("answer(n=1)")).document
    assert told["list"] == puppets("extension", "list").document
    assert told["run"].keys() == printed.keys()
    moving = ("at", "run_id", "duration_ms", "containment", "request_sha256")
    assert {key: told["run"][key] for key in printed if key not in moving} == {
        key: printed[key] for key in printed if key not in moving
    }


def test_a_failing_provider_is_a_receipt_and_no_exception(puppets: Loopx, place: Place) -> None:
    told = embed(puppets, place, "tell(**host.run('puppet', request('sys.exit(3)')))")

    assert (told["ok"], told["failure_kind"], told["exit_code"]) == (False, "exit_nonzero", 3)


def test_a_refusal_carries_the_document_of_the_command_line(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        """
        try:
            host.run("nobody", {})
        except Refused as refused:
            tell(**refused.document)
        """,
    )

    printed = puppets.run("nobody", {}).document
    assert {**told, "next_command": None} == {**printed, "next_command": None}
    assert str(puppets.state_file) in told["next_command"]


@pytest.mark.parametrize(
    "request_source", ["{'a': float('nan')}", "{'a': object()}", "{'a': '\\ud800'}", "{'a': {1}}"]
)
def test_a_request_without_a_json_form_is_refused(puppets: Loopx, place: Place, request_source: str) -> None:
    told = embed(
        puppets,
        place,
        f"""
        try:
            host.run("puppet", {request_source})
        except Refused as refused:
            tell(**refused.document)
        """,
    )

    assert told["code"] == "request_invalid"


@pytest.mark.parametrize("timeout", ["0.4", "0", "-1", "-1000"])
def test_a_timeout_shortens_that_of_the_manifest(puppets: Loopx, place: Place, timeout: str) -> None:
    told = embed(puppets, place, f"tell(**host.run('puppet', request('stay()'), timeout={timeout}))")

    assert told["failure_kind"] == "timeout"


@pytest.mark.parametrize("timeout", ["100000", "float('inf')"])
def test_a_timeout_never_lengthens_that_of_the_manifest(puppets: Loopx, place: Place, timeout: str) -> None:
    told = embed(puppets, place, f"tell(**host.run('brief', request('stay()'), timeout={timeout}))")

    assert told["failure_kind"] == "timeout"


def test_a_keyboard_interrupt_in_the_program_ends_the_provider(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        """
        try:
            host.run("puppet", request(f"record('leader')\\nos.kill({os.getpid()}, signal.SIGINT)\\nstay()"))
        except KeyboardInterrupt:
            tell(raised=True, directories=os.listdir(os.environ["XDG_RUNTIME_DIR"]))
        """,
    )

    assert told == {"raised": True, "directories": []}
    assert (place.recorded(), await_end(place)) == (["leader"], [])


def test_a_host_is_opened_without_reading_or_making_anything(tmp_path: Path, place: Place) -> None:
    loopx = Loopx(tmp_path / "loopx")

    told = embed(loopx, place, "tell(done=True)")

    assert told == {"done": True}
    assert not loopx.state_file.exists()
    assert list((tmp_path / "loopx/home").iterdir()) == []


@pytest.mark.parametrize("descriptors", [6, 12, 13])
def test_a_program_short_of_descriptors_gets_an_answer_and_leaves_no_process(
    puppets: Loopx, place: Place, descriptors: int
) -> None:
    told = embed(
        puppets,
        place,
        f"""
        import resource
        host.run("puppet", request("answer()"))
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, ({descriptors}, hard))
        before = os.listdir("/proc/self/fd")
        try:
            kind = host.run("puppet", request("record('leader')\\nanswer()"))["failure_kind"]
        except Refused as refused:
            kind = refused.code
        except OSError as error:
            kind = "raised " + type(error).__name__
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        left = os.listdir(os.environ["XDG_RUNTIME_DIR"])
        tell(kind=kind, leaked=len(os.listdir("/proc/self/fd")) - len(before), left=left)
        """,
    )

    assert told["kind"] in (
        None,
        "no_processes",
        "start_failed",
        "state_unreadable",
        "entrypoint_missing",
        "readiness_stale",
    )
    assert (told["leaked"], told["left"]) == (0, [])
    assert await_end(place) == []
