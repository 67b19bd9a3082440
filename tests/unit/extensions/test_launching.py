"""From a program to the launch of one process, and whose byte code is kept (contract sections 5 and 6)."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.core.limits import SYSTEM_PATH
from loopx_host.lifecycle.dispatch.launch import run_launch
from loopx_host.lifecycle.extensions.candidate import Program
from loopx_host.lifecycle.extensions.identity import ENTRYPOINT, MODULE, BytecodeKey, Launcher, RuntimeIdentity
from loopx_host.lifecycle.extensions.launching import doctor_launch, keep_bytecode, process_launch
from loopx_host.lifecycle.extensions.probe import changed_since, probe
from loopx_host.lifecycle.extensions.process import TIMEOUT, Ended, Launch
from tests.support.fakes import PROGRAM, MemoryPackages, Script, ScriptedProcesses, World

NEEDS = {"reads": ["/made/up/lib", "/made/up/site"], "lists": ["/made/up"]}
NODE = '[runtime.requires]\nnode = ">=24"\n'


def program(runtime: str = "", *, details: Any = None, module: str | None = None) -> Program:
    manifest = World().sources.put(runtime=runtime).manifest
    assert manifest.runtime is not None
    launcher = Launcher(MODULE, PROGRAM, module) if module else Launcher(ENTRYPOINT, PROGRAM)
    return Program(manifest, manifest.runtime, launcher, RuntimeIdentity({"launcher": "first"}, details=details))


def identified(packages: MemoryPackages) -> Program:
    """Return a program as it is in `packages`."""
    manifest, launcher = World().sources.put().manifest, Launcher(ENTRYPOINT, PROGRAM)
    identity = packages.identify(launcher)
    assert manifest.runtime is not None
    assert identity is not None
    return Program(manifest, manifest.runtime, launcher, identity)


def launched(made: Program, **settings: Any) -> Launch:
    return process_launch(made, **{"args": ["--serve"], "seconds": 20, "cache": None, **settings})


# --- the launch ----------------------------------------------------------------------------------------------


def test_a_launch_holds_what_the_manifest_declares_and_what_the_caller_grants() -> None:
    made = program('env = ["TOKEN"]\nmemory_limit_mb = 64\nopen_files_limit = 99', details={"needs": NEEDS})

    launch = launched(made, stdin=b"{}", permissions=["fs.read:repo"], references={"repo": "/made/up/repo"})

    assert (launch.argv, launch.stdin) == ([PROGRAM, "--serve"], b"{}")
    assert (launch.env_names, launch.env_set) == (["TOKEN"], {})
    assert (launch.limits.timeout_seconds, launch.limits.open_files, launch.limits.memory_mb) == (20, 99, 64)
    assert (launch.grants.reads, launch.grants.lists) == (NEEDS["reads"], NEEDS["lists"])
    assert (launch.grants.permissions, launch.grants.references) == (["fs.read:repo"], {"repo": "/made/up/repo"})
    assert launch.bytecode_to is None


def test_a_launch_grants_nothing_that_was_not_named() -> None:
    launch = launched(program())

    assert (launch.grants.permissions, launch.grants.references, launch.stdin) == ([], {}, b"")
    assert (launch.grants.reads, launch.grants.lists) == ([], [])


def test_a_module_runs_with_the_unsafe_path_off_and_in_utf_8() -> None:
    """Extension-formats, *Provider environment*: `PYTHONUTF8=1` for `python_module`."""
    launch = launched(program(module="made.up"))

    assert launch.argv == [PROGRAM, "-P", "-m", "made.up", "--serve"]
    assert launch.env_set == {"PYTHONUTF8": "1"}


def test_byte_code_that_was_kept_is_given_and_may_be_read() -> None:
    launch = launched(program(details={"needs": NEEDS}), cache="/made/up/cache/one")

    assert launch.env_set == {"PYTHONPYCACHEPREFIX": "/made/up/cache/one"}
    assert launch.grants.reads == [*NEEDS["reads"], "/made/up/cache/one"]


def test_a_module_gets_its_byte_code_too() -> None:
    launch = launched(program(module="made.up"), cache="/made/up/cache/one")

    assert launch.env_set == {"PYTHONPYCACHEPREFIX": "/made/up/cache/one", "PYTHONUTF8": "1"}


@pytest.mark.req("X17")
def test_the_path_of_a_run_is_the_one_that_was_proved() -> None:
    launch = launched(program(details={"search_path": ["/opt/node/bin", "/usr/bin"]}))

    assert launch.search_path == ["/opt/node/bin", "/usr/bin"]


def test_the_path_of_a_run_without_one_that_was_proved_is_the_one_that_was_pinned() -> None:
    assert launched(program()).search_path == [*SYSTEM_PATH]


@pytest.mark.parametrize(
    ("interpreter", "runtime", "reserves"),
    [
        ("python3.11", "", False),
        ("bash", "", False),
        *(
            (name, "", False)
            for name in ("pypy3.11", "dash", "zsh", "perl", "ruby", "lua5.4", "tclsh8.6", "php", "awk")
        ),
        ("node", "", True),
        ("java", "", True),
        ("", "", True),  # a compiled program may
        ("sh", NODE, True),  # a shell that starts Node
    ],
)
def test_memory_is_counted_by_what_a_runtime_reserves(interpreter: str, runtime: str, reserves: bool) -> None:
    launch = launched(program(runtime, details={"interpreter": interpreter}))

    assert launch.limits.reserves_memory is reserves


def test_a_program_whose_interpreter_is_not_known_may_reserve_memory() -> None:
    assert launched(program()).limits.reserves_memory is True


# --- the doctor's launch and its byte code ----------------------------------------------------------------------


def test_a_doctor_gets_its_own_arguments_and_time_and_no_permission() -> None:
    launch = doctor_launch(program("doctor_timeout_seconds = 5"), MemoryPackages())

    assert (launch.argv, launch.stdin, launch.limits.timeout_seconds) == ([PROGRAM, "--doctor"], b"", 5)
    assert (launch.grants.permissions, launch.grants.references) == ([], {})


def test_a_doctor_reads_no_byte_code_and_brings_its_own_whatever_is_kept() -> None:
    made, packages = program(), MemoryPackages()
    packages.keep_bytecode(made.bytecode_key, "/made/up/cache/one", proved=True)

    launch = doctor_launch(made, packages)

    assert launch.env_set == {}
    assert launch.grants.reads == []
    assert launch.bytecode_to == "/made/up/cache/probe-me/new-1"


def test_a_run_reads_the_byte_code_of_its_own_extension() -> None:
    made, packages = program(), MemoryPackages()
    before = run_launch(made, packages, request=b"{}").env_set
    packages.keep_bytecode(made.bytecode_key, "/made/up/cache/one", proved=True)

    after = run_launch(made, packages, request=b"{}").env_set

    assert (before, after) == ({}, {"PYTHONPYCACHEPREFIX": "/made/up/cache/one"})


class Keeping(MemoryPackages):
    """Notes what it is asked to keep."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[str, bool]] = []

    def keep_bytecode(self, key: BytecodeKey, new: str, *, proved: bool) -> None:
        self.kept.append((new, proved))
        super().keep_bytecode(key, new, proved=proved)


