"""The plugin in a pytest of its own, over an honest provider and over bad ones."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from loopx_host import conformance

pytest_plugins = ["pytester"]

SHEBANG = f"#!{sys.executable}\n"
HONEST = """\
import json, sys
def unique(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)
if sys.argv[1:] == ["--doctor"]:
    raise SystemExit(0)
try:
    ((field, name),) = json.loads(sys.stdin.buffer.read(), object_pairs_hook=unique).items()
    if field != "name" or not isinstance(name, str):
        raise ValueError(field)
except (ValueError, AttributeError, RecursionError):
    print(json.dumps({"ok": False, "error": "a name is needed"}))
    raise SystemExit(1)
print(json.dumps({"ok": True, "message": f"Hello, {name}!"}))
"""
BAD = {
    "doctor_passes": ("raise SystemExit(0)", "raise SystemExit(3)"),
    "bytes_that_are_not_json": (
        'print(json.dumps({"ok": False, "error": "a name is needed"}))\n    raise SystemExit(1)',
        "name = 1",
    ),
    "example_succeeds": ('print(json.dumps({"ok": True', "print('loading…'); print(json.dumps({\"ok\": True"),
    "failures_are_objects": ('"a name is needed"}))', '"a name is needed"}) + "}")'),
    "duplicate_key_request": ("len(dict(pairs)) != len(pairs)", "False"),
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    (folder / "examples").mkdir(parents=True)
    (folder / "examples/request.json").write_text(json.dumps({"name": "world"}))
    (folder / "extension.toml").write_text(
        textwrap.dedent("""\
        schema_version = "loopx_extension_manifest_v0"
        id = "greeter"
        version = "1.0"
        requires_loopx_api = "1"
        [runtime]
        protocol = "greeter_v0"
        entrypoint = "./greeter"
        doctor_args = ["--doctor"]
        timeout_seconds = 10
        """)
    )
    _write(folder, HONEST)
    return folder


def _write(folder: Path, provider: str) -> None:
    program = folder / "greeter"
    program.write_text(provider if provider.startswith("#!") else SHEBANG + provider, encoding="utf-8")
    program.chmod(0o755)


def test_an_honest_provider_passes_every_rule(pytester: pytest.Pytester, package: Path) -> None:
    result = pytester.runpytest_subprocess("--loopx-conformance", str(package))

    outcomes = result.parseoutcomes()
    assert outcomes.get("failed", 0) == 0
    assert outcomes["passed"] >= 20


@pytest.mark.parametrize("rule", BAD)
def test_a_bad_provider_fails_the_rule_it_breaks(pytester: pytest.Pytester, package: Path, rule: str) -> None:
    _write(package, HONEST.replace(*BAD[rule]))

    result = pytester.runpytest_subprocess("--loopx-conformance", str(package), "-rf")

    result.stdout.fnmatch_lines([f"FAILED *{rule}*"])


def test_the_fixture_runs_one_request(pytester: pytest.Pytester, package: Path) -> None:
    pytester.makepyfile(f"""
        def test_it_greets(run_extension):
            receipt = run_extension({str(package / "extension.toml")!r}, {{"name": "world"}})
            assert receipt["provider_result"]["message"] == "Hello, world!"
    """)

    result = pytester.runpytest_subprocess()

    result.assert_outcomes(passed=1)


def test_without_the_option_it_adds_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): assert True")

    result = pytester.runpytest_subprocess()

    result.assert_outcomes(passed=1)


def test_a_path_without_a_package_is_a_usage_error_in_words(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--loopx-conformance", "nowhere")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --loopx-conformance nowhere: *manifest_unreadable*"])
    assert "Traceback" not in result.stderr.str()


def test_a_provider_that_cannot_be_run_fails_every_rule_with_the_refusal(
    pytester: pytest.Pytester, package: Path
) -> None:
    (package / "greeter").unlink()

    result = pytester.runpytest_subprocess("--loopx-conformance", str(package))

    assert result.parseoutcomes().get("passed", 0) == 0
    result.stdout.fnmatch_lines(["*entrypoint_missing*"])
    assert "Traceback" not in result.stdout.str()


def test_rules_can_be_chosen_by_keyword(pytester: pytest.Pytester, package: Path) -> None:
    result = pytester.runpytest_subprocess("--loopx-conformance", str(package), "-k", "doctor_passes")

    assert result.parseoutcomes()["passed"] == 1


@pytest.mark.parametrize(("group", "rule"), [("friendly", "doctor_passes"), ("hostile", "ends_when_asked")])
def test_a_group_of_rules_can_be_chosen_by_keyword(
    pytester: pytest.Pytester, package: Path, group: str, rule: str
) -> None:
    result = pytester.runpytest_subprocess("--loopx-conformance", str(package), "-k", group, "--collect-only", "-q")

    chosen = [line.rpartition("::")[2] for line in result.outlines if "::" in line]
    every = [row["rule"] for row in conformance(str(package), execute=False)["rules"]]
    assert rule in chosen
    assert len(chosen) == len(every) / 2


def test_several_packages_are_held_to_the_rules_in_one_run(pytester: pytest.Pytester, package: Path) -> None:
    other = package.with_name("other")
    shutil.copytree(package, other)
    _write(other, HONEST.replace(*BAD["doctor_passes"]))
    options = [word for one in (package, other) for word in ("--loopx-conformance", str(one))]

    result = pytester.runpytest_subprocess(*options, "-k", "doctor_passes")

    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"]) == (1, 1)


def test_rules_without_an_example_are_skipped_visibly(pytester: pytest.Pytester, package: Path) -> None:
    shutil.rmtree(package / "examples")

    result = pytester.runpytest_subprocess("--loopx-conformance", str(package), "-rs")

    result.stdout.fnmatch_lines(["SKIPPED [[]7[]]*examples/request.json*"])


def test_choosing_tests_starts_no_provider(pytester: pytest.Pytester, package: Path) -> None:
    canary = package / "started"
    _write(package, f"#!/bin/sh\n: > '{canary}'\n")

    pytester.runpytest_subprocess("--loopx-conformance", str(package), "--collect-only")

    assert not canary.exists()


def test_the_fixture_raises_a_refusal(pytester: pytest.Pytester, package: Path) -> None:
    (package / "greeter").unlink()
    pytester.makepyfile(f"""
        import pytest
        from loopx_host import Refused
        def test_it_is_refused(run_extension):
            with pytest.raises(Refused) as caught:
                run_extension({str(package / "extension.toml")!r}, {{}})
            assert caught.value.code == "entrypoint_missing"
    """)

    result = pytester.runpytest_subprocess()

    result.assert_outcomes(passed=1)


def test_the_fixture_touches_no_state_of_whoever_runs_the_tests(
    pytester: pytest.Pytester, package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOOPX_RUNTIME_ROOT", str(tmp_path / "state"))
    pytester.makepyfile(f"""
        def test_it_greets(run_extension):
            assert run_extension({str(package / "extension.toml")!r}, {{"name": "world"}})["ok"]
    """)

    result = pytester.runpytest_subprocess()

    result.assert_outcomes(passed=1)
    assert not (tmp_path / "state").exists()
