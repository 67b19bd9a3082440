"""install, doctor and run as a caller sees them: real command line, real provider processes."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Answer, Loopx, Place
from tests.support.providers import CANARY, ECHO, FLAGGED, PYTHON, SHELL

LIMIT = 1_000_000
CAPABILITY = """
[[provides]]
id = "new-thing"
kind = "read"
title = "A thing"
status = "available"
user_value = "It helps"
next_real_step = "Use it"
visibility = "internal"
"""
IMPLEMENTATION = '[[implements]]\ncapability_id = "new-thing"\nprotocol = "test_v0"\n'


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    """Installed once for the tests that only run: `puppet`, `echo`, `deaf`, and one declaring variables."""
    made = Loopx(tmp_path_factory.mktemp("puppets"))
    made.make_extension("puppet")
    made.make_extension("declares", env=["DECLARED", "DECLARED_BUT_NOT_SET"])
    made.make_extension("echo", ECHO)
    made.make_extension("deaf", SHELL + "[ $1 = --doctor ] || echo '{\"ok\": true}'\n")
    return made


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


def told(code: str) -> dict[str, object]:
    return {"code": code}


def write_all(number: int, expression: str) -> dict[str, object]:
    return told(f"data = {expression}\nwhile data: data = data[os.write({number}, data):]")


# The run: what a provider does and what it counts as


def test_a_preview_of_a_run_starts_nothing(loopx: Loopx, tmp_path: Path) -> None:
    """run_preview (case 75)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))

    answer = loopx("extension", "run", "canary", "--input-json", "-", stdin=b"{}")

    document = answer.document
    assert (answer.status, document["ok"], document["status"], document["executed"]) == (0, True, "ready", False)
    assert not canary.exists()
    assert loopx.private_directories() == []


def test_a_success_gives_the_providers_object_exactly(puppets: Loopx) -> None:
    """run_success (case 76)."""
    request = {"text": "grüße \U0001f600 \u2028", "list": [1, -2.5, None, True, {"": []}], "big": 10**40}

    answer = puppets.run("echo", request)

    document = answer.document
    assert (answer.status, document["status"], document["exit_code"]) == (0, "succeeded", 0)
    assert document["provider_result"] == {"ok": True, "asked": request}
    assert document["containment"]["survivors"] == 0


@pytest.mark.parametrize(
    ("code", "status", "kind", "exit_code"),
    [
        ("os.write(1, b'{\"ok\": false}')", "provider_failed", "provider_reported_failure", 0),
        ("os.write(1, b'{\"ok\": 1}')", "provider_failed", "provider_reported_failure", 0),
        ("answer(); sys.exit(3)", "provider_failed", "exit_nonzero", 3),
        ("raise ValueError", "provider_failed", "exit_nonzero", 1),
        ("os.kill(os.getpid(), 9)", "provider_failed", "signalled", None),
    ],
    ids=["ok_false", "ok_1", "nonzero_exit", "traceback", "signal"],
)
def test_a_provider_that_fails_is_told_apart(
    puppets: Loopx, code: str, status: str, kind: str, exit_code: int | None
) -> None:
    """run_provider_ok_false, run_nonzero_exit, run_crash_no_json (cases 77, 78, 79)."""
    answer = puppets.run("puppet", told(code))

    document = answer.document
    assert (answer.status, document["ok"], document["executed"]) == (1, False, True)
    assert (document["status"], document["failure_kind"], document["exit_code"]) == (status, kind, exit_code)


def test_the_tail_of_a_crash_is_bounded_and_redacted(puppets: Loopx) -> None:
    """run_crash_no_json (case 79)."""
    code = (
        "os.write(2, b'x' * 50000); os.write(2, b'\\x1b[31mpassword=hunter2hunter2\\n'); raise ValueError('the end')"
    )

    tail = puppets.run("puppet", told(code)).document["stderr_tail"]

    assert len(tail.encode()) <= 4096
    assert tail.endswith("ValueError: the end\n")
    assert "hunter2" not in tail
    assert "\x1b" not in tail


@pytest.mark.parametrize(
    "output",
    [
        b"[]",
        b"",
        b"{}{}",
        b"{}\n{}\n",
        b'{"a": "\xff"}',
        b"starting up\n{}",
        b"\xef\xbb\xbf{}",
        b'{"a":1,"a":1}',
        b"NaN",
    ],
    ids=repr,
)
def test_bad_output_is_told_as_such(puppets: Loopx, output: bytes) -> None:
    """run_bad_output (case 80)."""
    answer = puppets.run("puppet", write_all(1, repr(output)))

    document = answer.document
    assert (answer.status, document["status"]) == (1, "invalid_provider_output")
    assert document["failure_kind"] == "response_not_json_object"
    assert document["provider_result"] is None


# Limits, to the byte


