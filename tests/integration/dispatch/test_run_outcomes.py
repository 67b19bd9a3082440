"""What a provider does and what its run counts as: real command line, real processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.providers import CANARY
from tests.support.puppets import install_puppets


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return install_puppets(tmp_path_factory.mktemp("puppets"))


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


def told(code: str) -> dict[str, object]:
    return {"code": code}


def write_all(number: int, expression: str) -> dict[str, object]:
    return told(f"data = {expression}\nwhile data: data = data[os.write({number}, data):]")


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
