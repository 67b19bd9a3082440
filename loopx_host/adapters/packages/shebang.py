"""Which programs execute a file: read from its first lines, the way the kernel and `env` read them."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD_BYTES = 4096
_LINE_BYTES = 255  # what Linux reads of a first line; the rest is as if it were not there
_LONGEST_CHAIN = 8  # the kernel itself stops after a few
_SHELL_TRICK = "'''exec' "  # how installers write a launcher whose interpreter path is too long for `#!`
_WITH_VALUE = ("unset", "chdir", "split-string", "argv0")
_WITHOUT_VALUE = (
    *("ignore-environment", "null", "debug", "list-signal-handling"),
    *("default-signal", "ignore-signal", "block-signal"),
)
_LETTERS = {"u": "unset", "C": "chdir", "S": "split-string", "a": "argv0", "P": "path", "i": "ignore-environment"}
_FLAGS = {"0": "null", "v": "debug"}
_ESCAPES = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "_": " "}


class Chain:
    """The `programs` that execute a file, in order; `looked_at` are paths whose coming would make it others.

    `named` are those of them that no path leads to, only a name and where it was looked for.
    `is_known` is false where the first line leaves to the moment of the start what is executed.
    """

    __slots__ = ("is_known", "looked_at", "named", "programs")

    def __init__(self) -> None:
        self.programs: list[str] = []
        self.looked_at: list[str] = []
        self.named: list[str] = []
        self.is_known = True


def chain(path: str, places: Sequence[str]) -> Chain:
    """Return what executes `path` where programs are looked for in `places`: its interpreter, that one's, and so on.

    ``env`` counts together with the program it finds. What a shell script executes further on cannot be known.
    """
    found = Chain()
    while found.is_known and len(found.programs) < _LONGEST_CHAIN:
        before = len(found.programs)
        _add_interpreters(path, places, found)
        if len(found.programs) == before:
            break
        path = found.programs[-1]
    return found


def find(name: str, places: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the program of a name in `places`, and every path that was looked at before it was found."""
    looked_at: list[str] = []
    for place in places:
        candidate = os.path.join(place, name)
        if is_program(candidate):
            return candidate, looked_at
        looked_at.append(candidate)
    return None, looked_at


def is_program(path: str) -> bool:
    """Whether `path` is a regular file that this user may execute."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def head(path: str) -> list[str]:
    """Return the first two lines of a file, as far as a kernel would look at them."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return []
    try:
        return os.fsdecode(os.read(descriptor, _HEAD_BYTES)).split("\n", 2)[:2]
    except OSError:
        return []
    finally:
        os.close(descriptor)


def _add_interpreters(path: str, places: Sequence[str], found: Chain) -> None:
    lines = head(path)
    if not lines or not lines[0].startswith("#!"):
        return
    words = lines[0][2:_LINE_BYTES].strip(" \t\r").split(None, 1)
    if not words or not os.path.isabs(words[0]):
        return
    found.programs.append(words[0])
    if os.path.basename(words[0]) == "env":
        _add_found_by_env(words[1] if len(words) > 1 else "", places, found)
    elif len(lines) > 1 and lines[1].startswith(_SHELL_TRICK):
        executed = split(lines[1][len(_SHELL_TRICK) :])
        found.programs += executed[:1] if executed else []


def _add_found_by_env(argument: str, places: Sequence[str], found: Chain) -> None:
    call = _EnvCall.of(argument, places)
    if call is None:
        found.is_known = False
    elif call.program is not None and "/" in call.program:
        where = os.path.join(call.directory or "/", call.program)
        if call.directory or os.path.isabs(call.program):  # else it is looked for in a directory that is empty
            found.programs.append(os.path.normpath(where))
    elif call.program is not None:
        program, looked_at = find(call.program, call.places)
        found.looked_at += looked_at
        found.programs += [program] if program else []
        found.named += [program] if program else []