@pytest.mark.req("X5")
def test_standard_output_of_exactly_the_limit_passes(puppets: Loopx) -> None:
    """run_stdout_limit (case 81)."""
    answer = puppets.run("puppet", write_all(1, f"b'{{\"a\":\"' + b'x' * {LIMIT - 8} + b'\"}}'"))

    assert answer.document["status"] == "succeeded"
    assert len(answer.document["provider_result"]["a"]) == LIMIT - 8


@pytest.mark.req("X5")
def test_one_byte_more_on_standard_output_fails(puppets: Loopx) -> None:
    """run_stdout_limit (case 81)."""
    answer = puppets.run("puppet", write_all(1, f"b'{{\"a\":\"' + b'x' * {LIMIT - 7} + b'\"}}'"))

    document = answer.document
    assert (answer.status, document["status"]) == (1, "provider_failed")
    assert document["failure_kind"] == "response_too_large"


def test_standard_error_of_exactly_the_limit_passes(puppets: Loopx) -> None:
    """run_stderr_limit (case 82)."""
    request = write_all(2, f"b'e' * {LIMIT}")

    answer = puppets.run("puppet", {"code": f"{request['code']}\nanswer()"})

    assert answer.document["status"] == "succeeded"


@pytest.mark.req("X5")
def test_one_byte_more_on_standard_error_fails(puppets: Loopx) -> None:
    """run_stderr_limit (case 82)."""
    request = write_all(2, f"b'e' * {LIMIT + 1}")

    answer = puppets.run("puppet", {"code": f"{request['code']}\nanswer()"})

    document = answer.document
    assert (answer.status, document["status"]) == (1, "provider_failed")
    assert document["failure_kind"] == "stderr_too_large"


def padded(size: int) -> bytes:
    return b'{"x": "' + b"y" * (size - 9) + b'"}'


@pytest.mark.parametrize("way", ["file", "stdin"])
def test_a_request_of_exactly_the_limit_is_run(puppets: Loopx, tmp_path: Path, way: str) -> None:
    """run_request_limit (case 87); the provider does not read it: run_unread_stdin (case 94)."""
    request = tmp_path / "request.json"
    request.write_bytes(padded(LIMIT))
    source = str(request) if way == "file" else "-"

    answer = puppets(
        "extension",
        "run",
        "deaf",
        "--input-json",
        source,
        "--execute",
        stdin=padded(LIMIT) if way == "stdin" else b"",
    )

    assert (answer.status, answer.document["status"]) == (0, "succeeded")


@pytest.mark.req("X6")
@pytest.mark.parametrize("execute", [(), ("--execute",)], ids=["preview", "executed"])
@pytest.mark.parametrize("extension_id", ["deaf", "not-installed"])
@pytest.mark.parametrize("way", ["file", "stdin"])
def test_a_request_one_byte_larger_is_refused_on_its_size_first(
    puppets: Loopx, tmp_path: Path, way: str, extension_id: str, execute: tuple[str, ...]
) -> None:
    """run_request_limit (case 87)."""
    request = tmp_path / "request.json"
    request.write_bytes(padded(LIMIT + 1))
    source = str(request) if way == "file" else "-"
    stdin = padded(LIMIT + 1) if way == "stdin" else b""

    answer = puppets("extension", "run", extension_id, "--input-json", source, *execute, stdin=stdin)

    assert (answer.status, answer.code) == (2, "request_too_large")


def test_an_endless_request_is_refused_while_it_is_read(puppets: Loopx) -> None:
    answer = puppets("extension", "run", "deaf", "--input-json", "/dev/zero", "--execute")

    assert (answer.status, answer.code) == (2, "request_too_large")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"[]",
        b"1",
        b"",
        b"{} trailing",
        b'{"a": "\xff"}',
        b'{"a": "\x01"}',
        b'{"a": 1, "a": 1}',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": 1e999}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"a": ' + b"1" * 5000 + b"}",
        b'{"a": "\\ud800"}',
    ],
    ids=lambda data: repr(data[:20]),
)
def test_a_request_that_is_not_strict_is_refused_before_a_start(
    loopx: Loopx, tmp_path: Path, request_bytes: bytes
) -> None:
    """run_request_shape, run_request_strict (cases 88, 89)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))

    answer = loopx.run("canary", request_bytes)

    assert (answer.status, answer.code) == (2, "request_invalid")
    assert b"Traceback" not in answer.stderr
    assert not canary.exists()


def test_a_provider_that_leaves_a_large_request_unread_completes(puppets: Loopx) -> None:
    """run_unread_stdin (case 94)."""
    answer = puppets.run("deaf", padded(900_000))

    assert (answer.status, answer.document["status"]) == (0, "succeeded")


def test_a_provider_that_closes_its_input_at_once_completes(puppets: Loopx) -> None:
    request = {"pad": "y" * 200_000, "code": "os.close(0); answer()"}

    answer = puppets.run("puppet", request)

    assert answer.document["status"] == "succeeded"


def test_output_without_a_line_feed_is_taken_to_its_end(puppets: Loopx) -> None:
    code = "for byte in b'{\"slow\": true}': os.write(1, bytes([byte]))"

    assert puppets.run("puppet", told(code)).document["provider_result"] == {"slow": True}


# What a provider gets


SURROUNDINGS = """
def is_open(number):
    try: os.fstat(number)
    except OSError: return False
    return True
