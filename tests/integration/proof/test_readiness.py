"""A proof holds for one revision, runtime, host API and platform; caches never decide, and the hot path only looks.

Contract section 5, *Readiness*; extension-formats, *State additions*, *Ready*, *Index*.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.packages import Vane, needs_strace, traced, write

EXIT_REFUSED = 2
Edit = Callable[[dict[str, Any]], object]


@pytest.fixture
def vane(tmp_path: Path) -> Vane:
    return Vane(tmp_path).proved()


def edit_entry(vane: Vane, edit: Edit) -> None:
    """Change the entry in the state file."""
    state = json.loads(vane.state_file.read_bytes())
    edit(state["extensions"]["vane"])
    vane.state_file.write_bytes(json.dumps(state).encode())


# --- what a proof is bound to ---------------------------------------------------------------------------------------


@pytest.mark.req("B2")
@pytest.mark.parametrize(
    ("edit", "reason", "changed"),
    [
        (lambda entry: entry["proof"].update(host_api=99), "readiness_stale", ["host_api"]),
        (lambda entry: entry["proof"].pop("host_api"), "readiness_stale", ["host_api"]),
        (lambda entry: entry["proof"].update(platform="plan9-vax"), "readiness_stale", ["platform"]),
        (lambda entry: entry["proof"].pop("platform"), "readiness_stale", ["platform"]),
        (lambda entry: entry["proof"].update(revision="0" * 16), "doctor_required", []),
        (lambda entry: entry["proof"].update(identity="0" * 64), "doctor_required", []),
        (lambda entry: entry.update(doctor_verified_revision="0" * 16), "doctor_required", []),
        (lambda entry: entry.update(doctor_verified_entrypoint_identity="0" * 64), "doctor_required", []),
        (lambda entry: entry.pop("proof"), "doctor_required", []),
    ],
    ids=[
        "host_api",
        "no_host_api",
        "platform",
        "no_platform",
        "revision",
        "identity",
        "v0_revision",
        "v0_identity",
        "no_proof",
    ],
)
def test_a_proof_of_something_else_is_no_proof_and_says_why(
    vane: Vane, edit: Edit, reason: str, changed: list[str]
) -> None:
    edit_entry(vane, edit)

    row, refused = vane.row("vane"), vane.run("vane", {})

    assert (row["ready"], row["reason"], row["changed"]) == (False, reason, changed)
    assert (refused.status, refused.code) == (EXIT_REFUSED, reason)
    assert vane("extension", "doctor", "vane", "--execute").status == 0
    assert vane.row("vane")["ready"] is True


@pytest.mark.req("B2")
def test_groups_that_do_not_belong_to_the_identity_prove_nothing(vane: Vane) -> None:
    """Somebody copies the groups of today beside the identity of yesterday."""
    write(vane.packages / "vane/cli.py", "# changed\n")
    changed = vane.run("vane", {}).document["changed"]

    def forge(entry: dict[str, Any]) -> None:
        entry["proof"]["groups"] = dict.fromkeys(entry["proof"]["groups"], "0" * 64)

    edit_entry(vane, forge)

    assert changed == ["distribution"]
    assert vane.row("vane")["reason"] == "readiness_stale"


@pytest.mark.req("B2")
def test_the_proof_shows_its_age_and_what_it_is_bound_to(vane: Vane) -> None:
    shown = vane("extension", "show", "vane").document

    proof = shown["proof"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", proof["verified_at"])
    assert proof["revision"] == shown["active_revision"]
    assert sorted(proof["groups"]) == ["closure", "distribution", "interpreter", "launcher", "pth"]
    assert (proof["host_api"], proof["platform"].split("-")[0]) == (1, "linux")


@pytest.mark.req("X4")
def test_a_failed_doctor_clears_the_proof_and_keeps_the_revision(vane: Vane) -> None:
    revision = vane.row("vane")["active_revision"]
    vane.put("vane", *vane.requires, files=vane.files(f"#!{vane.python} -IS\nraise SystemExit(3)\n"))

    failed = vane("extension", "doctor", "vane", "--execute")

    row = vane.row("vane")
    assert failed.status == 1
    assert (row["reason"], row["active_revision"], row["revision_count"]) == ("doctor_required", revision, 1)


# --- two writes within one tick -------------------------------------------------------------------------------------


@pytest.mark.parametrize("attempt", range(5))
def test_a_write_right_after_the_proof_is_noticed_though_size_and_clock_are_the_same(
    tmp_path: Path, attempt: int
) -> None:
    vane = Vane(tmp_path)
    path = write(vane.packages / "vane/cli.py", f"# {attempt} one\n")
    vane.proved()
    written = path.stat()

    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))

    assert vane.row("vane")["changed"] == ["distribution"]


def test_a_write_right_after_a_look_is_noticed(vane: Vane) -> None:
    path = vane.packages / "vane/cli.py"
    for text in ("# one\n", "# two\n", "# vane/cli.py\n"):
        path.write_text(text, "utf-8")
        assert vane.row("vane")["ready"] is (text == "# vane/cli.py\n")


# --- caches ---------------------------------------------------------------------------------------------------------


def remembered(vane: Vane) -> Path:
    """Ask until the identity of the launcher is remembered by stat; return the cache file."""
    for _ in range(50):
        vane.rows()
        found = [path for path in (vane.cache / "fingerprints").glob("*.json") if b"bin/vane" in path.read_bytes()]
        if found:
            return found[0]
    raise AssertionError("it is never remembered")


def without_result(document: dict[str, Any]) -> object:
    return {**document, "result": {}}


def with_result(**changes: object) -> Edit:
    return lambda document: {**document, "result": {**document["result"], **changes}}


POISONS: dict[str, Callable[[dict[str, Any]], object]] = {
    "array": lambda _: [],
    "other_schema": lambda document: {**document, "schema": "other"},
    "no_result": without_result,
    "groups_of_a_wrong_type": with_result(groups=5),
    "a_group_of_a_wrong_type": with_result(groups={"launcher": 5}),
    "launcher_of_a_wrong_type": with_result(launcher_sha256=5),
    "owner_of_a_wrong_type": with_result(owner="vane"),
    "owner_without_version": with_result(owner={"name": "vane"}),
    "files_of_a_wrong_type": with_result(files=[]),
    "closure_of_a_wrong_type": with_result(closure=5),
    "rows_of_a_wrong_type": lambda document: {**document, "rows": {"/": 5}},
    "empty_rows_and_no_context": lambda document: {**document, "rows": {}, "context": None},
    "short_rows": lambda document: {**document, "rows": {path: ["x"] for path in document["rows"]}},
    "digests_of_a_wrong_type": lambda document: {
        **document,
        "context": None,
        "rows": {path: [*row[:-1], 5] if len(row) == 6 else row for path, row in document["rows"].items()},
    },
}


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS)
@pytest.mark.parametrize("changed", [False, True], ids=["unchanged", "changed"])
def test_a_poisoned_fingerprint_cache_breaks_nothing_and_hides_no_change(
    vane: Vane, poison: Callable[[dict[str, Any]], object], *, changed: bool
) -> None:
    cache = remembered(vane)
    poisoned = poison(json.loads(cache.read_bytes()))
    if changed:
        write(vane.packages / "vane/cli.py", "# changed\n")
    cache.write_bytes(json.dumps(poisoned).encode())

    answers = vane.rows(), vane.run("vane", {})

    if changed:
        assert answers[0][0]["changed"] != []
        assert answers[1].code == "readiness_stale"
    else:
        assert answers[0][0]["ready"] is True
        assert answers[1].status == 0


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 1_000_000, b"null"], ids=repr)
def test_a_truncated_fingerprint_cache_is_passed_over(vane: Vane, data: bytes) -> None:
    remembered(vane).write_bytes(data[:1000] if len(data) < 1000 else data)

    assert vane.row("vane")["ready"] is True


def test_an_older_cache_put_back_hides_no_change(vane: Vane) -> None:
    """To hide a change, each row must be forged with the stat the changed file has now, ctime included."""
    cache = remembered(vane)
    before = cache.read_bytes()
    path = vane.packages / "vane/cli.py"
    written = path.stat()
    path.write_bytes(path.read_bytes().replace(b"vane", b"VANE"))
    os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))
    cache.write_bytes(before)

    assert vane.row("vane")["changed"] == ["distribution"]


def test_without_a_writable_cache_readiness_is_right(vane: Vane) -> None:
    blocked = vane.root / "no-directory"
    blocked.write_bytes(b"")
    vane.env["XDG_CACHE_HOME"] = str(blocked)
    before = vane.row("vane")["ready"]

    write(vane.packages / "vane/cli.py", "# changed\n")

    assert before is True
    assert vane.row("vane")["changed"] == ["distribution"]


def test_without_any_cache_readiness_is_right(vane: Vane) -> None:
    shutil.rmtree(vane.cache)

    assert vane.row("vane")["ready"] is True


def test_no_cache_lies_beside_the_state_file(vane: Vane) -> None:
    remembered(vane)

    names = {path.name for path in vane.root.iterdir()}

    assert {name for name in names if name.startswith("state.json")} == {"state.json", "state.json.lock"}


# --- the hot path ---------------------------------------------------------------------------------------------------


@needs_strace
def test_a_readiness_that_is_remembered_looks_once_at_each_covered_file_and_opens_none(vane: Vane) -> None:
    remembered(vane)
    covered = {str(path) for path in vane.covered if path != vane.launcher}

    lines = traced(vane, "extension", "list", calls="%file")

    opened = [line for line in lines if re.match(r"\d+ +open", line) and any(f'"{path}"' in line for path in covered)]
    looks = {path: sum(f'"{path}"' in line for line in lines) for path in covered}
    assert opened == []
    assert looks == dict.fromkeys(covered, 1)


@needs_strace
def test_after_a_change_only_what_changed_is_read_again(vane: Vane) -> None:
    remembered(vane)
    changed = write(vane.packages / "vane/cli.py", "# changed\n")

    lines = traced(vane, "extension", "list", calls="open,openat")

    read = {path for path in map(str, vane.covered[1:]) if any(f'"{path}"' in line for line in lines)}
    assert read == {str(changed)}
