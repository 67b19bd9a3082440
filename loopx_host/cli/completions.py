"""Completion scripts, written from the index and the routes of all commands.

Words and flags only: a script never calls loopx, so completing costs nothing and runs nothing.
"""

from __future__ import annotations

from loopx_host.cli.index import COMMON, FORMATS, OF_PACKAGES, ROWS
from loopx_host.cli.route import routes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.cli.route import Route

_PATH_FLAGS = (
    "--manifest",
    "--input-json",
    "--output",
    "--destination",
    "--extension-manifest",
    "--state-file",
    "--runtime-root",
)


def script(shell: str) -> str:
    """Return the completion script of `bash`, `zsh` or `fish`."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def first_words() -> list[str]:
    """Return what may stand first on a command line."""
    return sorted({row.words[0] for row in ROWS})


def second_words(first: str) -> list[str]:
    """Return what may follow `first`; empty when `first` is a whole command."""
    return sorted(row.words[1] for row in ROWS if row.words[0] == first and len(row.words) > 1)


def flags(route: Route) -> list[str]:
    """Return the flags of a command, its own and the common ones."""
    own = [name for argument in route.arguments for name in argument.names if name.startswith("-")]
    return [*own, *COMMON, "--help"]


def flags_of_packages() -> list[str]:
    """Return the flags that every command of a package takes; what else it takes only the package knows."""
    return [*OF_PACKAGES, *COMMON, "--help"]


def choices(route: Route) -> list[str]:
    """Return the words that the positional argument of a command may be; empty when it is anything."""
    positional = (argument for argument in route.arguments if not argument.names[0].startswith("-"))
    return [word for argument in positional for word in argument.settings.get("choices", ())]


def value_flags() -> list[str]:
    """Return every flag that is followed by a value, sorted."""
    common = {flag for flag, (value, _) in COMMON.items() if value is not None}
    own = {
        name
        for route in routes()
        for argument in route.arguments
        for name in argument.names
        if name.startswith("-") and argument.settings.get("action") != "store_true"
    }
    return sorted(common | own)


def _bash() -> str:
    cases = "\n".join(_bash_case(route) for route in routes())
    groups = "\n".join(
        f'        "{first}") words="{" ".join(second_words(first))}" ;;'
        for first in first_words()
        if second_words(first)
    )
    ours = "|".join(f'"{first} "*' for first in first_words())
    return f"""\
# loopx completion for bash: source <(loopx completions bash)
_loopx() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" words="" route="" index
    case "$previous" in
        {"|".join(_PATH_FLAGS)}) COMPREPLY=($(compgen -f -- "$word")); return ;;
        --format) COMPREPLY=($(compgen -W "{" ".join(FORMATS)}" -- "$word")); return ;;
        {"|".join(flag for flag in value_flags() if flag not in (*_PATH_FLAGS, "--format"))}) return ;;
    esac
    for ((index = 1; index < COMP_CWORD; index++)); do
        case "${{COMP_WORDS[index]}}" in
            {"|".join(value_flags())}) ((index++)) ;;
            -*) ;;
            *) route="${{route:+$route }}${{COMP_WORDS[index]}}" ;;
        esac
    done
    case "$route" in
        "") words="{" ".join([*first_words(), *COMMON, "--help", "--version"])}" ;;
{groups}
{cases}
        {ours}) ;;
        *) words="{" ".join(flags_of_packages())}" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _loopx loopx
"""


def _bash_case(route: Route) -> str:
    words, own = " ".join(route.words), " ".join(flags(route))
    allowed = choices(route)
    first = f'        "{words}") words="{" ".join([*allowed, own])}" ;;\n' if allowed else ""
    return f'{first}        "{words}"|"{words} "*) words="{own}" ;;'


def _zsh() -> str:
    bash = _bash().split("\n", 1)[1]
    head = "# loopx completion for zsh, after compinit: source <(loopx completions zsh)"
    return f"{head}\nautoload -U +X bashcompinit && bashcompinit\n{bash}"


def _fish() -> str:
    lines = ["# loopx completion for fish: loopx completions fish | source", "complete -c loopx -f"]
    for first in first_words():
        lines.append(f"complete -c loopx -n __fish_use_subcommand -a {first}")
        lines += [
            f"complete -c loopx -n '__fish_seen_subcommand_from {first}; and not __fish_seen_subcommand_from "
            f"{' '.join(second_words(first))}' -a {second}"
            for second in second_words(first)
        ]
    for route in routes():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in route.words)
        lines += [f"complete -c loopx -n '{seen}' -l {flag.lstrip('-')}{_value(flag)}" for flag in flags(route)]
        lines += [f"complete -c loopx -n '{seen}' -a {word}" for word in choices(route)]
    ours = f"not __fish_use_subcommand; and not __fish_seen_subcommand_from {' '.join(first_words())}"
    lines += [f"complete -c loopx -n '{ours}' -l {flag.lstrip('-')}{_value(flag)}" for flag in flags_of_packages()]
    lines += [f"complete -c loopx -n __fish_use_subcommand -l {flag.lstrip('-')}{_value(flag)}" for flag in COMMON]
    lines += [f"complete -c loopx -n __fish_use_subcommand -l {name}" for name in ("help", "version")]
    return "\n".join(lines) + "\n"


def _value(flag: str) -> str:
    if flag in _PATH_FLAGS:
        return " -rF"
    if flag == "--format":
        return f" -xa '{' '.join(FORMATS)}'"
    return " -x" if flag in value_flags() else ""
