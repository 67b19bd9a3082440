"""An export goes over nothing but an earlier one, and a restore believes no row for its id."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Loopx
from tests.support.packages import write
from tests.support.providers import ECHO


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


def export(loopx: Loopx, path: Path) -> Any:
    return loopx("extension", "export", "--output", str(path), "--execute")


def test_an_export_goes_over_an_earlier_one_and_over_nothing_else(loopx: Loopx) -> None:
    loopx.make_extension("subject", ECHO)
    before = loopx.state_file.read_bytes()
    link = loopx.root / "link"
    link.symlink_to(loopx.root / "elsewhere")
    fifo = loopx.root / "fifo"
    os.mkfifo(fifo)

    refused = [export(loopx, path).code for path in (loopx.state_file, link, fifo)]
    written = [export(loopx, loopx.root / "export.json").status for _ in range(2)]

    assert refused == ["destination_exists"] * 3
    assert written == [0, 0]
    assert loopx.state_file.read_bytes() == before


def restored(loopx: Loopx, **changes: object) -> Any:
    document = loopx("extension", "export").document
    document["extensions"][0].update(changes)
    path = write(loopx.root / "export.json", json.dumps(document))
    loopx("extension", "uninstall", "subject", "--execute")
    return loopx("extension", "restore", str(path), "--execute")


def test_a_restore_does_not_believe_the_id_of_a_row(loopx: Loopx) -> None:
    loopx.make_extension("subject", ECHO)

    answer = restored(loopx, id="other", enabled=False)

    assert answer.status == 1
    assert answer.document["extensions"][0]["code"] == "manifest_changed"
    assert loopx.rows() == []


def test_an_export_with_a_path_that_no_file_can_have_is_refused(loopx: Loopx) -> None:
    loopx.make_extension("subject", ECHO)

    answer = restored(loopx, manifest_path="/tmp/x\0y")

    assert (answer.status, answer.code) == (2, "export_invalid")
