"""Modes, owners and times at `contained`: the kernel asks the supervisor, which changes its files and no others.

Landlock does not watch these calls and a filter cannot tell one file from another, so the filter hands them to the
supervisor (seccomp user notification). It opens what the call names, once, asks the kernel where that lies, and
changes it itself: no name is looked up a second time, and the call of the provider never goes on. Whatever it cannot
make out is refused.
"""

from __future__ import annotations

import errno
import os
import select
import stat

from loopx_host.adapters.process import kernel, system_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102  # SECCOMP_IOCTL_NOTIF_{RECV,SEND,ID_VALID}
_NOTICE_BYTES, _ID, _THREAD, _NUMBER, _ARGUMENTS = 80, slice(0, 8), slice(8, 12), slice(16, 20), 32
_PIDFD_GETFD = 438
_HERE, _NO_FOLLOW, _EMPTY_PATH = -100, 0x100, 0x1000  # AT_FDCWD, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH
_PATH_BYTES = 4096
_PAGE = 4096
_UNCHANGED = 0xFFFFFFFF  # an owner or a group that stays
_MODE = 0o1777
_SECOND_NS, _MICROSECONDS = 10**9, 10**6
_OWN = (b"/proc/self/", b"/proc/thread-self/")


class _Call:
    """Which argument of a call is what; None where it has none.

    `path` and `directory` name the file, or `descriptor` does; `times` are two of `unit`: `spec`, `val` or `buf`.
    """

    __slots__ = ("descriptor", "directory", "flags", "follows", "mode", "owner", "path", "times", "unit")

    def __init__(
        self,
        *,
        path: int | None = None,
        directory: int | None = None,
        descriptor: int | None = None,
        flags: int | None = None,
        mode: int | None = None,
        owner: int | None = None,
        times: int | None = None,
        unit: str = "spec",
        follows: bool = True,
    ) -> None:
        self.path = path
        self.directory = directory
        self.descriptor = descriptor
        self.flags = flags
        self.mode = mode
        self.owner = owner
        self.times = times
        self.unit = unit
        self.follows = follows


_CALLS = {
    "chmod": _Call(path=0, mode=1),
    "fchmod": _Call(descriptor=0, mode=1),
    "fchmodat": _Call(directory=0, path=1, mode=2),
    "fchmodat2": _Call(directory=0, path=1, mode=2, flags=3),
    "chown": _Call(path=0, owner=1),
    "lchown": _Call(path=0, owner=1, follows=False),
    "fchown": _Call(descriptor=0, owner=1),
    "fchownat": _Call(directory=0, path=1, owner=2, flags=4),
    "utime": _Call(path=0, times=1, unit="buf"),
    "utimes": _Call(path=0, times=1, unit="val"),
    "futimesat": _Call(directory=0, path=1, times=2, unit="val"),
    "utimensat": _Call(directory=0, path=1, times=2, flags=3),
}


def is_there() -> bool:
    """Whether this interpreter can wait for notices as they have to be waited for."""
    return hasattr(select, "poll")


def taken(process: int, number: int) -> int:
    """Return our own descriptor of what the process behind the descriptor `process` has as `number`.

    Raises OSError where this process may not look into the other.
    """
    return kernel.syscall(_PIDFD_GETFD, kernel.unsigned(process), kernel.unsigned(number), kernel.unsigned(0))


class AttributeBroker:
    """Answers the calls of one run, one at a time; `listener` is the descriptor they come by, -1 when it is over.

    `writable` are the directories and files whose attributes may change.
    """

    def __init__(self, listener: int, writable: Iterable[str]) -> None:
        self.listener = listener
        self._roots = [os.fsencode(os.path.realpath(path)) for path in writable]
        self._names = _names()

    def answer(self) -> None:
        """Answer one call that waits, if it still does. Once nobody is left who could call, close the listener."""
        import fcntl

        waiter = select.poll()
        waiter.register(self.listener, select.POLLIN)
        events = sum(event for _, event in waiter.poll(0))
        if not events & select.POLLIN:
            if events:  # its end, which would be told again and again
                self.close()
            return  # else a signal took the call back
        notice = bytearray(_NOTICE_BYTES)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, notice)
            outcome = self._outcome(notice)
            fcntl.ioctl(self.listener, _SEND, bytes(notice[_ID]) + bytes(8) + _signed(-outcome) + bytes(4))
        except OSError:  # the caller was killed meanwhile
            return

    def close(self) -> None:
        """Stop answering: the kernel tells whoever still calls that there is no such call."""
        if self.listener >= 0:
            os.close(self.listener)
            self.listener = -1

    def _outcome(self, notice: bytearray) -> int:
        """Do what is asked where it may be done; return the error, 0 for none."""
        call = self._names.get(int.from_bytes(notice[_NUMBER], "little"))
        if call is None:
            return errno.EPERM
        words = [notice[at : at + 8] for at in range(_ARGUMENTS, _NOTICE_BYTES, 8)]
        caller = _Caller(int.from_bytes(notice[_THREAD], "little"), [int.from_bytes(one, "little") for one in words])
        try:
            file = caller.file(call)
        except OSError as error:
            return error.errno or errno.EPERM
        try:
            if not self._is_alive(notice) or not self._may_change(file):
                return errno.EPERM
            caller.change(call, file)
        except OSError as error:
            return error.errno or errno.EPERM
        finally:
            os.close(file)
        return 0

    def _is_alive(self, notice: bytearray) -> bool:
        """Whether the number of the caller still is the caller's: what was read of it was its own then."""
        import fcntl

        try:
            fcntl.ioctl(self.listener, _IS_VALID, bytes(notice[_ID]))
        except OSError:
            return False
        return True

    def _may_change(self, file: int) -> bool:
        """Whether an open file belongs to this user and lies where this run may write."""
        path = os.readlink(b"/proc/self/fd/%d" % file)
        inside = any(path == root or path.startswith(root + b"/") for root in self._roots)
        return inside and os.fstat(file).st_uid == os.geteuid()


