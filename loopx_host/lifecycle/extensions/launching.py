"""From a launcher and its manifest to the launch of one process: arguments, variables, bounds, grants."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.prerequisites import folders
from loopx_host.lifecycle.extensions.process import Grants, Launch, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.identity import Launcher, RuntimeIdentity
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.process import Ended
    from loopx_host.registry.manifest import Runtime

# Interpreters that use what they allocate. Others reserve far more address space than they ever touch.
_MODEST_INTERPRETERS = ("python", "pypy", "sh", "bash", "dash", "zsh", "perl", "ruby", "lua", "tclsh", "php", "awk")


def doctor_launch(target: Launcher, runtime: Runtime, identity: RuntimeIdentity, packages: Packages) -> Launch:
    """Return the launch of a probe: the doctor's arguments, nothing on standard input, no permission at all."""
    seconds = runtime.doctor_timeout_seconds
    launch = process_launch(target, runtime, identity, packages, args=runtime.doctor_args, seconds=seconds)
    if packages.bytecode_cache(identity) is None:
        # What a run compiles depends on its request; only what the doctor compiled serves later runs.
        launch.bytecode_to = packages.new_bytecode(identity)
    return launch


def keep_bytecode(
    launch: Launch, ended: Ended, identity: RuntimeIdentity, packages: Packages, *, proved: bool
) -> None:
    """Keep the byte code a process left for its identity, or drop it; `proved`: nothing changed meanwhile."""
    if launch.bytecode_to is not None:
        packages.keep_bytecode(identity, launch.bytecode_to, proved=proved and ended.exit_code == 0)


def process_launch(
    target: Launcher,
    runtime: Runtime,
    identity: RuntimeIdentity,
    packages: Packages,
    *,
    args: list[str],
    seconds: float,
    stdin: bytes = b"",
    permissions: list[str] | None = None,
    references: dict[str, str] | None = None,
) -> Launch:
    """Return the launch of a proved program with what running it needs to read, its byte code and its bounds."""
    needs = identity.details.get("needs", {})
    first = folders(runtime, packages)
    cache = packages.bytecode_cache(identity)
    settings = {} if cache is None else {"PYTHONPYCACHEPREFIX": cache}
    reads = [*needs.get("reads", []), *first, *_beside(first), *([cache] if cache else [])]
    return Launch(
        target.argv(args),
        Limits(
            seconds,
            open_files=runtime.open_files_limit,
            memory_mb=runtime.memory_limit_mb,
            reserves_memory=_reserves_memory(identity, runtime),
        ),
        env_names=runtime.env,
        env_set=settings if target.module is None else {**settings, "PYTHONUTF8": "1"},
        path_first=first,
        stdin=stdin,
        grants=Grants(reads, needs.get("lists", []), permissions=permissions, references=references),
    )


def _beside(folders: list[str]) -> list[str]:
    """Return the libraries beside the programs of a runtime package."""
    prefixes = [folder.rpartition("/")[0] for folder in folders if folder.endswith("/bin")]
    return [f"{prefix}/{name}" for prefix in prefixes if prefix for name in ("lib", "lib64")]


def _reserves_memory(identity: RuntimeIdentity, runtime: Runtime) -> bool:
    """Whether the runtime reserves address space it does not use: Node does, and any compiled program may."""
    name = str(identity.details.get("interpreter") or "")
    is_modest = name.startswith(_MODEST_INTERPRETERS)
    return not is_modest or "node" in runtime.requires