@pytest.mark.parametrize(
    ("ended", "proved", "kept"),
    [
        (Ended(exit_code=0), True, True),
        (Ended(exit_code=0), False, False),
        (Ended(exit_code=3), True, False),
        (Ended(exit_code=3), False, False),
        (Ended(stopped_by=TIMEOUT), True, False),
        (Ended(signal="SIGSEGV"), True, False),
    ],
)
def test_byte_code_is_kept_of_a_program_that_was_proved_and_ended_well_and_else_dropped(
    ended: Ended, proved: bool, kept: bool
) -> None:
    made, packages = program(), Keeping()
    launch = doctor_launch(made, packages)

    keep_bytecode(launch, ended, made, packages, proved=proved)

    assert packages.kept == [(launch.bytecode_to, kept)]


def test_a_launch_that_brings_no_byte_code_has_none_to_keep() -> None:
    made, packages = program(), Keeping()

    keep_bytecode(launched(made), Ended(exit_code=0), made, packages, proved=True)

    assert packages.kept == []


# --- the probe -----------------------------------------------------------------------------------------------


def probed(script: Script, packages: Keeping | None = None) -> tuple[Any, Keeping]:
    packages = packages or Keeping()
    return probe(identified(packages), packages, ScriptedProcesses(script)), packages


def test_a_doctor_that_passes_proves_what_was_identified_and_is_remembered_with_its_byte_code() -> None:
    found, packages = probed(Script(stderr=b"a word\n"))

    assert (found.verified, found.failure_kind, found.reason) == (True, None, None)
    assert packages.remembered == [found.identity.digest]
    assert packages.kept == [("/made/up/cache/probe-me/new-1", True)]
    assert found.ended.stderr == b"a word\n"


@pytest.mark.parametrize(
    ("kind", "script"),
    [("exit_nonzero", Script(exit_code=3)), ("timeout", Script(lasts=True)), ("start_failed", Script(missing=True))],
)
def test_a_doctor_that_fails_proves_nothing_and_its_byte_code_is_dropped(kind: str, script: Script) -> None:
    found, packages = probed(script)

    assert (found.verified, found.failure_kind, found.identity) == (False, kind, None)
    assert found.reason
    assert (packages.remembered, [proved for _, proved in packages.kept]) == ([], [False])


def test_a_doctor_that_changes_its_program_proves_nothing_and_its_byte_code_is_dropped() -> None:
    packages = Keeping()
    change = Script(meanwhile=lambda: packages.programs.update({PROGRAM: "second"}))

    found, _ = probed(change, packages)

    assert (found.verified, found.failure_kind, found.identity) == (False, "changed_during_probe", None)
    assert "launcher" in found.reason
    assert (packages.remembered, [proved for _, proved in packages.kept]) == ([], [False])


# --- what changed since ----------------------------------------------------------------------------------------


def since(change: Any) -> list[str]:
    packages = MemoryPackages()
    made = identified(packages)
    change(packages)
    return changed_since(made, packages)


def test_nothing_changed_since() -> None:
    assert since(lambda _: None) == []


def test_the_groups_that_changed_since_are_named() -> None:
    assert since(lambda packages: setattr(packages, "interpreter", "another")) == ["interpreter"]


def test_a_program_that_is_gone_since_is_named() -> None:
    assert since(lambda packages: packages.programs.clear()) == ["launcher"]


def test_a_file_that_was_written_and_put_back_is_named() -> None:
    assert since(lambda packages: packages.programs.update({"/made/up/bin/another": "x"})) == ["launcher"]
