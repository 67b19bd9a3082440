"""The containment page is the table the code works by."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loopx_host.adapters.process import seccomp, system_files
from loopx_host.adapters.process.confinement import RUNGS

PAGE = (Path(__file__).parents[2] / "docs/reference/containment.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def paths(text: str) -> set[str]:
    return {name for name in re.findall(r"`(/[^`<]*)`", text) if name != "/tmp"}


def test_what_a_provider_can_read_of_the_system_is_written_down() -> None:
    table = "\n".join(line for line in section("What a provider can read").splitlines() if line.startswith("|"))

    assert paths(table) == {*system_files.PROGRAMS, *system_files.DATA, *system_files.DEVICES}


def test_what_net_connect_adds_is_written_down() -> None:
    row = next(line for line in section("What permissions open").splitlines() if line.startswith("| `net.connect`"))

    assert paths(row) == set(system_files.NETWORK_DATA)


@pytest.mark.parametrize("rung", RUNGS)
def test_every_level_has_its_row(rung: str) -> None:
    assert f"\n| `{rung}` |" in section("Levels")


def test_every_limit_of_a_receipt_has_its_row() -> None:
    rows = re.findall(r"^\| `([a-z_]+)` \| .* \| .* \| .* \|$", section("What the receipt says"), re.MULTILINE)

    assert rows[1:] == [
        *("timeout_seconds", "stdout_bytes", "stderr_bytes"),
        *("core_file_bytes", "open_files", "memory_mb", "cpu_seconds", "file_size_mb", "processes"),
        *(
            "network",
            "file_writes",
            "file_attributes",
            "file_reads",
            "signals",
            "tracing",
            "new_privileges",
            "sessions",
        ),
    ]


@pytest.mark.parametrize("machine", sorted(seccomp.AUDIT_ARCHITECTURES))
def test_the_machines_whose_calls_are_filtered_are_named(machine: str) -> None:
    assert machine in section("What the receipt says")
