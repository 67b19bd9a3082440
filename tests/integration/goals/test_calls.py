"""A bound capability is called under an envelope, or refused with the command that helps (cases 111 to 122)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.capabilities import (
    EXTERNAL_WRITE,
    IMPLEMENTS,
    PROVIDER,
    Station,
    effects,
    operation,
    profile,
    provides,
)
from tests.support.cli import Answer
from tests.support.levels import LEAVES_MARKS
from tests.support.lifecycle import words
from tests.support.packages import manifest, write

EXIT_FAILED, EXIT_REFUSED = 1, 2


@pytest.fixture
def station(tmp_path: Path) -> Station:
    """An environment with one installed extension that serves the capability `weather`; no goal is bound."""
    return Station(tmp_path).served()


def refused(answer: Answer, code: str) -> dict[str, Any]:
    assert (answer.status, answer.code) == (EXIT_REFUSED, code), answer
    return answer.document


def bindings(station: Station) -> bytes | None:
    found = [path for path in station.root.rglob("bindings.json") if path.is_file()]
    return found[0].read_bytes() if found else None


def follow(station: Station, document: dict[str, Any]) -> Answer:
    """Run the command that a refusal suggests."""
    suggested = [word for word in words(document["next_command"]) if word not in ("--format", "json")]
    cut = suggested.index("--state-file")
    return station(*suggested[:cut], *suggested[cut + 2 :])


def test_a_goal_that_is_not_bound_calls_nothing(station: Station) -> None:
    """wrong goal (case 114)"""
    station.bound()

    refused(station.invoke(goal="g2"), "binding_missing")
    assert station.starts == []


def test_an_operation_that_is_not_bound_is_not_called_and_the_suggested_command_binds_it(tmp_path: Path) -> None:
    """invoke_operation_not_enabled (case 114)"""
    station = Station(tmp_path).served("station", operation("inspect"), operation("list")).bound()

    document = refused(station.invoke(operation="list"), "operation_not_bound")
    starts = station.starts
    preview = follow(station, document)

    assert starts == []
    assert preview.document["binding"]["operations"] == ["inspect", "list"]


@pytest.mark.parametrize(
    "goal", [b"g\xff", "g\x1b[31m", "g\n1", "g" * 200], ids=["not UTF-8", "escape", "line", "long"]
)
def test_a_goal_id_that_is_no_line_of_plain_text_is_refused(station: Station, goal: str | bytes) -> None:
    answer = station("capability", "bind", "weather", "--goal-id", goal, "--operation", "inspect", "--execute")

    refused(answer, "goal_invalid")


@pytest.mark.req("X17")
def test_a_call_and_its_preview_name_the_distribution_that_is_called(station: Station) -> None:
    station.bound()

    shown = [station.invoke(execute=execute).document["owner"] for execute in (False, True)]

    assert shown == [{"name": "station-package", "version": "1.0"}] * 2


@LEAVES_MARKS
def test_a_call_passes_the_result_on_with_what_was_called(station: Station) -> None:
    station.bound()

    answer = station.invoke("observations = [{'path': 'src/app.py', 'lines': 3}]")

    document = answer.document
    assert answer.status == 0
    assert document["schema_version"] == "loopx_external_domain_capability_invocation_v0"
    assert (document["status"], document["effect_class"]) == ("succeeded", "read_only")
    assert document["provider_result"]["observations"] == [{"path": "src/app.py", "lines": 3}]
    assert document["effects"] == effects()
    assert station.starts == ["station"]


def test_a_preview_of_a_call_starts_nothing(station: Station) -> None:
    station.bound()

    answer = station.invoke(execute=False)

    assert (answer.status, answer.document["status"]) == (0, "ready")
    assert station.starts == []


def test_the_same_call_has_the_same_id_and_another_has_another(station: Station) -> None:
    """invoke_deterministic_id (case 115)"""
    station.bound()

    ids = [station.invoke(code).document["invocation_id"] for code in ("", "", "pass")]

    assert ids[0] == ids[1]
    assert ids[0] != ids[2]


def test_the_envelope_a_provider_sees_is_that_of_its_call(station: Station) -> None:
    """envelope_exact (case 120)"""
    station.bound()

    seen = station.invoke("observations = [{'envelope': request['execution_envelope']}]").document

    envelope = seen["provider_result"]["observations"][0]["envelope"]
    assert envelope == {
        "schema_version": "loopx_extension_execution_envelope_v0",
        "action": "capability.invoke:weather.inspect",
        "scope": {"goal_id": "g1", "capability_id": "weather", "operation": "inspect", "references": ["repo"]},
        "extension": {"id": "station", "revision": seen["provider"]["revision"]},
        "request_digest": seen["request_digest"],
    }


@pytest.mark.req("M071", "X10")
@pytest.mark.parametrize("moved", ["revision", "profile"])
def test_a_provider_that_moved_since_the_binding_is_not_called(tmp_path: Path, moved: str) -> None:
    """invoke_drift (case 113)"""
    station = Station(tmp_path).served()
    if moved == "profile":  # that of whoever declares the capability; the provider itself stays as it is
        station.served("other", top=IMPLEMENTS.format(id="weather"))
        assert station.bind("--execute", "--provider", "other").status == 0
        station.put("station", operation("inspect"), operation("list"), version="2.0")
    else:
        station.bound()
        station.put("station", version="2.0")
    assert station("extension", "upgrade", "station", "--execute").status == 0

    document = refused(station.invoke(), "binding_drift")
    preview = refused(station.invoke(execute=False), "binding_drift")

    assert document["next_command"] == preview["next_command"]
    assert station.starts == []


def test_the_command_that_drift_suggests_binds_again(station: Station) -> None:
    """invoke_drift (case 113)"""
    station.bound()
    station.put("station", version="2.0")
    station("extension", "upgrade", "station", "--execute")
    suggested = words(refused(station.invoke(), "binding_drift")["next_command"])

    assert station(*suggested[: suggested.index("--state-file")], "--execute").document["status"] == "written"
    assert station.invoke().status == 0


def test_two_ready_providers_are_ambiguous_until_one_is_named_or_disabled(station: Station) -> None:
    """resolve_ambiguous (case 111)"""
    station.served("other", top=IMPLEMENTS.format(id="weather"))

    both = station.bind()
    named = station.bind("--provider", "other")
    station("extension", "disable", "other", "--execute")
    alone = station.bind()

    refused(both, "capability_ambiguous")
    assert named.document["binding"]["provider"]["extension_id"] == "other"
    assert alone.document["binding"]["provider"]["extension_id"] == "station"


@pytest.mark.req("M051")
def test_what_nobody_serves_is_unavailable(tmp_path: Path) -> None:
    document = refused(Station(tmp_path).bind(), "capability_unavailable")

    assert words(document["next_command"])[:2] == ["capability", "list"]


@pytest.mark.req("M051")
@pytest.mark.parametrize("state", ["disabled", "stale", "gone"])
def test_a_bound_capability_that_is_off_fails_closed_with_the_command_that_helps(
    station: Station, state: str
) -> None:
    station.bound()
    provider = station.site / "station/provider"
    if state == "disabled":
        station("extension", "disable", "station", "--execute")
    elif state == "stale":
        provider.write_text(provider.read_text("utf-8") + "# changed\n", "utf-8")
    else:
        provider.unlink()

    answer = station.invoke()

    expected = {"disabled": "extension_disabled", "stale": "readiness_stale", "gone": "entrypoint_missing"}
    assert words(refused(answer, expected[state])["next_command"])[0] == "extension"
    assert station.starts == []


@pytest.mark.req("X17")
@pytest.mark.parametrize("program", ["script", "shell"])
def test_a_command_that_no_package_carries_serves_no_capability(tmp_path: Path, program: str) -> None:
    station = Station(tmp_path)
    folder = station.root / "extensions/loose"
    text = PROVIDER.format(python=sys.executable, starts=str(station.starts_file), name="loose")
    entrypoint = str(write(folder / "provider", text)) if program == "script" else "/bin/sh"
    arguments: dict[str, Any] = (
        {} if program == "script" else {"args": ["-c", "echo {}"], "doctor_args": ["-c", "true"]}
    )
    top = 'permissions = ["fs.read:repo"]\n' + provides()
    write(folder / "extension.toml", manifest("loose", top=top, entrypoint=entrypoint, **arguments))
    write(folder / "profile.json", profile())
    installed = station.install(folder / "extension.toml")

    preview, executed = station.bind(), station.bind("--execute")

    assert installed.status == 0
    refused(preview, "provider_unowned")
    refused(executed, "provider_unowned")
    assert bindings(station) is None


@pytest.mark.req("X10")
@pytest.mark.parametrize("execute", [False, True])
def test_what_writes_to_the_outside_is_refused_and_its_provider_not_started(tmp_path: Path, execute: bool) -> None:
    """invoke_external_write_direct (case 118)"""
    station = Station(tmp_path).served("station", operation("send", effect=EXTERNAL_WRITE))
    station.bound(operations=("send",))

    refused(station.invoke(operation="send", execute=execute), "operations_unavailable")

    assert station.starts == []


@pytest.mark.req("X10", "M071")
def test_no_door_takes_a_read_that_would_be_given_a_permission_that_writes(tmp_path: Path) -> None:
    """The manifest, its validation, install and upgrade; a state that holds one already: see the unit tests."""
    station = Station(tmp_path)
    folder = tmp_path / "package"

    def say(token: str) -> None:
        write(folder / "extension.toml", manifest("pen", top=f'permissions = ["{token}"]\n{provides()}'))
        write(folder / "profile.json", profile(operation(permission=token)))

    path = str(folder / "extension.toml")
    write(folder / "provider", "#!/bin/sh\n")
    say("fs.read:out")
    assert station("extension", "install", "--manifest", path, "--execute").status == 0
    say("fs.write:out")
    changing = [(verb, "--manifest", path, *mode) for verb in ("install", "upgrade") for mode in ((), ("--execute",))]
    for door in (*changing, ("validate", path), ("validate", path, "--strict")):
        refused(station("extension", *door), "manifest_invalid")
