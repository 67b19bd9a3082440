"""argv, split once into a value that travels on: the command, its own arguments, the options of every command."""

from __future__ import annotations

from loopx_host.cli.index import COMMON, FORMATS, GROUPS, HELP_FLAGS, OF_PACKAGES, find
from loopx_host.core.errors import Refused, refusal
from loopx_host.core.text import one_line, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loopx_host.assembly.container import Settings


class CommandLine:
    """One command line.

    `words` is argv without the options of every command; `row` is the command they begin with, or None, and
    `arguments` what follows its words. Where argv cannot be understood, `problem` is the refusal and nothing but
    `format` is known.
    """

    __slots__ = ("_values", "arguments", "format", "problem", "row", "words")

    def __init__(self, argv: list[str]) -> None:
        self.format = _wanted_format(argv)
        self.problem: Refused | None = None
        try:
            self._values, self.words = _split(argv)
        except Refused as refused:
            self._values, self.words, self.problem = {}, (), refused
        self.row = find(self.words)
        self.arguments = list(self.words[len(self.row.words) :]) if self.row else []

    def settings(self, waiting: Callable[[float], None] | None = None) -> Settings:
        """Return what the container of the command is made for; `waiting` hears of long runs."""
        from loopx_host.assembly.container import Settings

        return Settings(
            self._values.get("--state-file"),
            self._values.get("--runtime-root"),
            containment=self._values.get("--containment"),
            no_extensions="--no-extensions" in self._values,
            waiting=waiting,
        )

    @property
    def debug(self) -> bool:
        """Whether ``--debug`` is given."""
        return "--debug" in self._values

    @property
    def wants_top_help(self) -> bool:
        """Whether the help of loopx itself is the answer."""
        return not self.words or self.words[0] in HELP_FLAGS

    @property
    def wants_help(self) -> bool:
        """Whether the help of the command is the answer."""
        return any(flag in self.arguments for flag in HELP_FLAGS)

    @property
    def may_be_of_package(self) -> bool:
        """Whether a package may bring the command: its first word is neither a group of ours nor an option."""
        return self.words[0] not in GROUPS and not self.words[0].startswith("-")

    @property
    def of_package(self) -> tuple[str, list[str], bool]:
        """Name and arguments of a package's command, and whether ``--execute`` is given, which is the host's to read.

        Raises Refused `usage_error`.
        """
        name, *words = self.words
        end = words.index("--") if "--" in words else len(words)
        own = [word for word in words[:end] if word.partition("=")[0] not in OF_PACKAGES]
        given = set(words[:end]) - set(own)
        if given - OF_PACKAGES.keys():
            raise usage("--execute takes no value", (name,))
        return name, [*own, *words[end:]], bool(given)

    @property
    def repeated(self) -> tuple[str, ...]:
        """The options that a suggested command repeats."""
        is_json = self._values.get("--format") == "json"
        return (*self.settings().options, *(("--format", "json") if is_json else ()))

    @property
    def retry_command(self) -> tuple[str, ...]:
        """This command, where trying again helps."""
        return tuple(visible(word) for word in self.words)


def usage(summary: str, words: tuple[str, ...] = ()) -> Refused:
    """Return the refusal of a command line that cannot be understood."""
    return refusal(
        "usage_error",
        " ".join(("loopx", *words)),
        summary,
        hint="see how the command is written",
        next_command=(*words, "--help"),
    )


def _wanted_format(argv: list[str]) -> str:
    """Return the format that answers obey, also where argv cannot be understood: then json wherever it is named."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    after = [value for flag, value in zip(words, words[1:], strict=False) if flag == "--format"]
    joined = [word.partition("=")[2] for word in words if word.startswith("--format=")]
    return "json" if "json" in (*after, *joined) else "text"


def _split(argv: list[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the options of every command and the other words. Raises Refused `usage_error`."""
    values: dict[str, str] = {}
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        flag, joined, value = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif flag not in COMMON:
            rest.append(word)
        else:
            _keep(values, flag, value if joined else None, words)
    if values.get("--format", "text") not in FORMATS:
        raise usage(f"--format is text or json, not {one_line(values['--format'], 40)}")
    return values, tuple(rest)


def _keep(values: dict[str, str], flag: str, value: str | None, words: Iterator[str]) -> None:
    takes_value = COMMON[flag][0] is not None
    if takes_value and value is None:
        value = next(words, None)
    if takes_value and not value:
        raise usage(f"{flag} needs a value")
    if not takes_value and value is not None:
        raise usage(f"{flag} takes no value")
    kept = value or "yes"
    if values.setdefault(flag, kept) != kept:
        raise usage(f"{flag} is given twice with different values")