class _EnvCall:
    """One call of `env`: the program it starts, where that is looked for, and from which directory."""

    def __init__(self, places: Sequence[str]) -> None:
        self.places = [*places]
        self.directory: str | None = None
        self.program: str | None = None
        self._words: list[str] = []

    @classmethod
    def of(cls, argument: str, places: Sequence[str]) -> _EnvCall | None:
        """Return the call of the one argument that Linux passes on, or of its words, as other systems pass them.

        None for what cannot be told before it is executed.
        """
        whole = cls(places)
        if not argument or whole._take([argument]):
            return whole
        words, parted = split(argument), cls(places)
        return parted if words is not None and parted._take(words) else None

    def _take(self, words: list[str]) -> bool:
        """Take in all words; false for an option that `env` does not have, or a program with a space in its name."""
        self._words = words
        while self._words and self._words[0].startswith("-"):
            word = self._words.pop(0)
            if word == "--":
                break
            if not (self._long(word[2:]) if word.startswith("--") else self._short(word[1:])):
                return False
        while self._words and "=" in self._words[0]:
            name, _, value = self._words.pop(0).partition("=")
            if name == "PATH":
                self._look_in(value)
        self.program = self._words[0] if self._words else None
        return self.program is None or not any(character.isspace() for character in self.program)

    def _long(self, word: str) -> bool:
        name, is_given, value = word.partition("=")
        known = [one for one in (*_WITH_VALUE, *_WITHOUT_VALUE) if one.startswith(name)]
        if len(known) != 1 and name not in known:
            return False
        option = name if name in known else known[0]
        if option not in _WITH_VALUE:
            return self._apply(option, "")
        if is_given:
            return self._apply(option, value)
        return bool(self._words) and self._apply(option, self._words.pop(0))

    def _short(self, letters: str) -> bool:
        if not letters:
            return self._apply("ignore-environment", "")
        for index, letter in enumerate(letters):
            if letter in _FLAGS or letter == "i":
                self._apply(_LETTERS.get(letter, ""), "")
                continue
            rest = letters[index + 1 :]
            if letter not in _LETTERS or not (rest or self._words):
                return False
            return self._apply(_LETTERS[letter], rest or self._words.pop(0))
        return True

    def _apply(self, option: str, value: str) -> bool:
        if option == "split-string":
            words = split(value)
            self._words = [*(words or []), *self._words]
            return words is not None
        if option == "chdir":
            self.directory = value if os.path.isabs(value) else None
        elif option == "path":
            self._look_in(value)
        elif option == "ignore-environment" or (option == "unset" and value == "PATH"):
            self._look_in(_system_path())
        return True

    def _look_in(self, path: str) -> None:
        entries = [os.path.join(self.directory or "", entry) for entry in path.split(os.pathsep)]
        self.places = [entry for entry in entries if os.path.isabs(entry)]


def _system_path() -> str:
    """Return where a program is looked for that has no PATH."""
    try:
        return os.confstr("CS_PATH") or os.defpath
    except (ValueError, OSError):
        return os.defpath


def split(text: str) -> list[str] | None:
    """Return the words of a text as ``env -S`` parts it; None where they depend on a variable or a quote is open."""
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    rest = iter(text)
    for character in rest:
        if character == "\\" and quote != "'":
            escaped = next(rest, "")
            if escaped == "c" and not quote:
                break
            if escaped == "_" and not quote:
                words, word = _closed(words, word), None
                continue
            word = [*(word or []), _ESCAPES.get(escaped, escaped)]
        elif character == "$" and quote != "'":
            return None
        elif character == quote:
            quote = ""
        elif not quote and character in "\"'":
            quote, word = character, word or []
        elif not quote and character.isspace():
            words, word = _closed(words, word), None
        elif not quote and character == "#" and word is None:
            break
        else:
            word = [*(word or []), character]
    return None if quote else _closed(words, word)


def _closed(words: list[str], word: list[str] | None) -> list[str]:
    return words if word is None else [*words, "".join(word)]
