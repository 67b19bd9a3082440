"""A governed call reaches the network where its operation asks for it and its package declares it, and only there."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.capabilities import Station, operation

CALL = """
import socket
try:
    with socket.create_connection(("127.0.0.1", {port}), timeout=5) as made:
        made.sendall(b"here")
    ended = "reached"
except OSError as error:
    ended = errno.errorcode.get(error.errno, "?")
observations = [{{"ended": ended}}]
"""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(5)
        yield made


def called(root: Path, permission: str, listener: socket.socket) -> tuple[str, dict[str, object], dict[str, object]]:
    """Return how the call ended, its effects, and the row about the network."""
    station = Station(root).served("station", operation(permission=permission)).bound()
    answer = station.invoke(CALL.format(port=listener.getsockname()[1]), reference=None)
    assert answer.status == 0, answer
    (seen,) = answer.document["provider_result"]["observations"]
    (row,) = [one for one in answer.document["containment"]["limits"] if one["limit"] == "network"]
    return seen["ended"], answer.document["effects"], row


@pytest.mark.req("B6")
def test_an_operation_that_asks_for_the_network_reaches_it_and_the_receipt_says_so(
    tmp_path: Path, listener: socket.socket
) -> None:
    ended, effects, row = called(tmp_path, "net.connect", listener)

    connection, _ = listener.accept()
    with connection:
        assert connection.recv(16) == b"here"
    assert ended == "reached"
    assert (row["value"], row["enforced"]) == ("outbound", True)
    assert (effects["basis"], effects["external_write_performed"]) == ("declared", False)


@pytest.mark.req("B6")
def test_one_that_does_not_ask_reaches_nobody(tmp_path: Path, listener: socket.socket) -> None:
    ended, effects, row = called(tmp_path, "note.read", listener)

    listener.settimeout(0)
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert ended == "EPERM"
    assert (row["value"], row["enforced"]) == ("none", True)
    assert effects["basis"] == "enforced"