with open("written", "w") as made: made.write("x")
answer(
    env=dict(os.environ), argv=sys.argv[1:], cwd=os.getcwd(), mode=oct(os.stat(".").st_mode & 0o7777),
    descriptors=[number for number in range(256) if is_open(number)], session=os.getsid(0) == os.getpid(),
)
"""
CALLER = {
    "USER": "me",
    "LOGNAME": "me",
    "LANGUAGE": "de",
    "LC_ALL": "C.UTF-8",
    "LC_MADE_UP": "x",
    "TZ": "UTC",
    "SECRET_TOKEN": "secret",
    "PYTHONPATH": "/nonexistent",
    "LOOPX_DEBUG": "1",
    "DECLARED": "declared value",
    "LCALL": "not a locale category",
}


def test_a_provider_gets_the_listed_variables_and_no_other(puppets: Loopx) -> None:
    """run_environment (case 95)."""
    result = puppets.run("puppet", told(SURROUNDINGS), env=CALLER).document["provider_result"]

    listed = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_ALL", "LC_MADE_UP", "TZ"}
    assert set(result["env"]) == listed | {"TMPDIR", "PYTHONPYCACHEPREFIX"}
    assert {name: result["env"][name] for name in listed} == {
        name: {**puppets.env, **CALLER}[name] for name in listed
    }
    # Its doctor compiled nothing that could have been kept for it.
    assert Path(result["env"]["PYTHONPYCACHEPREFIX"]).is_relative_to(result["env"]["TMPDIR"])


def test_a_declared_variable_is_passed_on_and_an_undeclared_one_is_not(puppets: Loopx) -> None:
    """run_environment (case 95)."""
    result = puppets.run("declares", told(SURROUNDINGS), env=CALLER).document["provider_result"]

    assert result["env"]["DECLARED"] == "declared value"
    assert {"SECRET_TOKEN", "DECLARED_BUT_NOT_SET"}.isdisjoint(result["env"])


def test_a_declared_variable_cannot_move_the_private_directory(loopx: Loopx) -> None:
    loopx.make_extension("puppet", env=["TMPDIR", "PYTHONPYCACHEPREFIX"])

    result = loopx.run(
        "puppet", told(SURROUNDINGS), env={"PYTHONPYCACHEPREFIX": str(loopx.root / "elsewhere")}
    ).document

    env = result["provider_result"]["env"]
    assert env["TMPDIR"] == result["provider_result"]["cwd"]
    assert env["PYTHONPYCACHEPREFIX"] != str(loopx.root / "elsewhere")


def test_a_provider_runs_in_a_private_directory_that_is_gone_afterwards(puppets: Loopx) -> None:
    result = puppets.run("puppet", told(SURROUNDINGS)).document["provider_result"]

    assert result["cwd"] == result["env"]["TMPDIR"]
    assert Path(result["cwd"]).parent == puppets.runtime
    assert result["mode"] == "0o700"
    assert not Path(result["cwd"]).exists()


def test_a_provider_holds_no_descriptor_but_the_three_standard_ones(puppets: Loopx, tmp_path: Path) -> None:
    with (tmp_path / "inherited").open("wb") as inherited:
        os.set_inheritable(inherited.fileno(), True)
        answer = puppets.run("puppet", told(SURROUNDINGS), close_fds=False)

    assert answer.document["provider_result"]["descriptors"] == [0, 1, 2]
    assert answer.document["provider_result"]["session"] is True


@pytest.mark.req("X5")
def test_a_provider_gets_the_arguments_of_its_manifest_and_no_other(puppets: Loopx) -> None:
    result = puppets.run("puppet", told(SURROUNDINGS)).document["provider_result"]

    assert result["argv"] == ["run"]


@pytest.mark.req("X5")
@pytest.mark.parametrize("extra", [("more",), ("--", "more"), ("--verbose",), ("--timeout", "1")], ids=" ".join)
def test_a_caller_can_add_no_argument(loopx: Loopx, tmp_path: Path, extra: tuple[str, ...]) -> None:
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    words = ("--format", "json", "--state-file", str(loopx.state_file), "extension", "run", "canary")

    answer = loopx(*words, "--input-json", "-", "--execute", *extra, stdin=b"{}", options=False)

    assert (answer.status, answer.code) == (2, "usage_error")
    assert not canary.exists()


def test_a_doctor_gets_the_same_surroundings_and_no_input(loopx: Loopx, tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    provider = PYTHON + (
        "import json, os, sys\n"
        f"json.dump([dict(os.environ), os.getcwd(), sys.stdin.read()], open({str(seen)!r}, 'w'))\n"
    )

    loopx.make_extension("looks", provider)

    env, cwd, stdin = json.loads(seen.read_bytes())
    assert set(env) == {"PATH", "HOME", "LANG", "TMPDIR", "PYTHONPYCACHEPREFIX"}
    assert (env["TMPDIR"], stdin) == (cwd, "")
    assert not Path(cwd).exists()


# Standalone run only if everything holds


def disable(loopx: Loopx) -> None:
    assert loopx("extension", "disable", "canary", "--execute").status == 0


def change(loopx: Loopx) -> None:
    with (loopx.root / "extensions/canary/provider").open("a", encoding="ascii") as provider:
        provider.write("# changed\n")


def remove(loopx: Loopx) -> None:
    (loopx.root / "extensions/canary/provider").unlink()


def make_unexecutable(loopx: Loopx) -> None:
    (loopx.root / "extensions/canary/provider").chmod(0o644)


@pytest.mark.req("X6")
@pytest.mark.parametrize(
    ("act", "code"),
    [
        (disable, "extension_disabled"),
        (change, "readiness_stale"),
        (remove, "entrypoint_missing"),
        (make_unexecutable, "entrypoint_missing"),
    ],
)
def test_an_extension_that_is_not_ready_is_not_started(loopx: Loopx, tmp_path: Path, act: object, code: str) -> None:
    """entrypoint_replaced_or_removed, disabled_blocks_run (cases 65, 55)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    assert callable(act)

    act(loopx)
    answer = loopx.run("canary", {})

    assert (answer.status, answer.code) == (2, code)
    assert answer.document["next_command"]
    assert not canary.exists()


