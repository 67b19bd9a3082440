"""Serve one command: read the common options, find the route, call it, render once."""

from __future__ import annotations

from loopx_host.assembly.operations import Operations
from loopx_host.cli import common, streams
from loopx_host.cli.progress import Progress
from loopx_host.cli.routes import GROUPS, ROUTES, defaults, find
from loopx_host.core.codes import CODES, EXIT_INTERNAL, EXIT_OUTPUT, EXIT_PROVIDER_FAILED, RETRY
from loopx_host.core.diagnostics import with_commands
from loopx_host.core.errors import Interrupted, Refused, refusal
from loopx_host.core.text import one_line, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from types import SimpleNamespace
    from typing import Any

    from loopx_host.cli.routes import Route

    Answer = tuple[dict[str, Any], int]  # a document and the exit status that goes with it

HELP_FLAGS = ("--help", "-h")
HELP_SCHEMA = "loopx_help_v0"
VERSION_SCHEMA = "loopx_version_v0"
_SIGNAL_BASE = 128


def dispatch(argv: list[str], version: str) -> int:
    """Serve `argv` and return the exit status (contract section 4)."""
    wanted = common.wanted_format(argv)
    try:
        document, status = _answer(argv, version)
        return _emit(document, wanted, status)
    except Interrupted as interrupted:  # while the answer itself was written
        return _SIGNAL_BASE + interrupted.signal_number
    except BrokenPipeError:
        return streams.READER_GONE


def _answer(argv: list[str], version: str) -> Answer:
    try:
        return _serve(argv, version)
    except Refused as refused:
        return _completed(refused, argv).document, refused.exit_status
    except Interrupted as interrupted:
        name = interrupted.signal_name
        stopped = refusal("interrupted", "loopx", f"interrupted by {name}; everything that was started has ended")
        return _completed(stopped, argv).document, _SIGNAL_BASE + interrupted.signal_number
    except Exception as error:  # noqa: BLE001 (our bug: one document and a report, never a bare traceback)
        return _bug(error, debug="--debug" in argv), EXIT_INTERNAL


def _serve(argv: list[str], version: str) -> Answer:
    options = common.split(argv)
    words = options.rest
    if not words or words[0] in HELP_FLAGS:
        from loopx_host.cli.top_help import top_help

        return _static(HELP_SCHEMA, top_help(Operations().package_commands())), 0
    if words == ["--version"]:
        return _static(VERSION_SCHEMA, f"loopx {version}\n", version=version), 0
    route = find(words)
    if route is None:
        return _of_package(options) or (_group_help(words), 0)
    arguments = words[len(route.words) :]
    if any(flag in arguments for flag in HELP_FLAGS):
        return _static(HELP_SCHEMA, _leaf_help(route)), 0
    receipt = _served(options, lambda host: _call(route, arguments, host))
    return with_commands(receipt, _repeated(argv)), 0 if receipt.get("ok", True) else EXIT_PROVIDER_FAILED


def _served(options: common.Common, call: Callable[[Operations], dict[str, Any]]) -> dict[str, Any]:
    """Make one call with the caller's options and signals. Raises Refused `containment_unknown` for a wrong level."""
    with Progress() as progress:
        host = Operations(
            options.state_file,
            options.runtime_root,
            owns_process=True,
            waiting=progress,
            containment=options.containment,
            no_extensions=options.no_extensions,
        )
        host.check_level()
        host.handle_signals()
        try:
            receipt = call(host)
        finally:
            host.begin_answer()
        host.check_signals()
    return receipt


def _of_package(options: common.Common) -> Answer | None:
    """Serve a command that a package brings; None when no package has it."""
    name, *arguments = options.rest
    if name in GROUPS or name.startswith("-"):
        return None
    receipt: dict[str, Any] = _served(options, lambda host: host.package_command(name, arguments) or {})
    if not receipt:
        return None
    known = CODES.get(str(receipt.get("code")), (EXIT_PROVIDER_FAILED,))[0]
    from loopx_host.cli.render import Foreign

    return Foreign(receipt), 0 if receipt["ok"] else known


