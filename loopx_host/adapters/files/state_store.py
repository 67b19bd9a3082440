"""The activation state file on disk (contract section 5, *Activation state*)."""

from __future__ import annotations

import os
import re

from loopx_host.adapters.files import atomic, bounded, paths, places
from loopx_host.adapters.files.lock import FileLock, LockBusyError
from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import refusal
from loopx_host.core.limits import LOCK_WAIT_SECONDS, SCHEMA_BYTES, STATE_BYTES
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.state import Replacement

    _Result = TypeVar("_Result")


_SCHEMAS = "schemas"
_SCHEMA_FILE = re.compile("[0-9a-f]{64}[.]json|[.][0-9a-f]{64}[.]json[.][0-9a-f]{16}[.]tmp")  # and a draft of one


class FileStateStore:
    """One state file, its lock beside it, and the directory `kept` of what is kept with it, which is loopx's own."""

    def __init__(
        self,
        path: str,
        kept: str,
        wait_seconds: float = LOCK_WAIT_SECONDS,
        check: Callable[[], None] | None = None,
    ) -> None:
        self._check = check
        self._path = path
        self._kept = kept
        self._wait_seconds = wait_seconds
        self.location = visible(path)

    @classmethod
    def at(
        cls, state_file: str | None, runtime_root: str | None, check: Callable[[], None] | None = None
    ) -> FileStateStore:
        """Return the store for the caller's options; `state_file` wins and keeps the rest in ``P.d``.

        `check` is called while waiting for the lock. Raises Refused `state_unsafe` when there is no home to keep
        a state in.
        """
        if state_file is not None:
            path = paths.absolute(state_file)
            return cls(path, f"{os.path.realpath(path)}.d", check=check)
        path = paths.state_file(paths.runtime_root(runtime_root))
        if not os.path.isabs(path):
            summary = "the home directory is not known, so there is no place for a state file"
            raise refusal(
                "state_unsafe", visible(path), summary, hint="set HOME, or name a place with --runtime-root"
            )
        return cls(path, os.path.dirname(path), check=check)

    @classmethod
    def beside(
        cls, state_file: str | None, runtime_root: str | None, name: str, check: Callable[[], None] | None = None
    ) -> FileStateStore:
        """Return the store of another file that is kept with the activation state, under the same rules."""
        kept = cls.at(state_file, runtime_root)._kept  # noqa: SLF001 (of the same class)
        return cls(os.path.join(kept, name), kept, check=check)

    def read(self) -> bytes | None:
        """Return the file's bytes or None. Raises Refused (see the port)."""
        return self._read(self._target())

    def change(self, edit: Callable[[bytes | None], Replacement]) -> None:
        """Replace the file under the lock, durably. Raises Refused (see the port)."""
        target = self._target()
        self._under_lock(target, lambda: self._replace(target, edit(self._read(target))))

    def read_schema(self, digest: str) -> bytes | None:
        """Return a kept schema file, if it still is what its name says (see the port)."""
        try:
            data = bounded.read_regular(os.path.join(self._kept, _SCHEMAS, f"{digest}.json"), SCHEMA_BYTES)
        except OSError:
            return None
        return data if sha256_hex(data) == digest else None

    def preserve(self, data: bytes, mark: str, is_copy: Callable[[bytes], bool]) -> str:
        """Keep a copy of damaged bytes beside the state file (see the port)."""
        target = self._target()
        path = self._damaged_name(target, mark)
        try:
            if os.path.lexists(path) and not _is_copy(
                path, is_copy
            ):  # somebody else's idea of what the copy should be
                path = self._new_damaged_name(target)
            if not os.path.lexists(path):
                atomic.replace(path, data)
        except OSError as error:
            raise self._unwritable(error) from error
        return visible(path)

    def set_aside(self, is_damaged: Callable[[], bool], empty: bytes) -> str | None:
        """Move the damaged state file aside under the lock (see the port)."""
        target = self._target()

        def act() -> str | None:
            return self._move_damaged(target, empty) if is_damaged() else None

        place = self._under_lock(target, act)
        return None if place is None else visible(place)

    def _replace(self, target: str, new: Replacement) -> None:
        """Keep the new schemas, replace the state, drop what it no longer refers to: safe after each step."""
        atomic.discard_drafts(target)
        if new.schemas:
            schemas = places.own(*os.path.split(self._kept), _SCHEMAS, make=True)
            for digest, data in new.schemas.items():
                atomic.replace(os.path.join(schemas, f"{digest}.json"), data)
        atomic.replace(target, new.data)
        if new.referred is not None and not _has_damaged_copy(target):
            self._drop({f"{digest}.json" for digest in new.referred})

    def _drop(self, kept: set[str]) -> None:
        """Remove the schema files nobody refers to; what cannot be removed only takes room."""
        try:
            schemas = places.own(*os.path.split(self._kept), _SCHEMAS)
            for name in set(filter(_SCHEMA_FILE.fullmatch, os.listdir(schemas))) - kept:
                os.unlink(os.path.join(schemas, name))
            os.rmdir(schemas)  # succeeds only when it is empty
        except OSError:
            pass

    def _under_lock(self, target: str, act: Callable[[], _Result]) -> _Result:
        """Return ``act()`` done while holding the lock of `target`; what the system refuses is coded."""
        try:
            self._make_place(os.path.dirname(target))
            with FileLock(f"{target}.lock", self._wait_seconds, self._check):
                return act()
        except LockBusyError as error:
            raise refusal(
                "lock_busy",
                self.location,
                f"another command holds the lock of {self.location} ({error.strerror})",
                hint="try again when it has finished",
            ) from None
        except places.UntrustedError as error:
            raise self._untrusted(error) from None
        except OSError as error:
            raise self._unwritable(error) from error

    def _make_place(self, directory: str) -> None:
        """Make the directory of the file, which may be loopx's own. Raises OSError."""
        if directory == self._kept:
            places.own(*os.path.split(directory), make=True)
        else:
            places.directory(directory, make=True)

    def _move_damaged(self, target: str, empty: bytes) -> str:
        """Give the damaged file another name; behind a link an empty state is put in its place, in one step."""
        path = self._new_damaged_name(target)
        if target == self._path:
            os.rename(target, path)
            atomic.sync_directory(os.path.dirname(target))
            return path
        os.link(target, path)
        atomic.replace(target, empty)
        return path

    def _new_damaged_name(self, target: str) -> str:
        while os.path.lexists(path := self._damaged_name(target, os.urandom(4).hex())):
            pass
        return path

    def _damaged_name(self, target: str, digits: str) -> str:
        return f"{target}.damaged-{digits[:8]}"

    def _target(self) -> str:
        """Follow a link to its target; refuse one that leads nowhere, since its maker chose the place."""
        if os.path.islink(self._path):
            target = os.path.realpath(self._path)
            if not os.path.isfile(target):
                raise refusal(
                    "state_unsafe",
                    self.location,
                    f"the state file {self.location} is a link to {visible(target)}, which is not a file",
                    hint="remove the link, or create the file it names",
                )
            return target
        return self._path

    def _read(self, path: str) -> bytes | None:
        try:
            return bounded.read_regular(path, STATE_BYTES, owners=(0, os.geteuid()))
        except FileNotFoundError:
            return None
        except bounded.NotRegularError as error:
            raise refusal("state_unsafe", self.location, f"the state file {self.location}: {error}") from None
        except bounded.ForeignOwnerError as error:
            summary = f"the state file {self.location}: {error}; what it says would run as you"
            raise refusal("state_unsafe", self.location, summary, hint="use a state file of your own") from None
        except bounded.TooLargeError as error:
            raise refusal("state_damaged", self.location, f"the state file {self.location}: {error}") from None
        except OSError as error:
            summary = f"the state file {self.location} cannot be read: {error.strerror}"
            raise refusal("state_unreadable", self.location, summary) from error

    def _untrusted(self, error: OSError) -> Refused:
        return refusal(
            "state_unsafe",
            self.location,
            f"the state file {self.location} is not written: {error.strerror}",
            hint="name a state file in a directory of your own",
        )

    def _unwritable(self, error: OSError) -> Refused:
        return refusal(
            "state_unwritable",
            self.location,
            f"the state file {self.location} cannot be written: {error.strerror}",
            hint="make room or set permissions, look at what is in place, then repeat the command",
        )


def _has_damaged_copy(target: str) -> bool:
    """Whether a copy of a damaged state lies beside `target`: it may refer to schemas the state no longer does."""
    directory, name = os.path.split(target)
    return any(entry.startswith(f"{name}.damaged-") for entry in os.listdir(directory))


def _is_copy(path: str, is_copy: Callable[[bytes], bool]) -> bool:
    """Whether a regular file is a copy; a link to one does not count."""
    try:
        return not os.path.islink(path) and is_copy(bounded.read_regular(path, STATE_BYTES))
    except OSError:
        return False