@pytest.mark.req("X6")
@pytest.mark.parametrize("execute", [(), ("--execute",)], ids=["preview", "executed"])
@pytest.mark.parametrize(
    ("code", "manifest", "runtime"),
    [
        ("permissions_declared", 'permissions = ["notes.read"]', {}),
        ("permissions_declared", 'permissions = ["notes.read"]', {"required_permissions": ["notes.read"]}),
        ("capability_provider", CAPABILITY, {}),
        ("capability_provider", CAPABILITY + IMPLEMENTATION, {}),
    ],
    ids=["permission", "required permission", "provides", "implements"],
)
def test_an_extension_with_permissions_or_a_capability_is_not_started(
    loopx: Loopx, tmp_path: Path, code: str, manifest: str, runtime: dict[str, object], execute: tuple[str, ...]
) -> None:
    """run_refuses_permissioned, run_refuses_capability_provider (cases 92, 93)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary), manifest=manifest, **runtime)

    answer = loopx("extension", "run", "canary", "--input-json", "-", *execute, stdin=b"{}")

    assert (answer.status, answer.code) == (2, code)
    assert not canary.exists()


@pytest.mark.req("X6")
def test_an_extension_that_is_not_installed_is_refused(loopx: Loopx) -> None:
    answer = loopx.run("nobody", {})

    assert (answer.status, answer.code) == (2, "extension_not_installed")
    assert answer.document["next_command"]


# Install


@pytest.mark.req("X1")
def test_an_installed_python_package_is_not_an_activation(loopx: Loopx, tmp_path: Path) -> None:
    canary, site, scripts = tmp_path / "canary", tmp_path / "site", tmp_path / "scripts"
    metadata = site / "canary-1.0.dist-info"
    for folder in (metadata, site / "canary", scripts):
        folder.mkdir(parents=True)
    manifest = loopx.write_extension("canary", CANARY.format(canary=canary), entrypoint="canary-provider")
    shutil.move(manifest.with_name("provider"), scripts / "canary-provider")
    shutil.copy(manifest, site / "canary/extension.toml")
    (site / "canary/__init__.py").write_text(f"open({str(canary)!r}, 'w')\n", encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: canary\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[loopx.extensions]\ncanary = canary\n", encoding="utf-8")
    env = {"PYTHONPATH": str(site), "PATH": f"{scripts}:{loopx.env['PATH']}"}

    listed = loopx("extension", "list", env=env)
    run = loopx.run("canary", {}, env=env)

    assert listed.document["extensions"] == []
    assert run.code == "extension_not_installed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loopx", "scripts", "site"]
    assert not loopx.state_file.exists()


@pytest.mark.req("X3", "X2")
def test_a_preview_of_an_install_leaves_no_trace(loopx: Loopx, tmp_path: Path) -> None:
    """install_preview_no_side_effect (case 39)."""
    canary = tmp_path / "canary"
    manifest = loopx.write_extension("canary", CANARY.format(canary=canary))
    root = tmp_path / "not/yet/there"

    answer = loopx("extension", "install", "--manifest", str(manifest), "--runtime-root", str(root))

    document = answer.document
    assert (answer.status, document["changed"], document["dry_run"]) == (0, False, True)
    assert document["doctor"]["status"] == "probe_required"
    assert not (tmp_path / "not").exists()
    assert [path.name for path in loopx.state_file.parent.glob("state.json*")] == []
    assert not (tmp_path / "canary.doctor").exists()


@pytest.mark.req("X3")
def test_a_missing_entrypoint_is_told_by_a_preview_and_refused_by_an_install(loopx: Loopx) -> None:
    """install_missing_entrypoint (case 40)."""
    manifest = loopx.write_extension("missing", entrypoint="no-such-command-anywhere")

    preview = loopx("extension", "install", "--manifest", str(manifest))
    executed = loopx.install(manifest)

    assert (preview.status, preview.document["would_refuse"]["code"]) == (0, "entrypoint_missing")
    assert (executed.status, executed.code) == (2, "entrypoint_missing")
    assert not loopx.state_file.exists()


@pytest.mark.parametrize("execute", [(), ("--execute",)], ids=["preview", "executed"])
@pytest.mark.parametrize("doctor_args", [[], None], ids=["empty", "absent"])
def test_an_extension_without_a_doctor_is_refused(
    loopx: Loopx, doctor_args: list[str] | None, execute: tuple[str, ...]
) -> None:
    """install_no_doctor_args (case 41)."""
    manifest = loopx.write_extension("no-doctor", doctor_args=doctor_args)

    answer = loopx("extension", "install", "--manifest", str(manifest), *execute)

    assert (answer.status, answer.code) == (2, "doctor_not_configured")


@pytest.mark.req("X3")
def test_a_failing_doctor_refuses_the_install_and_leaves_the_state_as_it_was(loopx: Loopx, tmp_path: Path) -> None:
    """install_doctor_nonzero (case 42)."""
    flag = tmp_path / "flag"
    flag.write_text("7", encoding="ascii")
    loopx.make_extension("other", ECHO)
    before = loopx.state_file.read_bytes()

    answer = loopx.install(loopx.write_extension("sick", FLAGGED.format(flag=flag)))

    doctor = answer.document["doctor"]
    assert (answer.status, answer.code) == (2, "doctor_failed")
    assert (doctor["failure_kind"], doctor["exit_code"]) == ("exit_nonzero", 7)
    assert loopx.state_file.read_bytes() == before


def test_everything_an_install_creates_is_private_under_any_umask(loopx: Loopx, tmp_path: Path) -> None:
    """install_state_mode (case 44)."""
    manifest = loopx.write_extension("echo", ECHO)
    root = tmp_path / "made/by/loopx"
    words = ("--format", "json", "extension", "install", "--manifest", str(manifest), "--execute")

    answer = loopx(*words, "--runtime-root", str(root), options=False, umask=0)

    assert answer.status == 0, answer
    places = [tmp_path / "made", *(tmp_path / "made").rglob("*"), *Path(loopx.env["HOME"]).rglob("*")]
    assert {root / "extensions/state.json", root / "extensions/state.json.lock"} <= set(places)
    modes = {place: stat.S_IMODE(place.stat().st_mode) for place in places}
    assert {place: oct(mode) for place, mode in modes.items() if mode != (0o700 if place.is_dir() else 0o600)} == {}


REFUSED_EARLY: dict[str, tuple[str, str, dict[str, Any]]] = {
    "already installed": ("already_installed", "other", {}),
    "another API": (
        "api_incompatible",
        "new",
        {"replace": ('requires_loopx_api = "1"', 'requires_loopx_api = ">=2"')},
    ),
    "permission not declared": ("manifest_invalid", "new", {"required_permissions": ["notes.read"]}),
    "duplicate capability": ("capability_duplicate", "new", {"manifest": CAPABILITY}),
    "unknown capability": (
        "capability_unknown",
        "new",
        {"manifest": IMPLEMENTATION.replace("new-thing", "unknown-thing")},
    ),
    "no doctor": ("doctor_not_configured", "new", {"doctor_args": []}),
}


@pytest.mark.req("X3")
@pytest.mark.parametrize("reason", REFUSED_EARLY)
def test_cheap_refusals_of_an_install_come_before_its_doctor(loopx: Loopx, tmp_path: Path, reason: str) -> None:
    code, extension_id, settings = REFUSED_EARLY[reason]
    canary = tmp_path / "canary"
    loopx.make_extension("other", ECHO, manifest=CAPABILITY)
    old, new = settings.get("replace", ("", ""))
    keys = {key: value for key, value in settings.items() if key != "replace"}
    manifest = loopx.write_extension(extension_id, CANARY.format(canary=canary), **keys)
    manifest.write_text(manifest.read_text("utf-8").replace(old, new), "utf-8")
    before = loopx.state_file.read_bytes()

    answer = loopx.install(manifest)

    assert (answer.status, answer.code) == (2, code)
    assert not (tmp_path / "canary.doctor").exists()
    assert loopx.state_file.read_bytes() == before


@pytest.mark.req("X3")
def test_the_doctor_of_an_install_runs_before_anything_is_active(loopx: Loopx, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    provider = SHELL + f'[ -e "{loopx.state_file}" ] && echo active >"{seen}" || echo nothing >"{seen}"\n'

    loopx.make_extension("looks", provider)

    assert seen.read_text(encoding="ascii") == "nothing\n"
    assert [(row["id"], row["ready"]) for row in loopx.rows()] == [("looks", True)]


@pytest.mark.req("X3")
def test_no_output_of_a_doctor_is_stored(loopx: Loopx) -> None:
    loopx.make_extension("talks", SHELL + "echo printed-by-the-doctor\necho said-by-the-doctor >&2\n")

    kept = b"".join(path.read_bytes() for path in loopx.root.rglob("*") if path.is_file() and path.name != "provider")

    assert b"printed-by-the-doctor" not in kept
    assert b"said-by-the-doctor" not in kept


def can_trace() -> bool:
    tracer = shutil.which("strace")
    return (
        bool(tracer)
        and subprocess.run([str(tracer), "-qq", "true"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.req("X3")
@pytest.mark.skipif(not can_trace(), reason="strace is not usable here")
def test_an_install_opens_no_network_socket_and_reads_no_goal(loopx: Loopx, tmp_path: Path) -> None:
    manifest, trace = loopx.write_extension("echo", ECHO), tmp_path / "trace"
    for name in ("goals/goal.json", ".loopx/goals/goal.json", "runtime/control/events.db", "GOAL.md"):
        (tmp_path / "cwd" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cwd" / name).write_text("{}", encoding="ascii")
    words = ("extension", "install", "--manifest", str(manifest), "--execute")
    root = ("--runtime-root", str(tmp_path / "cwd/runtime"))

    done = subprocess.run(
        ["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=%file,socket", *loopx.command(*words, *root)],
        env=loopx.env,
        cwd=tmp_path / "cwd",
        capture_output=True,
        check=False,
    )

    calls = trace.read_text("utf-8", "replace")
    assert Answer(done.returncode, done.stdout, done.stderr).document["changed"] is True
    assert "extension.toml" in calls
    assert [word for word in ("AF_INET", "goal", "GOAL", "events.db") if word in calls] == []


@pytest.mark.req("X9")
def test_a_state_file_of_ones_own_isolates(loopx: Loopx, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    loopx.make_extension("everywhere", ECHO)
    manifest = loopx.write_extension("elsewhere", ECHO)
    before = loopx.state_file.read_bytes()
    words = ("--format", "json", "--state-file", str(own / "state.json"), "extension")

    installed = loopx(*words, "install", "--manifest", str(manifest), "--execute", options=False)
    listed = loopx(*words, "list", options=False)
    run = loopx(*words, "run", "everywhere", "--input-json", "-", "--execute", stdin=b"{}", options=False)
    default = loopx("--format", "json", "extension", "list", options=False)

    assert installed.status == 0
    assert [row["id"] for row in listed.document["extensions"]] == ["elsewhere"]
    assert run.code == "extension_not_installed"
    assert default.document["extensions"] == []
    assert loopx.state_file.read_bytes() == before
    assert sorted(path.name for path in own.iterdir()) == ["state.json", "state.json.lock"]
    assert not Path(loopx.env["XDG_STATE_HOME"]).exists()


def test_no_state_file_is_an_empty_list_and_stays_none(loopx: Loopx) -> None:
    """state_missing (case 106)."""
    answer = loopx("extension", "list")

    assert (answer.status, answer.document["extensions"]) == (0, [])
    assert [path.name for path in loopx.root.glob("state.json*")] == []


# Doctor and readiness


def test_a_failed_doctor_exits_1_and_clears_the_proof(loopx: Loopx, tmp_path: Path) -> None:
    """doctor_failure_clears_proof, doctor_failure_exit_code (cases 59, 60)."""
    flag = tmp_path / "flag"
    loopx.make_extension("sick", FLAGGED.format(flag=flag))
    revision = loopx.rows()[0]["active_revision"]
    flag.write_text("7", encoding="ascii")

    doctor = loopx("extension", "doctor", "sick", "--execute")
    run = loopx.run("sick", {})

    row = loopx.rows()[0]
    assert (doctor.status, doctor.document["ok"], doctor.document["status"]) == (1, False, "unhealthy")
    assert (doctor.document["failure_kind"], doctor.document["exit_code"]) == ("exit_nonzero", 7)
    assert doctor.document["stderr_tail"] == "the doctor was here\n"
    assert (run.status, run.code) == (2, "doctor_required")
    assert (row["doctor_verified"], row["ready"], row["active_revision"]) == (False, False, revision)
    assert b"the doctor was here" not in loopx.state_file.read_bytes()


def test_the_doctor_of_a_disabled_extension_is_not_started(loopx: Loopx, tmp_path: Path) -> None:
    """doctor_disabled (case 61)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    disable(loopx)
    (tmp_path / "canary.doctor").unlink()

    answer = loopx("extension", "doctor", "canary", "--execute")

    assert (answer.status, answer.code) == (2, "extension_disabled")
    assert answer.document["doctor"]["status"] == "disabled"
    assert not (tmp_path / "canary.doctor").exists()


