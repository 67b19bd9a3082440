"""The directory sink: the suite of the contract, and what is its own: whole files, none overwritten, no way out."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from loopx_periodic_report.testing import ProcessSink, ReportSinkContract, Sink
from loopx_sink_directory.folder import TARGET, deliver, probe

from loopx_host import OperationFailed

Json = dict[str, object]

DATA = Path(str(resources.files("loopx_sink_directory")))
PROFILE = json.loads((DATA / "profile.json").read_text(encoding="utf-8"))
ARGV = [sys.executable, "-m", "loopx_sink_directory.cli"]


def bodies(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir())]


class TestDirectorySink(ReportSinkContract):
    def make_sink(self, folder: Path) -> Sink:
        return ProcessSink(
            extension_id="loopx-sink-directory",
            target_key=TARGET,
            profile=PROFILE,
            argv=ARGV,
            look=lambda: bodies(folder),
            references={"reports": str(folder)},
        )


def delivery(text: str = "ok", **changes: object) -> Json:
    return {
        "report_id": "weekly-2026-45",
        "content_type": "text/html",
        "text": text,
        "body_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "target_key": TARGET,
        "idempotency_key": "op-0123456789",
        **changes,
    }


def asked(given: Json) -> Json:
    return {key: given[key] for key in ("report_id", "content_type", "body_sha256", "target_key")}


def refused(given: Json, references: dict[str, str]) -> OperationFailed:
    with pytest.raises(OperationFailed) as refusal:
        deliver(given, references)
    return refusal.value


@pytest.mark.parametrize(
    ("kind", "name"), [("text/html", "html"), ("application/json", "json"), ("text/plain", "txt")]
)
def test_the_file_has_the_name_of_the_report_and_the_suffix_of_its_kind(tmp_path: Path, kind: str, name: str) -> None:
    made = deliver(delivery(content_type=kind), {"reports": str(tmp_path)})

    assert [path.name for path in tmp_path.iterdir()] == [f"weekly-2026-45.{name}"]
    assert made["evidence"] == {"file": f"weekly-2026-45.{name}", "bytes": 2, "already_there": False}


def test_what_is_there_already_is_said(tmp_path: Path) -> None:
    deliver(delivery(), {"reports": str(tmp_path)})

    made = deliver(delivery(idempotency_key="another-key"), {"reports": str(tmp_path)})

    assert made["evidence"]["already_there"] is True


def test_a_report_may_be_read_by_others_as_far_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        deliver(delivery(), {"reports": str(tmp_path)})
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "weekly-2026-45.html").stat().st_mode) == 0o640


def test_a_link_under_the_name_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "reports"
    folder.mkdir()
    outside.write_text("mine", encoding="utf-8")
    (folder / "weekly-2026-45.html").symlink_to(outside)

    refusal = refused(delivery(), {"reports": str(folder)})

    assert (refusal.code, refusal.effect) == ("target_unusable", "none")
    assert outside.read_text(encoding="utf-8") == "mine"
    assert (folder / "weekly-2026-45.html").is_symlink()


def test_a_dangling_link_under_the_name_creates_nothing_outside(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "weekly-2026-45.html").symlink_to(tmp_path / "outside")

    refusal = refused(delivery(), {"reports": str(folder)})

    assert refusal.effect == "none"
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_under_the_name_is_refused_without_waiting(tmp_path: Path, make: Any) -> None:
    make(tmp_path / "weekly-2026-45.html")

    refusal = refused(delivery(), {"reports": str(tmp_path)})

    assert (refusal.code, refusal.effect) == ("target_unusable", "none")


def test_a_larger_file_under_the_name_is_another_body(tmp_path: Path) -> None:
    (tmp_path / "weekly-2026-45.html").write_bytes(b"x" * 600_000)

    seen = probe(asked(delivery()), {"reports": str(tmp_path)})

    assert (seen["present"], seen["other_body_present"]) == (False, True)
    assert refused(delivery(), {"reports": str(tmp_path)}).code == "report_exists"


@pytest.mark.parametrize(
    ("references", "code"),
    [
        ({}, "reference_missing"),
        ({"repo": "/"}, "reference_missing"),
        ({"reports": "/nowhere/at/all"}, "target_unusable"),
    ],
)
def test_without_a_directory_that_was_granted_nothing_is_written(references: dict[str, str], code: str) -> None:
    refusal = refused(delivery(), references)

    assert (refusal.code, refusal.effect) == (code, "none")


@pytest.mark.parametrize("target", ["report:folder/other", "report:folder/reports/..", "report:folder/"])
def test_only_the_granted_reference_is_a_target(tmp_path: Path, target: str) -> None:
    refusal = refused(delivery(target_key=target), {"reports": str(tmp_path)})

    assert refusal.code == "target_invalid"
    assert list(tmp_path.iterdir()) == []


def test_a_failure_names_no_path(tmp_path: Path) -> None:
    refusal = refused(delivery(), {"reports": str(tmp_path / "absent")})

    assert str(tmp_path) not in str(refusal)


class Crash(BaseException):
    """The process ends here: nothing after it runs, not even a clean-up that catches exceptions."""


@pytest.mark.parametrize("call", ["open", "fsync", "link", "unlink"])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_after_a_crash_at_any_call_the_report_is_whole_or_absent_and_delivering_again_completes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, place: int
) -> None:
    real, calls, folder = getattr(os, call), [0], {"reports": str(tmp_path)}

    def crashing(*args: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == place:
            raise Crash
        return real(*args, **more)

    monkeypatch.setattr(os, call, crashing)
    try:
        deliver(delivery(), folder)
    except Crash:
        pass
    monkeypatch.setattr(os, call, real)

    seen = probe(asked(delivery()), folder)
    again = deliver(delivery(), folder)

    assert seen["other_body_present"] is False
    assert again["evidence"]["already_there"] is seen["present"]
    assert (tmp_path / "weekly-2026-45.html").read_bytes() == b"ok"
    assert len([path for path in tmp_path.iterdir() if not path.name.startswith(".")]) == 1


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_full_or_failing_disk_leaves_nothing_and_says_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def failing(_: int) -> None:
        raise OSError(code, "no")

    monkeypatch.setattr(os, "fsync", failing)

    refusal = refused(delivery(), {"reports": str(tmp_path)})

    assert (refusal.code, refusal.effect) == ("target_unusable", "none")
    assert list(tmp_path.iterdir()) == []


def test_another_writer_that_was_faster_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.link

    def late(*args: Any, **more: Any) -> None:
        (tmp_path / "weekly-2026-45.html").write_text("theirs", encoding="utf-8")
        real(*args, **more)

    monkeypatch.setattr(os, "link", late)

    refusal = refused(delivery(), {"reports": str(tmp_path)})

    assert refusal.code == "report_exists"
    assert bodies(tmp_path) == [b"theirs"]


def test_a_file_system_without_hard_links_gets_the_report_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "no")

    monkeypatch.setattr(os, "link", none)

    deliver(delivery(), {"reports": str(tmp_path)})

    assert bodies(tmp_path) == [b"ok"]


def test_the_doctor_reads_back_what_it_wrote_and_leaves_nothing(tmp_path: Path) -> None:
    ended = subprocess.run([*ARGV, "--doctor"], cwd=tmp_path, capture_output=True, check=False, timeout=60)

    assert ended.returncode == 0, ended.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("X10")
def test_the_manifest_asks_for_the_reports_and_for_nothing_else_and_a_probe_only_reads_them() -> None:
    manifest = tomllib.loads((DATA / "extension.toml").read_text(encoding="utf-8"))

    assert manifest["permissions"] == ["fs.read:reports", "fs.write:reports"]
    assert set(manifest["runtime"]["required_permissions"]) <= set(manifest["permissions"])
    assert manifest["implements"][0]["protocol"] == manifest["runtime"]["protocol"] == PROFILE["protocol"]
    permissions = {operation["id"]: operation["required_permission"] for operation in PROFILE["operations"]}
    assert permissions == {"deliver": "fs.write:reports", "probe": "fs.read:reports"}
    assert (Path(__file__).parents[1] / "extension.toml").read_bytes() == (DATA / "extension.toml").read_bytes()