class _Caller:
    """A thread that waits for the answer to a call: its arguments, its memory, its descriptors."""

    def __init__(self, thread: int, arguments: list[int]) -> None:
        self._thread = thread
        self._arguments = arguments

    def file(self, call: _Call) -> int:
        """Return a descriptor of what the call names, for looking at only. Raises OSError as the call would."""
        flags = 0 if call.flags is None else self._arguments[call.flags]
        if call.descriptor is not None:
            return self._opened(_int(self._arguments[call.descriptor]))
        directory = _HERE if call.directory is None else _int(self._arguments[call.directory])
        pointer = self._arguments[call.path or 0]
        if not pointer and call.times is not None and call.directory is not None:
            return self._opened(directory)  # utimensat of an open file
        path = self._text(pointer)
        if not path:
            if flags & _EMPTY_PATH:
                return self._opened(directory)
            raise OSError(errno.ENOENT, "an empty path")
        for own in _OWN:  # not this process
            if path.startswith(own):
                path = b"/proc/%d/%s" % (self._thread, path.removeprefix(own))
        follows = call.follows and not flags & _NO_FOLLOW
        how = os.O_PATH if follows else os.O_PATH | os.O_NOFOLLOW
        if path.startswith(b"/"):
            return os.open(path, how)
        base = self._opened(directory)
        try:
            return os.open(path, how, dir_fd=base)
        finally:
            os.close(base)

    def change(self, call: _Call, file: int) -> None:
        """Change an open file as the call asks. Raises OSError."""
        if call.mode is not None:
            _set_mode(file, self._arguments[call.mode])
        elif call.owner is not None:
            _keep_owner(file, self._arguments[call.owner], self._arguments[call.owner + 1])
        elif call.times is not None:
            _set_times(file, self._times(self._arguments[call.times], call.unit))

    def _times(self, pointer: int, unit: str) -> bytes | None:
        """Return access and modification time as two ``timespec``; None is now."""
        if not pointer:
            return None
        if unit == "spec":
            return self._memory(pointer, 32)
        if unit == "buf":
            seconds = self._memory(pointer, 16)
            return seconds[:8] + bytes(8) + seconds[8:] + bytes(8)
        values = self._memory(pointer, 32)
        micro = [int.from_bytes(values[at : at + 8], "little", signed=True) for at in (8, 24)]
        if not all(0 <= one < _MICROSECONDS for one in micro):
            raise OSError(errno.EINVAL, "microseconds")
        nano = [(one * (_SECOND_NS // _MICROSECONDS)).to_bytes(8, "little") for one in micro]
        return values[:8] + nano[0] + values[16:24] + nano[1]

    def _opened(self, number: int) -> int:
        """Return a descriptor of what the caller has open as `number`, or of its working directory."""
        name = "cwd" if number == _HERE else f"fd/{number}"
        try:
            return os.open(f"/proc/{self._thread}/{name}", os.O_PATH)
        except FileNotFoundError:
            raise OSError(errno.EBADF, "no such descriptor") from None

    def _text(self, pointer: int) -> bytes:
        """Return the path that stands at an address, without its end."""
        kept = b""
        while len(kept) < _PATH_BYTES:
            # To the end of the page: the next one need not be there.
            at = pointer + len(kept)
            text, end, _ = self._memory(at, min(_PAGE - at % _PAGE, _PATH_BYTES - len(kept))).partition(b"\0")
            kept += text
            if end:
                return kept
        raise OSError(errno.ENAMETOOLONG, "a path")

    def _memory(self, address: int, size: int) -> bytes:
        memory = os.open(f"/proc/{self._thread}/mem", os.O_RDONLY)
        try:
            data = os.pread(memory, size, address)
        except (OSError, OverflowError):
            raise OSError(errno.EFAULT, "an address") from None
        finally:
            os.close(memory)
        if len(data) < size:
            raise OSError(errno.EFAULT, "an address")
        return data


def _set_mode(file: int, mode: int) -> None:
    if mode & system_calls.SET_ID:
        raise OSError(errno.EPERM, "a mode that makes its user somebody else")
    if stat.S_ISLNK(os.fstat(file).st_mode):
        raise OSError(errno.EOPNOTSUPP, "the mode of a link")
    os.chmod(f"/proc/self/fd/{file}", mode & _MODE)


def _keep_owner(file: int, owner: int, group: int) -> None:
    """Let a file keep the owner that it has, which is all that can be asked for."""
    kept = os.fstat(file)
    for asked, present in ((owner, kept.st_uid), (group, kept.st_gid)):
        if asked & _UNCHANGED not in (_UNCHANGED, present):
            raise OSError(errno.EPERM, "another owner")


def _set_times(file: int, times: bytes | None) -> None:
    number = system_calls.number("utimensat", kernel.machine())
    kernel.syscall(number or 0, kernel.unsigned(file), b"", times, kernel.unsigned(_EMPTY_PATH))


def _names() -> dict[int, _Call]:
    machine = kernel.machine()
    numbers = {name: system_calls.number(name, machine) for name in _CALLS}
    return {number: _CALLS[name] for name, number in numbers.items() if number is not None}


def _int(argument: int) -> int:
    """Return an argument that the kernel takes as a C int."""
    return (argument & 0x7FFFFFFF) - (argument & 0x80000000)


def _signed(number: int) -> bytes:
    return number.to_bytes(4, "little", signed=True)
