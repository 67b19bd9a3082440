"""Folders that hold far more than a program: homes and what holds them, what is personal in one, what all write to.

Whose home a folder is decides its owner, by user id. The variable HOME only says what this process was told, and a
launcher can lie in somebody else's.
"""

from __future__ import annotations

import os
import stat

_HOLD_MUCH = ("/", "/home", "/root", "/tmp", "/var/tmp", "/dev/shm")  # noqa: S108
# What makes a folder a home, whoever's, or is itself kept there from others.
_SECRETS = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".netrc", ".git-credentials")
_SHELLS = (".bashrc", ".bash_profile", ".bash_history", ".profile", ".zshrc", ".zsh_history")
_HOME_FIELD = 5  # of a line of the file of users


def is_wide(folder: str) -> bool:
    """Whether a folder holds far more than a program. One that is not there does not."""
    return (
        holds_a_home(folder)
        or any(os.path.basename(place) in _SECRETS for place in (folder, os.path.realpath(folder)))
        or _is_for_everybody(folder)
        or any(os.path.lexists(os.path.join(folder, name)) for name in (*_SECRETS, *_SHELLS))
    )


def holds_a_home(folder: str) -> bool:
    """Whether a folder is a home or holds one, as far as this machine knows whose they are.

    What counts is where its name leads, by links or by a mount that shows a home in a second place.
    """
    named = {*_HOLD_MUCH, *_homes_of_this_machine()}
    for place in {folder, os.path.realpath(folder)}:
        homes = {*named, *_homes_of_owners(place)}
        if any(_holds(place, home) or _holds(place, os.path.realpath(home)) for home in homes):
            return True
        if any(_is_same(place, home) for home in homes):
            return True
    return False


def is_of_unknown(folder: str) -> bool:
    """Whether some part of a path, or of where it leads, belongs to a user of whom this machine knows no home."""
    return None in [*_owners_homes(folder), *_owners_homes(os.path.realpath(folder))]


def _holds(folder: str, home: str) -> bool:
    return home == folder or home.startswith(folder.rstrip("/") + "/")


def _is_same(folder: str, home: str) -> bool:
    try:
        return os.path.samefile(folder, home)
    except OSError:  # one of them is not there
        return False


def _homes_of_owners(folder: str) -> list[str]:
    return [home for home in _owners_homes(folder) if home]


def _owners_homes(folder: str) -> list[str | None]:
    """Return the home of the owner of each part of a path, None for an owner nobody knows."""
    import pwd

    homes: list[str | None] = []
    part = folder
    while True:
        try:
            homes.append(pwd.getpwuid(os.stat(part).st_uid).pw_dir)
        except KeyError:
            homes.append(None)
        except OSError:  # it is not there, or not to be looked at
            pass
        if part == os.path.dirname(part):
            return homes
        part = os.path.dirname(part)


def _homes_of_this_machine() -> list[str]:
    """Return the homes that the file of users names; those that a directory service knows are their owners'."""
    try:
        with open("/etc/passwd", encoding="utf-8", errors="surrogateescape") as users:
            lines = [line.split(":") for line in users]
    except OSError:
        return []
    return [fields[_HOME_FIELD] for fields in lines if len(fields) > _HOME_FIELD and fields[_HOME_FIELD][:1] == "/"]


def _is_for_everybody(folder: str) -> bool:
    """Whether everybody writes there, each their own files."""
    try:
        mode = os.stat(folder).st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IWOTH and mode & stat.S_ISVTX)
