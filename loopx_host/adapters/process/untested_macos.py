"""UNTESTED: containment on macOS, as a profile text for ``sandbox-exec -p``.

No part of the host calls this module, and nothing here has run on macOS: the host is supported on Linux. It is
written from the manual pages sandbox-exec(1) and sandbox(7) and from profiles that Apple, Chromium and Mozilla
publish; the profile language itself has no vendor reference, and sandbox-exec is marked as deprecated.

To try on a real machine before anything may call it, with each macOS release that is to be supported:

- a Python and a Node provider start (Mach services, ``file-read*`` of ``/`` and narrower or wider system reads);
- ``(deny default)`` leaves ``file-map-executable``, ``iokit-get-properties``, ``nvram*`` and ``process-info*``
  open, so that they are denied by name; each of those names compiles;
- the last rule that matches wins, so that changing attributes is refused in the private directory too, and
  creating a file there with a mode still works;
- a hard link or a clone of a file outside, made in the private directory, gives no way to write to that file;
- a path is matched after its links are followed (``/tmp`` is ``/private/tmp``): callers give resolved paths;
- paths beyond 255 bytes, beyond ASCII, and with a double quote, a backslash or a newline compile and match;
- with ``net.connect``, names resolve and TLS works; without it, no socket of any family reaches anything;
- a process outside can be neither signalled nor traced, and the run inside another sandbox is refused aloud.
"""

from __future__ import annotations

import os.path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from loopx_host.lifecycle.extensions.process import Grants

SANDBOX_EXEC = "/usr/bin/sandbox-exec"  # never looked up on a PATH that somebody else may have set

# What running anything needs to read: programs, libraries and their shared cache, locale and time zone, devices.
SYSTEM_READS = (
    "/bin",
    "/usr/bin",
    "/usr/lib",
    "/usr/libexec",
    "/usr/share/icu",
    "/usr/share/locale",
    "/usr/share/zoneinfo.default",
    "/private/var/db/timezone",
    "/System/Library",
    "/System/Cryptexes/App",
    "/System/Cryptexes/OS",
    "/System/Volumes/Preboot/Cryptexes/App/System",
    "/System/Volumes/Preboot/Cryptexes/OS",
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
)

_DENIED = (
    "(version 1)",
    "(deny default)",
    "(deny file-map-executable iokit-get-properties nvram* process-info*)",
)
_ALWAYS = (
    "(allow process-fork)",
    "(allow process-info* (target same-sandbox))",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    '(allow file-write-data (require-all (literal "/dev/null") (vnode-type CHARACTER-DEVICE)))',
)
_NO_ATTRIBUTES = (
    "(deny file-write-acl file-write-flags file-write-mode file-write-owner"
    " file-write-setugid file-write-times file-write-xattr)"
)
_NETWORK = '(allow network-outbound (remote ip) (literal "/private/var/run/mDNSResponder"))'


def profile_of(private: str, grants: Grants, system: Sequence[str] = SYSTEM_READS) -> str:
    """Return the profile text for one process: nothing is allowed that is not named here.

    Every path is absolute, normal and already resolved; one that is not absolute and normal is a ValueError, and so
    is a private directory that is the root. Programs run, and libraries load, from what is readable without a
    permission, not from what the process can write to.
    """
    if private == "/":
        raise ValueError("the private directory is the root directory")
    runs = [*system, *grants.reads]
    writes = [private, *_referenced(grants, "fs.write:")]
    reads = [*runs, *_referenced(grants, "fs.read:"), *writes]
    rules = [
        *_DENIED,
        *_ALWAYS,
        _allow("file-read*", _filters("subpath", reads) + _filters("literal", grants.lists)),
        _allow("file-read-metadata", _filters("literal", _above([*reads, *grants.lists]))),
        _allow("file-map-executable process-exec", _filters("subpath", runs)),
        _allow("file-write*", _filters("subpath", writes)),
        _NO_ATTRIBUTES,
        *([_NETWORK] if "net.connect" in grants.permissions else []),
    ]
    return "\n".join(rule for rule in rules if rule) + "\n"


def argv_of(argv: Sequence[str], profile: str) -> list[str]:
    """Return the argv that runs `argv` under `profile`; its program is an absolute path, so never an option."""
    if not argv or not argv[0].startswith("/"):
        raise ValueError("the program is not an absolute path")
    return [SANDBOX_EXEC, "-p", profile, *argv]


def _referenced(grants: Grants, prefix: str) -> list[str]:
    """Return the paths that the granted tokens with this prefix name; a token without a reference grants nothing."""
    names = [token.removeprefix(prefix) for token in grants.permissions if token.startswith(prefix)]
    return [grants.references[name] for name in names if name in grants.references]


def _above(paths: Iterable[str]) -> list[str]:
    """Return every directory on the way to `paths`, which resolving a path has to look at."""
    found: set[str] = set()
    for path in paths:
        place = os.path.dirname(path)
        while place not in found:
            found.add(place)
            place = os.path.dirname(place)
    return sorted(found)


def _allow(operations: str, filters: list[str]) -> str:
    """Return one rule, or nothing: a rule without a filter would allow its operations everywhere."""
    return f"(allow {operations} {' '.join(filters)})" if filters else ""


def _filters(kind: str, paths: Iterable[str]) -> list[str]:
    return [f"({kind} {_quoted(path)})" for path in paths]


def _quoted(path: str) -> str:
    """Return `path` as a string literal: only a backslash and a double quote mean anything inside one."""
    if not path.startswith("/") or path.startswith("//") or "\0" in path or os.path.normpath(path) != path:
        raise ValueError(f"not an absolute and normal path: {path!r}")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