def _call(route: Route, arguments: list[str], host: Operations) -> dict[str, Any]:
    from loopx_host.cli import commands

    receipt: dict[str, Any] = getattr(commands, route.handler)(host, _parse(route, arguments))
    return receipt


def _parse(route: Route, arguments: list[str]) -> Namespace | SimpleNamespace:
    """Return the parsed arguments; a command that is given none does not pay for a parser if all can be left out."""
    if not arguments and all(argument.is_optional for argument in route.arguments):
        return defaults(route)
    from loopx_host.cli.leaf import LeafParser

    parsed = LeafParser(route).parse_args(arguments)
    empty = next((name for name, value in vars(parsed).items() if value == ""), None)
    if empty is not None:  # an unset variable of a script, most likely
        raise common.usage(f"the value of `{empty.replace('_', '-')}` is empty", route.words)
    return parsed


def _leaf_help(route: Route) -> str:
    from loopx_host.cli.leaf import LeafParser

    return LeafParser(route).format_help()


def _group_help(words: list[str]) -> dict[str, Any]:
    """Return the help of a group of commands. Raises Refused `unknown_command` for anything else."""
    group, rest = words[0], [word for word in words[1:] if word not in HELP_FLAGS]
    if group not in GROUPS or rest:
        raise _unknown(words[:2] if group in GROUPS else words[:1])
    rows = [f"  {' '.join(route.words):<30}{route.summary}" for route in ROUTES if route.words[0] == group]
    text = f"usage: loopx {group} <command> [options]\n\n{GROUPS[group]}\n\ncommands:\n" + "\n".join(rows) + "\n"
    return _static(HELP_SCHEMA, text)


def _unknown(words: list[str]) -> Refused:
    import difflib

    asked = one_line(" ".join(words), 60)
    known = [" ".join(route.words) for route in ROUTES]
    near = difflib.get_close_matches(asked, known, n=1)
    hint = f"did you mean `loopx {near[0]}`?" if near else "see what there is"
    group = (words[0],) if words[0] in GROUPS else ()
    return refusal("unknown_command", asked, f"unknown command: {asked}", hint=hint, next_command=(*group, "--help"))


def _static(schema: str, text: str, **fields: str) -> dict[str, Any]:
    return {"ok": True, "schema_version": schema, "text": text, **fields}


def _completed(refused: Refused, argv: list[str]) -> Refused:
    """Give a refusal the options its next command repeats; where trying again helps, that is this command."""
    refused.options = _repeated(argv)
    if CODES[refused.code][2] == RETRY:
        refused.diagnostic.next_command = tuple(visible(word) for word in common.split(argv).rest)
    return refused


def _repeated(argv: list[str]) -> tuple[str, ...]:
    try:
        options = common.split(argv)
    except Refused:
        return ()
    json = ("--format", "json") if options.format == "json" else ()
    return (*Operations(options.state_file, options.runtime_root, containment=options.containment).options, *json)


def _bug(error: Exception, *, debug: bool) -> dict[str, Any]:
    import traceback

    trace = "".join(traceback.format_exception(error))
    report = Operations().report_path(trace)
    if debug:
        streams.write_err(trace)
    summary = f"loopx failed in a way it should not: {type(error).__name__}"
    hint = f"the details are in {report}" if report else "repeat the command with --debug to see the details"
    return refusal("internal_error", "loopx", summary, hint=hint, report=report).document


def _emit(document: dict[str, Any], wanted: str, status: int) -> int:
    from loopx_host.cli import render

    if wanted == "json":
        reason = streams.write_out(render.to_json(document, indent=streams.is_terminal()))
    elif "code" in document:
        streams.write_err(render.to_text(document))
        return status
    else:
        reason = streams.write_out(_text(document))
    if reason is None:
        return status
    streams.write_err(f"loopx: error [output_unwritable]: standard output cannot be written: {reason}\n")
    return EXIT_OUTPUT


def _text(document: dict[str, Any]) -> str:
    """Return a receipt as text: with rich for a person at a terminal, plain for everything else."""
    from loopx_host.cli import render, terminal

    if streams.is_terminal() and terminal.is_capable():
        return terminal.to_text(document) or render.to_text(document)
    return render.to_text(document)
