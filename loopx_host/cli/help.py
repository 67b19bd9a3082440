"""The help texts, made from the index when they are shown. The top help pays for nothing but the index."""

from __future__ import annotations

from loopx_host.cli.index import COMMON, GROUPS, HELP_FLAGS, OF_PACKAGES, ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from loopx_host.assembly.container import Container
    from loopx_host.core.errors import Refused

UNKNOWN_PACKAGES = "  (commands of packages are shown again after `loopx extension discover`)"
_WORDS = 30  # wide enough for the words of every command, and two blanks
_OPTION = 21  # the same for the options of every command

_TOP = """\
usage: loopx <command> [options]

loopx installs, proves and runs extensions: providers that answer one JSON request in one bounded process.
Every command that changes something only says what it would do until --execute is given.

commands:
{commands}

options of every command:
{options}
  --help, --version

options of every command of a package:
{of_packages}

example:
  loopx extension run loopx-text-stats --input-json request.json --execute
"""


def top_help_of(container: Container) -> str:
    """Return the help of loopx with the commands that packages bring, which are off where the host runs bare."""
    rows = container.command_list.read()
    if rows and container.is_off:
        rows = [[name, summary, "off"] for name, summary, _ in rows]
    return top_help(rows)


def top_help(package_commands: Iterable[list[str]] | None) -> str:
    """Return the help of loopx; `package_commands` are rows of name, summary and state, or None if not known."""
    commands = [_line(" ".join(row.words), row.summary) for row in ROWS]
    if package_commands is None:
        commands.append(UNKNOWN_PACKAGES)
    else:
        commands += [_line(name, f"{summary} ({state})") for name, summary, state in package_commands]
    options, of_packages = ("\n".join(_options(table)) for table in (COMMON, OF_PACKAGES))
    return _TOP.format(commands="\n".join(commands), options=options, of_packages=of_packages)


def group_help(words: tuple[str, ...]) -> str:
    """Return the help of a group of commands. Raises Refused `unknown_command` for anything else."""
    group, rest = words[0], [word for word in words[1:] if word not in HELP_FLAGS]
    if group not in GROUPS or rest:
        raise _unknown(words[:2] if group in GROUPS else words[:1])
    commands = [_line(" ".join(row.words), row.summary) for row in ROWS if row.words[0] == group]
    return f"usage: loopx {group} <command> [options]\n\n{GROUPS[group]}\n\ncommands:\n" + "\n".join(commands) + "\n"


def _options(table: Mapping[str, tuple[str | None, str]]) -> Iterator[str]:
    for flag, (value, text) in table.items():
        yield f"  {flag if value is None else f'{flag} {value}':<{_OPTION}}{text}"


def _line(name: str, summary: str) -> str:
    return f"  {name:<{_WORDS}}{summary}"


def _unknown(words: tuple[str, ...]) -> Refused:
    import difflib

    from loopx_host.core.errors import refusal
    from loopx_host.core.text import one_line

    written = one_line(" ".join(words), 60)
    near = difflib.get_close_matches(written, [" ".join(row.words) for row in ROWS], n=1)
    hint = f"did you mean `loopx {near[0]}`?" if near else "see what there is"
    group = (words[0],) if words[0] in GROUPS else ()
    return refusal(
        "unknown_command", written, f"unknown command: {written}", hint=hint, next_command=(*group, "--help")
    )
