"""References of a call and the package's own check: exactly what the operation asks for, and never more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.capabilities import (
    Station,
    operation,
)
from tests.support.cli import Answer
from tests.support.packages import write

EXIT_FAILED, EXIT_REFUSED = 1, 2
CHECK = """\
from loopx_host import hookimpl

@hookimpl
def loopx_check_invocation(request):
    {body}
"""


@pytest.fixture
def station(tmp_path: Path) -> Station:
    """An environment with one installed extension that serves the capability `weather`; no goal is bound."""
    return Station(tmp_path).served()


def refused(answer: Answer, code: str) -> dict[str, Any]:
    assert (answer.status, answer.code) == (EXIT_REFUSED, code), answer
    return answer.document


@pytest.mark.req("M071")
@pytest.mark.parametrize(
    "flags",
    [(), ("--ref", "repo={}", "--ref", "more={}"), ("--ref", "other={}"), ("--ref", "repo={}/gone")],
    ids=["missing", "extra", "another name", "not there"],
)
def test_references_are_exactly_those_the_operation_asks_for(station: Station, flags: tuple[str, ...]) -> None:
    station.bound()

    answer = station.invoke("", *(flag.format(station.folder) for flag in flags), reference=None)

    refused(answer, "reference_invalid")
    assert station.starts == []


def test_a_reference_is_given_as_the_real_place_of_a_directory_file_or_link(station: Station) -> None:
    station.bound()
    (station.folder / "link").symlink_to("inside")
    seen = (
        "refs = request['context_refs']\n"
        "observations = [{'kind': one['name'], 'at': one['path'].rpartition('/')[2]} for one in refs]"
    )

    answers = [station.invoke(seen, reference=name).document for name in ("inside", "beside.txt", "link")]

    said = [one["provider_result"]["observations"] for one in answers]
    assert said == [[{"kind": "repo", "at": name}] for name in ("inside", "beside.txt", "inside")]


@pytest.mark.req("B6", "M071")
@pytest.mark.parametrize("kind", ["directory", "file", "link"])
def test_a_provider_reads_exactly_the_reference_and_nothing_beside_it(station: Station, kind: str) -> None:
    station.bound()
    write(station.root / "home/.netrc", "private")
    (station.folder / "link").symlink_to("inside")
    reference = {"directory": "inside", "file": "beside.txt", "link": "link"}[kind]
    granted = station.folder / ("beside.txt" if kind == "file" else "inside/notes.txt")
    other = station.folder / ("inside/notes.txt" if kind == "file" else "beside.txt")
    tried = [granted, other, station.folder, station.root / "home/.netrc", station.root / "home", "/etc/passwd"]
    code = (
        f"tried = {[str(path) for path in tried]!r}\n"
        "observations = [{'ended': [reach(path) for path in tried]}]\n"
        "try: open(tried[0], 'a').close(); observations[0]['written'] = True\n"
        "except OSError as error: observations[0]['written'] = errno.errorcode[error.errno]\n"
    )

    answer = station.invoke(code, reference=reference, env={"LOOPX_CONTAINMENT": "contained"})

    assert answer.status == 0, answer
    (seen,) = answer.document["provider_result"]["observations"]
    assert seen["ended"] == ["read", *["EACCES"] * 5]
    assert seen["written"] == "EACCES"


@pytest.mark.req("B6")
def test_a_reference_that_an_operation_does_not_ask_for_opens_nothing(tmp_path: Path) -> None:
    station = Station(tmp_path).served("station", operation(permission="note.read")).bound()
    code = f"observations = [{{'ended': reach({str(station.folder / 'inside/notes.txt')!r})}}]"

    answer = station.invoke(code, reference=None, env={"LOOPX_CONTAINMENT": "contained"})

    assert answer.document["provider_result"]["observations"] == [{"ended": "EACCES"}]


@pytest.mark.req("X10")
def test_a_denial_of_the_package_s_own_check_starts_nothing(tmp_path: Path) -> None:
    station = Station(tmp_path).served(hooks=CHECK.format(body="return {'deny': 'not today'}")).bound()

    refused(station.invoke(), "domain_check_denied")

    assert station.starts == []


@pytest.mark.req("X10")
def test_the_package_s_own_check_shortens_the_time(tmp_path: Path) -> None:
    station = Station(tmp_path).served(hooks=CHECK.format(body="return {'timeout_seconds': 0.5}")).bound()

    answer = station.invoke("time.sleep(600)")

    assert answer.document["failure_kind"] == "timeout"


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    "body",
    ["raise ValueError", "return {'allow': True}", "return {'timeout_seconds': -1}", "import os; os._exit(0)"],
)
def test_a_check_that_fails_or_widens_starts_nothing(tmp_path: Path, body: str) -> None:
    station = Station(tmp_path).served(hooks=CHECK.format(body=body)).bound()

    refused(station.invoke(), "plugin_hook_failed")

    assert station.starts == []


@pytest.mark.req("X10")
def test_what_a_check_does_to_the_request_changes_no_call(tmp_path: Path) -> None:
    body = "request['input']['code'] = 'sys.exit(9)'; request['goal_id'] = 'g2'"
    station = Station(tmp_path).served(hooks=CHECK.format(body=body)).bound()

    assert station.invoke().document["status"] == "succeeded"


def test_the_check_is_not_asked_by_a_preview(tmp_path: Path) -> None:
    station = Station(tmp_path)
    body = f"open({str(station.root / 'asked')!r}, 'w').close()"
    station.served(hooks=CHECK.format(body=body)).bound()

    station.invoke(execute=False)
    before = (station.root / "asked").exists()
    station.invoke()

    assert (before, (station.root / "asked").exists()) == (False, True)
