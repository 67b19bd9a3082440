"""The one place that sends a provider a request: the last look before it, and the last look after."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.lifecycle.dispatch.call_provider import (
    call_provider,
    declared_schemas,
    parse_request,
    provider_to_call,
)
from loopx_host.lifecycle.dispatch.launch import CallGrants
from loopx_host.lifecycle.extensions.readiness import ReadyProvider, readiness
from tests.support.fakes import PROGRAM, Script, World, code_of, refusal_of

SCHEMAS = {"request.json": '{"type": "object"}', "response.json": '{"type": "array"}'}
NODE = '[runtime.requires]\nnode = ">=24"\n'


def ready(world: World) -> ReadyProvider:
    found = readiness(world.entry(), world.packages).provider
    assert found is not None
    return found


def called(world: World, grants: CallGrants | None = None, **settings: Any) -> Any:
    return call_provider(ready(world), b'{"x": 1}', grants, world, **settings)


def test_a_call_is_one_process_with_the_exact_request_and_the_grants_of_the_caller() -> None:
    world = World(Script(stdout=b'{"n": 1}')).holding()

    outcome = called(world, CallGrants(["fs.read:repo"], {"repo": "/made/up/repo"}))

    (launch,) = world.processes.launches
    assert (outcome.status, outcome.result, outcome.ended.stdout) == ("succeeded", {"n": 1}, b'{"n": 1}')
    assert (launch.argv, launch.stdin) == ([PROGRAM, "--serve"], b'{"x": 1}')
    assert (launch.grants.permissions, launch.grants.references) == (["fs.read:repo"], {"repo": "/made/up/repo"})
    assert launch.bytecode_to is None


def test_a_call_without_grants_may_do_nothing_beyond_running() -> None:
    world = World().holding()

    called(world)

    (launch,) = world.processes.launches
    assert (launch.grants.permissions, launch.grants.references) == ([], {})


@pytest.mark.parametrize(("asked", "given"), [(None, 20), (3.5, 3.5), (20.5, 20)])
def test_a_caller_only_shortens_the_timeout(asked: float | None, given: float) -> None:
    world = World().holding()

    called(world, seconds=asked)

    assert world.processes.launches[0].limits.timeout_seconds == given


def test_a_bare_host_calls_nothing() -> None:
    world = World().holding()
    world.is_off = True

    refusal = refusal_of(lambda: called(world))

    assert (refusal.code, refusal.diagnostic.subject) == ("extensions_off", "loopx")
    assert world.processes.launches == []


def test_an_answer_of_a_program_that_changed_while_it_ran_is_not_trusted() -> None:
    world = World().holding()
    world.processes.script = Script(
        stdout=b'{"ok": true}', meanwhile=lambda: world.packages.programs.update({PROGRAM: "second"})
    )

    refusal = refusal_of(lambda: called(world))

    assert (refusal.code, refusal.diagnostic.subject) == ("changed_during_run", "probe-me")
    assert refusal.diagnostic.next_command == ("extension", "doctor", "probe-me", "--execute")
    assert refusal.blocks["containment"] == {"rung": "made-up"}
    assert "launcher" in refusal.diagnostic.summary


def test_five_changed_files_are_named_and_no_more() -> None:
    world = World().holding()
    provider = ready(world)
    names = [f"file-{number}" for number in range(7)]
    world.packages.written = names

    refusal = refusal_of(lambda: call_provider(provider, b"{}", None, world))

    assert [name for name in names if name in refusal.diagnostic.summary] == names[:5]


# --- the request -----------------------------------------------------------------------------------------------


def test_a_request_of_exactly_the_limit_is_parsed() -> None:
    assert parse_request(b"{}" + b" " * 999_998) == {}


def test_a_request_that_is_too_large_is_refused_for_its_size() -> None:
    refusal = refusal_of(lambda: parse_request(b"{}" + b" " * 999_999))

    assert (refusal.code, refusal.diagnostic.subject) == ("request_too_large", "request")
    assert "1000000" in refusal.diagnostic.summary


def test_a_request_that_is_not_strict_json_is_refused_with_its_violation() -> None:
    refusal = refusal_of(lambda: parse_request(b"[]"))

    assert (refusal.code, refusal.diagnostic.subject) == ("request_invalid", "request")
    assert refusal.blocks["violation"] == "not_an_object"


# --- the schemas -----------------------------------------------------------------------------------------------


def with_schemas(*names: str) -> World:
    runtime = "\n".join(f'{name}_schema = "{name}.json"' for name in names)
    world = World().holding(runtime=runtime, files={f"{name}.json": SCHEMAS[f"{name}.json"] for name in names})
    for revision in world.entry().revisions:
        world.store.schemas |= dict.fromkeys(revision.schemas, b"{}")
    return world


def judge(world: World) -> Any:
    return declared_schemas("probe-me", world.entry().manifest.runtime, world)


def test_a_runtime_without_schemas_has_nothing_to_judge_by() -> None:
    assert judge(with_schemas()) is None
    assert declared_schemas("probe-me", None, World()) is None


@pytest.mark.parametrize("names", [["request"], ["response"], ["request", "response"]])
def test_what_a_schema_says_of_a_request_refuses_it_and_of_a_response_is_in_the_outcome(names: list[str]) -> None:
    world = with_schemas(*names)
    rows: list[Any] = [{"pointer": "/x", "message": "is odd"}]
    world.judging.verdict = rows
    schemas = judge(world)

    if "request" in names:
        refusal = refusal_of(lambda: schemas.refuse_request({"x": 1}))
        assert (refusal.code, refusal.diagnostic.subject) == ("request_schema", "probe-me")
        assert refusal.blocks["violations"] == rows
        assert "/x" in refusal.diagnostic.summary
        assert "is odd" in refusal.diagnostic.summary
    else:
        schemas.refuse_request({"x": 1})
    world.judging.judged.clear()
    world.processes.script = Script(stdout=b'{"x": 2}')
    outcome = called(world, schemas=schemas)
    if "response" in names:
        assert (outcome.status, outcome.failure_kind) == ("invalid_provider_output", "response_schema")
        assert (outcome.violations, outcome.result) == (rows, {"x": 2})
        assert "/x" in outcome.error
        assert "is odd" in outcome.error
        assert world.judging.judged == [{"x": 2}]
    else:
        assert (outcome.status, outcome.violations, world.judging.judged) == ("succeeded", [], [])


def test_a_violation_of_the_whole_is_at_the_root() -> None:
    world = with_schemas("request", "response")
    world.judging.verdict = [{"pointer": "", "message": "is odd"}]
    schemas = judge(world)

    outcome = called(with_output(world), schemas=schemas)

    assert " / " in f"{outcome.error} ".replace(":", " ")
    assert "at /:" in refusal_of(lambda: schemas.refuse_request({})).diagnostic.summary


def with_output(world: World) -> World:
    world.processes.script = Script(stdout=b"{}")
    return world


def test_what_could_not_be_judged_in_time_counts_as_a_violation() -> None:
    world = with_schemas("request", "response")
    world.judging.verdict = None
    schemas = judge(world)

    assert code_of(lambda: schemas.refuse_request({})) == "request_schema"
    assert called(with_output(world), schemas=schemas).failure_kind == "response_schema"


@pytest.mark.parametrize("kept", [{}, {"bytes": b"{"}], ids=["gone", "no schema"])
def test_a_schema_that_is_no_longer_kept_is_refused_and_leads_to_another_install(kept: dict[str, bytes]) -> None:
    world = with_schemas("request")
    world.store.schemas = dict.fromkeys(world.store.schemas, kept["bytes"]) if kept else {}

    refusal = refusal_of(lambda: judge(world).refuse_request({}))

    assert (refusal.code, refusal.diagnostic.subject) == ("schema_missing", "probe-me")
    assert refusal.diagnostic.next_command == ("extension", "uninstall", "probe-me")


# --- whether it may be called --------------------------------------------------------------------------------------


def test_a_ready_provider_may_be_called() -> None:
    world = World().holding()
    now = readiness(world.entry(), world.packages)

    assert provider_to_call(now, world.packages, may_start=True) is now.provider


def test_what_is_not_ready_may_not_and_says_why() -> None:
    world = World().holding(enabled=False)

    found = provider_to_call(readiness(world.entry(), world.packages), world.packages, may_start=True)

    assert getattr(found, "code", None) == "extension_disabled"


@pytest.mark.parametrize(("may_start", "code"), [(True, "node_unavailable"), (False, None)])
def test_a_prerequisite_is_asked_for_its_version_only_where_something_may_be_started(
    may_start: bool, code: str | None
) -> None:
    world = World().holding(runtime=NODE)
    world.packages.prerequisites = {"node": ("/opt/node/bin/node", "22.0.0")}

    found = provider_to_call(readiness(world.entry(), world.packages), world.packages, may_start=may_start)

    assert getattr(found, "code", None) == code
