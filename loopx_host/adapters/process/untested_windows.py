"""UNTESTED: the end of a process tree and its limits on Windows, by a job object.

No part of the host calls this module, and nothing here has run on Windows: the host is supported on Linux, and on
Windows it is refused at start. It is written from Microsoft's reference of jobapi2.h, winnt.h and
processthreadsapi.h. Importing it touches no Windows library.

A job ends every process in it and bounds their memory and number. It hides no file, closes no socket and refuses no
write: what the rung `contained` promises would need more (a restricted token or an app container).

To try on a real machine before anything may call it:

- start the provider suspended and keep the handle of its first thread: `subprocess.Popen` closes that handle, so
  CreateProcessW has to be called with `CREATE_SUSPENDED`, and only the three standard handles may be inherited;
- the host is itself in a job (a build service, a terminal): nesting works, and a refusal ends the provider;
- children, detached ones and grandchildren included, are in the job, and none can break away from it;
- killing the host closes the last handle and ends them all; no child may have inherited that handle;
- a process over its memory fails to allocate, and one process too many fails to start, without ending the others;
- a provider that crashes ends without a dialogue.
"""

from __future__ import annotations

import ctypes
import errno
import sys

CREATE_SUSPENDED = 0x00000004  # for dwCreationFlags of CreateProcessW

LIMIT_ACTIVE_PROCESS = 0x00000008
LIMIT_PROCESS_MEMORY = 0x00000100
LIMIT_DIE_ON_UNHANDLED_EXCEPTION = 0x00000400
LIMIT_KILL_ON_JOB_CLOSE = 0x00002000
_EXTENDED_LIMIT_INFORMATION = 9  # JOBOBJECTINFOCLASS
_RESUME_FAILED = 0xFFFFFFFF  # (DWORD) -1

# Not those of ctypes.wintypes: its DWORD is a C long, which has 64 bits away from Windows.
_BOOL, _DWORD, _UINT, _HANDLE = ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p


class BasicLimitInformation(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", _DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", _DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", _DWORD),
        ("SchedulingClass", _DWORD),
    )


class IoCounters(ctypes.Structure):
    """IO_COUNTERS; reserved where it is part of the extended limits."""

    _fields_ = tuple(
        (f"{kind}{counted}Count", ctypes.c_uint64)
        for counted in ("Operation", "Transfer")
        for kind in ("Read", "Write", "Other")
    )


class ExtendedLimitInformation(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("BasicLimitInformation", BasicLimitInformation),
        ("IoInfo", IoCounters),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


def limits_of(memory_mb: int | None, processes: int) -> ExtendedLimitInformation:
    """Return the limits of one job: memory of each process in MiB (None: unlimited), number of processes."""
    limits = ExtendedLimitInformation()
    flags = LIMIT_KILL_ON_JOB_CLOSE | LIMIT_DIE_ON_UNHANDLED_EXCEPTION | LIMIT_ACTIVE_PROCESS
    limits.BasicLimitInformation.ActiveProcessLimit = processes
    if memory_mb is not None:
        flags |= LIMIT_PROCESS_MEMORY
        limits.ProcessMemoryLimit = memory_mb * 1024 * 1024
    limits.BasicLimitInformation.LimitFlags = flags
    return limits


def kernel32() -> ctypes.CDLL:
    """Return the library with the documented signatures; an OSError anywhere but on Windows."""
    if sys.platform == "win32":
        library = ctypes.WinDLL("kernel32", use_last_error=True)
        for name, result, arguments in (
            ("CreateJobObjectW", _HANDLE, (ctypes.c_void_p, ctypes.c_wchar_p)),
            ("SetInformationJobObject", _BOOL, (_HANDLE, ctypes.c_int32, ctypes.c_void_p, _DWORD)),
            ("AssignProcessToJobObject", _BOOL, (_HANDLE, _HANDLE)),
            ("ResumeThread", _DWORD, (_HANDLE,)),
            ("TerminateJobObject", _BOOL, (_HANDLE, _UINT)),
            ("TerminateProcess", _BOOL, (_HANDLE, _UINT)),
            ("CloseHandle", _BOOL, (_HANDLE,)),
        ):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        return library
    raise OSError(errno.ENOSYS, "job objects exist on Windows only")


class Job:
    """One job object without a name, whose handle no child inherits; closing it ends every process in it."""

    def __init__(self, kernel: ctypes.CDLL, limits: ExtendedLimitInformation) -> None:
        self._kernel = kernel
        self._handle: int | None = kernel.CreateJobObjectW(None, None)
        if not self._handle:
            raise _failure("CreateJobObjectW")
        information = (_EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits))
        if not kernel.SetInformationJobObject(self._handle, *information):
            failure = _failure("SetInformationJobObject")
            self.close()
            raise failure

    def admit(self, process: int, thread: int) -> None:
        """Put a suspended process under the limits and let its first thread run; where that fails, end it."""
        if not self._kernel.AssignProcessToJobObject(self._handle, process):
            failure = _failure("AssignProcessToJobObject")
            self._kernel.TerminateProcess(process, 1)
            raise failure
        if self._kernel.ResumeThread(thread) == _RESUME_FAILED:
            failure = _failure("ResumeThread")
            self.end()
            raise failure

    def end(self, exit_code: int = 1) -> None:
        """End every process in the job; none can refuse or delay it."""
        if not self._kernel.TerminateJobObject(self._handle, exit_code):
            raise _failure("TerminateJobObject")

    def close(self) -> None:
        """Give the handle back, once; whatever is still in the job ends with it."""
        handle, self._handle = self._handle, None
        if handle:
            self._kernel.CloseHandle(handle)


def _failure(function: str) -> OSError:
    code = 0
    if sys.platform == "win32":
        code = ctypes.get_last_error()
    return OSError(0, f"{function} failed", None, code)
