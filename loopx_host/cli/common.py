"""The options every command takes, before or after its words."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line

FORMATS = ("text", "json")
# flag: (takes a value, help)
COMMON = {
    "--format": (True, "text (default) or json: one document on standard output, for errors too"),
    "--state-file": (True, "use this activation state file"),
    "--runtime-root": (True, "use this directory instead of the platform's state directory"),
    "--containment": (True, "run providers at this level or not at all: process, limits, contained, namespaced"),
    "--no-extensions": (False, "run nothing that an extension brought, as LOOPX_NO_EXTENSIONS=1 does"),
    "--debug": (False, "show a traceback when loopx itself fails"),
}


class Common:
    """The common options of one call; `rest` is argv without them."""

    __slots__ = ("containment", "debug", "format", "no_extensions", "rest", "runtime_root", "state_file")

    def __init__(self, values: dict[str, str], rest: list[str]) -> None:
        self.format = values.get("--format", "text")
        self.state_file = values.get("--state-file")
        self.runtime_root = values.get("--runtime-root")
        self.containment = values.get("--containment")
        self.no_extensions = "--no-extensions" in values
        self.debug = "--debug" in values
        self.rest = rest


def wanted_format(argv: list[str]) -> str:
    """Return the format that errors obey, also those in argv itself; never raises."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    after = [value for flag, value in zip(words, words[1:], strict=False) if flag == "--format"]
    joined = [word.partition("=")[2] for word in words if word.startswith("--format=")]
    return "json" if "json" in (*after, *joined) else "text"


def split(argv: list[str]) -> Common:
    """Separate the common options from the rest. Raises Refused `usage_error`."""
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
    return Common(values, rest)


def usage(summary: str, route: tuple[str, ...] = ()) -> Exception:
    """Return the refusal of a command line that cannot be understood."""
    return refusal(
        "usage_error",
        " ".join(("loopx", *route)),
        summary,
        hint="see how the command is written",
        next_command=(*route, "--help"),
    )


def _keep(values: dict[str, str], flag: str, value: str | None, words: object) -> None:
    takes_value, _ = COMMON[flag]
    if takes_value and value is None:
        value = next(words, None)  # type: ignore[call-overload]
    if takes_value and not value:
        raise usage(f"{flag} needs a value")
    if not takes_value and value is not None:
        raise usage(f"{flag} takes no value")
    kept = value or "yes"
    if values.setdefault(flag, kept) != kept:
        raise usage(f"{flag} is given twice with different values")
