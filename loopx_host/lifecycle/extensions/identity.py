"""What is executed and what it is made of: a launcher, its runtime identity, and what changed since the proof."""

from __future__ import annotations

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.digest import sha256_hex
from loopx_host.core.limits import SYSTEM_PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypedDict

    from loopx_host.documents.parts import Distribution, Owner, Pin
    from loopx_host.registry.manifest import Runtime

    class Needs(TypedDict):
        """What running it needs: paths to read, and directories whose names it looks through."""

        reads: list[str]
        lists: list[str]

    class IdentityDetails(TypedDict, total=False):
        """What the groups are over: names and digests of files, required distributions with version and digest.

        `programs` are those the manifest requires: path and digest, then those of what executes it. `search_path` is
        the PATH they were found on, which is the one of the run. `started`: what counts of the start of Python, and
        the same as a sentence.

        None stands for what is not there. `not_covered` is for people.
        """

        groups: dict[str, str]
        launcher_sha256: str
        owner: Distribution | None
        files: dict[str, str | None]
        closure: dict[str, list[str] | None]
        started: list[list[str]]
        programs: dict[str, list[str | None] | None]
        search_path: list[str]
        needs: Needs
        interpreter: str | None
        not_covered: list[str]


ENTRYPOINT, MODULE = "entrypoint", "python_module"


class Launcher:
    """A resolved launcher: `path` is the absolute path that is executed, never resolved through links.

    For `python_module` it is the interpreter, so that a venv's ``python`` keeps its venv. `variables` are the names
    of the caller's that reach it and decide what a Python imports. `search_path` are the directories of the PATH it
    is run with, on which `env` and the programs it `requires` are found.
    """

    __slots__ = ("kind", "module", "path", "requires", "search_path", "variables")

    def __init__(
        self,
        kind: str,
        path: str,
        module: str | None = None,
        variables: Iterable[str] = (),
        *,
        search_path: Sequence[str] = SYSTEM_PATH,
        requires: Iterable[str] = (),
    ) -> None:
        self.kind = kind
        self.path = path
        self.module = module
        self.variables = sorted(name for name in variables if name.startswith("PYTHON"))
        self.search_path = [*search_path]
        self.requires = sorted(requires)

    def argv(self, args: list[str]) -> list[str]:
        """Return the argument list of one run; a module runs with the unsafe path off (``-P``)."""
        if self.module is None:
            return [self.path, *args]
        return [self.path, "-P", "-m", self.module, *args]

    def pin(self) -> Pin:
        """Return the launcher as the state file keeps it."""
        return {"kind": self.kind, "path": self.path}

    @classmethod
    def from_pin(cls, pin: Pin, runtime: Runtime, search_path: Sequence[str] | None) -> Launcher:
        """Return the launcher a revision was pinned to, with the search path that was pinned with it, if one was."""
        places, module = SYSTEM_PATH if search_path is None else search_path, runtime.python_module
        return cls(pin["kind"], pin["path"], module, runtime.env, search_path=places, requires=runtime.requires)


class LauncherNotFound:
    """A launcher that was not found; `searched` is every place looked at, in order."""

    __slots__ = ("environment", "name", "searched")

    def __init__(self, name: str, searched: list[str], environment: str) -> None:
        self.name = name
        self.searched = searched
        self.environment = environment


class RuntimeIdentity:
    """One digest over group digests of content (contract section 5, *Readiness*).

    `launcher_sha256` is the digest of the launcher file alone, for people and plans; `details` hold the owner,
    the files and the closure behind the groups, and what they do not cover.
    """

    __slots__ = ("details", "digest", "groups", "launcher_sha256")

    def __init__(
        self, groups: dict[str, str], launcher_sha256: str = "", details: IdentityDetails | None = None
    ) -> None:
        self.groups = groups
        self.launcher_sha256 = launcher_sha256
        self.details = details or {}
        self.digest = canonical_digest(groups)

    @property
    def owner(self) -> Owner:
        """The distribution that carries the launcher, or `UNOWNED` (requirement X17)."""
        from loopx_host.documents.parts import UNOWNED  # a list of extensions does not pay for it

        return self.details.get("owner") or UNOWNED

    @property
    def is_owned(self) -> bool:
        """Whether a distribution carries the launcher."""
        return self.details.get("owner") is not None


class BytecodeKey:
    """Whose byte code it is: of one extension, and of it what one proof covers; nobody else's is ever read.

    `digest` is over everything that decides what is compiled and can be known: the id, the whole revision with its
    arguments, and the identity. Which Python wrote a file is in the file itself.
    """

    __slots__ = ("digest", "extension_id")

    def __init__(self, extension_id: str, revision_digest: str, identity_digest: str) -> None:
        self.extension_id = extension_id
        self.digest = sha256_hex(f"{extension_id}\n{revision_digest}\n{identity_digest}".encode())[:32]


def changes(proved: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return the names of the groups that differ between a proof and the present, sorted."""
    return sorted(name for name in proved.keys() | now.keys() if proved.get(name) != now.get(name))
