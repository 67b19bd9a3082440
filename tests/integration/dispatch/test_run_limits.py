"""The limits of a run hold to the byte, for the request and for both outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.providers import CANARY
from tests.support.puppets import install_puppets

LIMIT = 1_000_000


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
