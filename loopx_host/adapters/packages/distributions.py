"""Installed distributions from their metadata, one at a time: a damaged one is a row, never an exception.

Nothing is imported from a distribution and no code of it runs; importlib-metadata reads the metadata.
"""

from __future__ import annotations

import json
import os
import re

from loopx_host.adapters.files import bounded
from loopx_host.core import names
from loopx_host.core.text import one_line, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    from importlib_metadata import Distribution, EntryPoint

    from loopx_host.documents.parts import Distribution as Label

ENDINGS = (".dist-info", ".egg-info")
LEFTOVER = "~"
_METADATA_BYTES = 8 * 1024 * 1024
_ADMINISTRATIVE = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "RECORD.jws", "RECORD.p7s")
normalised = names.normalised
_SECTION = re.compile(r"\[[^\[\]]+\]")


class Installed:
    """One ``*.dist-info`` or ``*.egg-info``; every reading of it is guarded.

    `damage` is None, or what is wrong with it, with the path.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.site = os.path.dirname(path)
        self.damage: str | None = None
        self._distribution: Distribution | None = None
        self.name, self.version = self._identity()

    @property
    def label(self) -> Label | None:
        """Name and version, or None when the metadata has none."""
        return {"name": self.name, "version": self.version} if self.name and self.version else None

    @property
    def shown(self) -> str:
        """The distribution as a person would name it."""
        return f"{self.name} {self.version}" if self.name else visible(self.path)

    def text(self, name: str) -> str | None:
        """Return one metadata file, or None when it is absent, too large, not regular or not UTF-8.

        The empty name is the metadata itself where that is a single file.
        """
        path = os.path.join(self.path, name) if name else self.path
        try:
            return bounded.read_regular(path, _METADATA_BYTES).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def entry_points(self) -> list[EntryPoint]:
        """Return the entry points that can be read; what cannot be is added to `damage`."""
        text = self.text("entry_points.txt")
        if text is None:
            if os.path.lexists(os.path.join(self.path, "entry_points.txt")):
                self._damaged("entry_points.txt cannot be read as UTF-8 text")
            return []
        problem = entry_points_problem(text)
        if problem:
            self._damaged(f"entry_points.txt {problem}")
        try:
            return list(self._read().entry_points)
        except Exception as error:  # noqa: BLE001 (foreign text may break any parser)
            self._damaged(f"entry_points.txt cannot be read: {type(error).__name__}")
            return []

    def requires(self) -> list[str]:
        """Return the requirement lines of the metadata."""
        try:
            return [str(line) for line in (self._read().requires or [])]
        except Exception:  # noqa: BLE001 (see above)
            return []

    def editable_source(self) -> str | None:
        """Return the source directory of an editable install, or None."""
        text = self.text("direct_url.json")
        if text is None:
            return None
        from urllib.parse import unquote, urlsplit

        try:
            origin = json.loads(text)
            url = str(origin["url"]) if origin["dir_info"]["editable"] is True else ""
            return unquote(urlsplit(url).path) if url.startswith("file://") else None
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    def record(self) -> list[str]:
        """Return the recorded files, relative to `site`, without byte code and administrative files."""
        import csv

        text = self.text("RECORD")
        if text is None:
            return []
        try:
            names = [row[0] for row in csv.reader(text.splitlines()) if row]
        except csv.Error:
            self._damaged("RECORD is not a list of files")
            return []
        return [name for name in names if not _is_volatile(name)]

    def record_digest_text(self) -> str | None:
        """Return the RECORD without the lines that differ between two installs of the same bytes."""
        text = self.text("RECORD")
        if text is None:
            return None
        return "\n".join(sorted(line for line in text.splitlines() if line and not _is_volatile(line.split(",")[0])))

    def _identity(self) -> tuple[str, str]:
        if not os.path.isdir(self.path) and not self.path.endswith(".egg-info"):
            self._damaged("it is not a directory")
            return "", ""
        try:
            metadata = self._read().metadata
            name, version = metadata["Name"], metadata["Version"]
        except Exception as error:  # noqa: BLE001 (see above)
            self._damaged(f"its metadata cannot be read: {type(error).__name__}")
            return "", ""
        if not name or not version:
            self._damaged("its metadata names no distribution; it was not completely installed")
            return "", ""
        return one_line(str(name), 100), one_line(str(version), 100)

    def _read(self) -> Distribution:
        if self._distribution is None:
            self._distribution = _reader(self)
        return self._distribution

    def _damaged(self, reason: str) -> None:
        self.damage = self.damage or f"{visible(self.path)}: {reason}"


def _reader(installed: Installed) -> Distribution:
    """Return the parser of importlib-metadata over our own bounded reading: a FIFO never blocks it."""
    from importlib_metadata import Distribution

    class Reader(Distribution):
        def read_text(self, filename: str) -> str | None:
            return installed.text(filename)

        def locate_file(self, path: object) -> NoReturn:
            raise LookupError(path)  # it is asked for text only

    return Reader()


def installed(place: str) -> Iterator[Installed]:
    """Return the distributions of one directory by name; leftovers of interrupted installs are passed over."""
    for name in metadata_names(place):
        if not name.startswith(LEFTOVER):
            yield Installed(os.path.join(place, name))


def metadata_names(place: str) -> list[str]:
    """Return the names of the metadata folders in a directory, sorted, leftovers among them."""
    try:
        return sorted(name for name in os.listdir(place) if name.endswith(ENDINGS))
    except OSError:
        return []


def entry_points_problem(text: str) -> str | None:
    """Return what is wrong with an entry_points.txt and in which line, or None."""
    section, seen = None, set[tuple[str, str]]()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("["):
            if not _SECTION.fullmatch(line):
                return f"line {number}: a section that is not closed"
            section = line
        elif section is None:
            return f"line {number}: a line before any section"
        else:
            key = (section, line.partition("=")[0].strip())
            if "=" not in line or key in seen:
                return f"line {number}: {'a key twice' if key in seen else 'not name = value'}"
            seen.add(key)
    return None


def _is_volatile(name: str) -> bool:
    """Whether a recorded file says how it was installed rather than what was."""
    folder, _, base = name.rpartition("/")
    if folder.rpartition("/")[2] == "__pycache__":
        return True
    return folder.endswith(ENDINGS) and base in _ADMINISTRATIVE


def installed_mentioning(place: str, words: tuple[bytes, ...]) -> Iterator[Installed]:
    """Return the distributions of one directory whose metadata mention one of `words`; only these are parsed."""
    for name in metadata_names(place):
        path = os.path.join(place, name)
        if not name.startswith(LEFTOVER) and _mentions(path, words):
            yield Installed(path)


def _mentions(path: str, words: tuple[bytes, ...]) -> bool:
    return any(word in text for text in (_raw(path, file) for file in _NAMING_FILES) for word in words)


def by_name(place: str) -> dict[str, str]:
    """Return normalised name → metadata folder, from the folders' names alone."""
    found: dict[str, str] = {}
    for folder in metadata_names(place):
        if not folder.startswith(LEFTOVER):
            found.setdefault(name_of(folder), os.path.join(place, folder))
    return found


def name_of(folder: str) -> str:
    """Return the normalised name of the distribution that a metadata folder is called after."""
    return normalised(folder.rpartition(".")[0].split("-")[0])


_NAMING_FILES = ("entry_points.txt", "RECORD", "direct_url.json", "top_level.txt")


def _raw(path: str, name: str) -> bytes:
    try:
        return bounded.read_regular(os.path.join(path, name), _METADATA_BYTES)
    except OSError:
        return b""
