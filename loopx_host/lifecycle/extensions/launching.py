"""From a program to the launch of one process: arguments, variables, bounds, grants."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.process import Grants, Launch, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.candidate import Program
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.process import Ended

# Interpreters that use what they allocate. Others reserve far more address space than they ever touch.
_MODEST_INTERPRETERS = ("python", "pypy", "sh", "bash", "dash", "zsh", "perl", "ruby", "lua", "tclsh", "php", "awk")


def doctor_launch(program: Program, packages: Packages) -> Launch:
    """Return the launch of a probe: the doctor's arguments, nothing on standard input, no permission at all.

    It begins without byte code, whatever was kept before: a proof is of the sources that lie there now.
    """
    runtime = program.runtime
    launch = process_launch(program, args=runtime.doctor_args, seconds=runtime.doctor_timeout_seconds, cache=None)
    # What a run compiles depends on its request; only what the doctor compiled serves later runs.
    launch.bytecode_to = packages.new_bytecode(program.bytecode_key)
    return launch


def keep_bytecode(launch: Launch, ended: Ended, program: Program, packages: Packages, *, proved: bool) -> None:
    """Keep the byte code a process left as that of its program, or drop it; `proved`: nothing changed meanwhile."""
    if launch.bytecode_to is not None:
        packages.keep_bytecode(program.bytecode_key, launch.bytecode_to, proved=proved and ended.exit_code == 0)


def process_launch(
    program: Program,
    *,
    args: list[str],
    seconds: float,
    cache: str | None,
    stdin: bytes = b"",
    permissions: list[str] | None = None,
    references: dict[str, str] | None = None,
) -> Launch:
    """Return a launch with what running the program needs to read, its byte code and its bounds.

    `cache` is the directory of byte code that it may read, if there is any.
    `permissions` are the tokens granted to it, `references` the paths behind their names.
    """
    runtime, identity, launcher = program.runtime, program.identity, program.launcher
    needs = identity.details.get("needs", {})
    settings = {} if cache is None else {"PYTHONPYCACHEPREFIX": cache}
    reads = [*needs.get("reads", []), *([cache] if cache else [])]
    return Launch(
        launcher.argv(args),
        Limits(
            seconds,
            open_files=runtime.open_files_limit,
            memory_mb=runtime.memory_limit_mb,
            reserves_memory=_reserves_memory(program),
        ),
        env_names=runtime.env,
        env_set=settings if launcher.module is None else {**settings, "PYTHONUTF8": "1"},
        search_path=identity.details.get("search_path", launcher.search_path),
        stdin=stdin,
        grants=Grants(reads, needs.get("lists", []), permissions=permissions, references=references),
    )


def _reserves_memory(program: Program) -> bool:
    """Whether the runtime reserves address space it does not use: Node does, and any compiled program may."""
    name = str(program.identity.details.get("interpreter") or "")
    is_modest = name.startswith(_MODEST_INTERPRETERS)
    return not is_modest or "node" in program.runtime.requires
