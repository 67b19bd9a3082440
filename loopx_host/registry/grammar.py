"""The grammars of the manifest's strings, each a check that says what is wrong as a clause, or None."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_PROTOCOL = re.compile(r"[a-z][a-z0-9_]{0,63}_v[0-9]+", re.ASCII)
_PERMISSION = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*(?::[a-z][a-z0-9_-]*)?", re.ASCII)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_PREREQUISITE = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_CONSTRAINT = re.compile(r"(?:>=|<=|==|>|<)\s*[0-9]{1,9}(?:\.[0-9]{1,9}){0,3}", re.ASCII)

ID_LENGTH = 48
VERSION_LENGTH = 64
PERMISSION_LENGTH = 64
PATH_LENGTH = 1024
SURFACE_ID_LENGTH = 128
HOST_NAMES = frozenset({"loopx", "loopx-core", "loopx-host"})


def extension_id(value: str) -> str | None:
    """Lower-case words joined by single hyphens, at most 48 characters, not the host's own name."""
    if len(value) > ID_LENGTH:
        return f"is longer than {ID_LENGTH} characters"
    if not _ID.fullmatch(value):
        return "must be lower-case words joined by single hyphens, such as `text-stats`"
    return "is the host's own name" if value in HOST_NAMES else None


def capability_id(value: str) -> str | None:
    """Follow the grammar of extension ids."""
    return None if len(value) <= ID_LENGTH and _ID.fullmatch(value) else "is not a capability id"


def version(value: str) -> str | None:
    """At most 64 printable characters."""
    if len(value) > VERSION_LENGTH:
        return f"is longer than {VERSION_LENGTH} characters"
    return None if value.isprintable() else "holds a character that cannot be printed"


def protocol(value: str) -> str | None:
    """A lower-case name that ends in its version: ``text_stats_v0``."""
    return None if _PROTOCOL.fullmatch(value) else "must look like `name_v0`: lower case, underscores, a version"


def permission(value: str) -> str | None:
    """Dotted lower-case words, with an optional reference after a colon: ``fs.read:repo``."""
    fits = len(value) <= PERMISSION_LENGTH and _PERMISSION.fullmatch(value)
    return None if fits else "is not a permission token such as `notes.read` or `fs.read:repo`"


def python_module(value: str) -> str | None:
    """Dotted ASCII identifiers without keywords; never ``module:function``."""
    import keyword

    for part in value.split("."):
        if not _IDENTIFIER.fullmatch(part):
            return "must be a dotted module name such as `package.provider`"
        if keyword.iskeyword(part):
            return f"names the Python keyword `{part}`"
    return None


def entrypoint(value: str) -> str | None:
    """A command name, an absolute path, or a path relative to the manifest without ``..``."""
    if value.startswith("-"):
        return "starts with a hyphen; it would be read as an option"
    if "/" not in value:
        return None if value not in (".", "..") else "is a directory, not a command"
    return None if ".." not in value.split("/") and not value.endswith("/") else "must not climb with `..`"


def relative_path(value: str) -> str | None:
    """A relative POSIX path that stays inside the manifest's directory."""
    if len(value) > PATH_LENGTH:
        return f"is longer than {PATH_LENGTH} characters"
    if value.startswith("/") or "\\" in value or ":" in value.split("/", maxsplit=1)[0]:
        return "must be a relative path with forward slashes"
    if any(part in ("", "..") for part in value.split("/")):
        return "must stay inside its directory: no `..`, no empty parts"
    return None


def markdown_path(value: str) -> str | None:
    """A relative path that ends in ``.md``."""
    return relative_path(value) or (None if value.endswith(".md") else "must end in `.md`")


def variable(value: str) -> str | None:
    """The name of an environment variable."""
    return None if _VARIABLE.fullmatch(value) else "is not the name of an environment variable"


def prerequisite(value: str) -> str | None:
    """The name of a prerequisite such as ``node``."""
    return None if _PREREQUISITE.fullmatch(value) else "is not the name of a prerequisite such as `node`"


def constraint(value: str) -> str | None:
    """Comma-separated version clauses such as ``>=22.22.3``."""
    clauses = [clause.strip() for clause in value.split(",")]
    fits = all(_CONSTRAINT.fullmatch(clause) for clause in clauses)
    return None if fits else "must be version clauses such as `>=22.22.3`"


def one_of(*words: str) -> Callable[[str], str | None]:
    """Return a check that admits exactly `words`."""
    shown = " or ".join(f"`{word}`" for word in words)
    return lambda value: None if value in words else f"must be {shown}"


def at_most(limit: int) -> Callable[[str], str | None]:
    """Return a check of length."""
    return lambda value: None if len(value) <= limit else f"is longer than {limit} characters"