def test_a_preview_of_a_doctor_starts_nothing_and_writes_nothing(loopx: Loopx, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    (tmp_path / "canary.doctor").unlink()
    before = loopx.state_file.read_bytes()

    answer = loopx("extension", "doctor", "canary")

    assert (answer.status, answer.document["status"]) == (0, "probe_required")
    assert not (tmp_path / "canary.doctor").exists()
    assert loopx.state_file.read_bytes() == before


def test_a_replaced_program_is_stale_everywhere_until_a_doctor_proves_it(loopx: Loopx, tmp_path: Path) -> None:
    """entrypoint_replaced_or_removed (case 65)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    change(loopx)

    row = loopx.rows()[0]
    preview = loopx("extension", "run", "canary", "--input-json", "-", stdin=b"{}")
    doctor = loopx("extension", "doctor", "canary", "--execute")
    run = loopx.run("canary", {})

    assert (row["ready"], row["reason"], row["changed"]) == (False, "readiness_stale", ["launcher"])
    assert (preview.status, preview.document["would_refuse"]["code"]) == (0, "readiness_stale")
    assert (doctor.status, doctor.document["verified"]) == (0, True)
    assert run.status == 0


def touch(program: Path) -> None:
    os.utime(program, (1, 1))


def rewrite(program: Path) -> None:
    data = program.read_bytes()
    program.unlink()
    program.write_bytes(data)
    program.chmod(0o755)


@pytest.mark.parametrize("act", [touch, rewrite])
def test_the_same_bytes_stay_ready(loopx: Loopx, act: object) -> None:
    """touch_only (case 69)."""
    program = loopx.make_extension("echo", ECHO)
    assert callable(act)

    act(program)

    assert loopx.rows()[0]["ready"] is True
    assert loopx.run("echo", {}).status == 0


@pytest.mark.req("X4")
def test_a_change_that_keeps_size_and_times_is_seen(loopx: Loopx) -> None:
    program = loopx.make_extension("echo", ECHO)
    assert loopx.rows()[0]["ready"] is True
    before = program.stat()

    program.write_bytes(program.read_bytes().replace(b'"asked"', b'"asKed"'))
    os.utime(program, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert loopx.run("echo", {}).code == "readiness_stale"


def test_a_doctor_that_rewrites_its_own_program_proves_nothing(loopx: Loopx) -> None:
    """changed_during_probe (case 71)."""
    provider = SHELL + 'if [ "$1" = --doctor ]; then echo "# again" >>"$0"; fi\necho "{}"\n'

    answer = loopx.install(loopx.write_extension("rewrites", provider))

    assert (answer.status, answer.code) == (2, "doctor_failed")
    assert answer.document["doctor"]["failure_kind"] == "changed_during_probe"
    assert not loopx.state_file.exists()


# Streams and paths


def test_a_full_disk_under_standard_output_is_74(puppets: Loopx) -> None:
    with Path("/dev/full").open("wb") as full:
        answer = puppets.run("echo", {}, stdout=full)

    assert answer.status == 74
    assert b"Traceback" not in answer.stderr
    assert answer.stderr


@pytest.mark.parametrize("words", [("extension", "list"), ("--help",), ("--version",), ("extension", "nothing")])
def test_a_reader_that_went_away_is_141_and_silent(puppets: Loopx, words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        answer = puppets(*words, stdout=writer)
    finally:
        os.close(writer)

    assert (answer.status, answer.stderr) == (141, b"")


def closed(redirection: str, command: list[str | bytes]) -> list[str | bytes]:
    return ["sh", "-c", f'exec "$@" {redirection}', "sh", *command]


def test_with_standard_output_closed_nothing_is_done(loopx: Loopx) -> None:
    manifest = loopx.write_extension("echo", ECHO)
    command = loopx.command("extension", "install", "--manifest", str(manifest), "--execute")

    done = subprocess.run(closed(">&-", command), env=loopx.env, stderr=subprocess.PIPE, check=False)

    assert done.returncode == 74
    assert not loopx.state_file.exists()


def test_with_standard_input_closed_a_request_from_it_is_empty(puppets: Loopx) -> None:
    command = puppets.command("extension", "run", "echo", "--input-json", "-", "--execute")

    done = subprocess.run(closed("<&-", command), env=puppets.env, capture_output=True, check=False)

    answer = Answer(done.returncode, done.stdout, done.stderr)
    assert (answer.status, answer.code, answer.document["violation"]) == (2, "request_invalid", "empty")


@pytest.mark.parametrize("redirection", ["2>&-", "<&- 2>&-"])
def test_with_standard_error_closed_a_run_still_works(puppets: Loopx, tmp_path: Path, redirection: str) -> None:
    request = tmp_path / "request.json"
    request.write_bytes(json.dumps(told(SURROUNDINGS)).encode())
    command = puppets.command("extension", "run", "puppet", "--input-json", str(request), "--execute")

    done = subprocess.run(closed(redirection, command), env=puppets.env, stdout=subprocess.PIPE, check=False)

    answer = Answer(done.returncode, done.stdout, b"")
    assert (answer.status, answer.document["provider_result"]["descriptors"]) == (0, [0, 1, 2])


STRANGE = b"str\xffnge"


def test_a_manifest_below_a_path_that_is_not_utf_8_can_be_installed(loopx: Loopx, tmp_path: Path) -> None:
    manifest = loopx.write_extension("echo", ECHO)
    folder = os.path.join(os.fsencode(tmp_path), STRANGE)
    os.mkdir(folder)
    path = shutil.copy(os.fsencode(manifest), os.path.join(folder, b"extension.toml"))

    answer = loopx("extension", "install", "--manifest", path, "--execute")

    assert answer.status == 0, answer
    assert "str\\xffnge" in answer.document["manifest_path"]
    assert loopx.run("echo", {}).status == 0


def test_a_state_file_whose_path_is_not_utf_8_works(loopx: Loopx, tmp_path: Path) -> None:
    manifest = loopx.write_extension("echo", ECHO)
    state_file = os.path.join(os.fsencode(tmp_path), STRANGE, b"state.json")
    common: tuple[str | bytes, ...] = ("--format", "json", "--state-file", state_file, "extension")

    installed = loopx(*common, "install", "--manifest", str(manifest), "--execute", options=False)
    run = loopx(*common, "run", "echo", "--input-json", "-", "--execute", stdin=b"{}", options=False)
    refused = loopx(*common, "run", "nobody", "--input-json", "-", "--execute", stdin=b"{}", options=False)

    assert (installed.status, run.status, refused.status) == (0, 0, 2)
    assert os.path.isfile(state_file)
    assert "str\\xffnge" in refused.document["next_command"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_request_file_whose_path_is_not_utf_8_works(puppets: Loopx, tmp_path: Path, exists: bool) -> None:
    path = os.path.join(os.fsencode(tmp_path), STRANGE)
    if exists:
        Path(os.fsdecode(path)).write_bytes(b"{}")

    answer = puppets("extension", "run", "echo", "--input-json", path, "--execute")

    if exists:
        assert answer.status == 0
    else:
        assert (answer.status, answer.code) == (2, "input_unreadable")
        assert "str\\xffnge" in answer.document["subject"]
    assert b"Traceback" not in answer.stderr


@pytest.mark.parametrize("path", ["/nonexistent/request.json", "/", "/proc/self/mem"])
def test_a_request_that_cannot_be_read_is_refused(puppets: Loopx, path: str) -> None:
    answer = puppets("extension", "run", "echo", "--input-json", path, "--execute")

    assert (answer.status, answer.code) == (2, "input_unreadable")


@pytest.mark.parametrize("unusable", ["", "relative", "/nonexistent", "/dev/null", "/proc", "/proc/self/fdinfo"])
@pytest.mark.parametrize("names", [("XDG_RUNTIME_DIR", "TMPDIR"), ("XDG_RUNTIME_DIR",)], ids=" and ".join)
def test_unusable_temporary_places_are_passed_over(puppets: Loopx, names: tuple[str, ...], unusable: str) -> None:
    env = dict.fromkeys(names, unusable)

    answer = puppets.run("puppet", told(SURROUNDINGS), env=env)

    expected = Path("/tmp") if len(names) == 2 else Path(puppets.env["TMPDIR"])
    assert answer.document["status"] == "succeeded"
    assert Path(answer.document["provider_result"]["cwd"]).parent == expected


def test_a_home_that_cannot_be_written_does_not_stop_a_run(puppets: Loopx) -> None:
    env = {"HOME": "/proc", "XDG_CACHE_HOME": "/proc/cache", "XDG_STATE_HOME": "/proc/state"}

    answer = puppets.run("puppet", told(SURROUNDINGS), env=env)

    assert answer.document["status"] == "succeeded"
