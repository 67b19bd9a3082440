"""One command line, down once and up once: split, served by the command's module, shown by its renderer."""

from __future__ import annotations

from loopx_host.cli import streams
from loopx_host.cli.command_line import CommandLine, usage
from loopx_host.cli.route import defaults, load
from loopx_host.core.codes import CODES, EXIT_INTERNAL, EXIT_OUTPUT, EXIT_PROVIDER_FAILED, RETRY
from loopx_host.core.diagnostics import with_commands
from loopx_host.core.errors import Interrupted, Refused, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping
    from types import SimpleNamespace
    from typing import TypeVar

    from loopx_host.assembly.container import Container
    from loopx_host.cli.index import Row
    from loopx_host.cli.route import CommandModule, Route

    Document = TypeVar("Document")

_SIGNAL_BASE = 128
_NO_SUCH_CALL = (1, 38)  # EPERM, ENOSYS


class Answer:
    """A document, the exit status that goes with it and the renderer that shows it to a person."""

    __slots__ = ("document", "renderer", "status")

    def __init__(self, document: Mapping[str, object], status: int, renderer: str) -> None:
        self.document = document
        self.status = status
        self.renderer = renderer


def dispatch(argv: list[str], version: str) -> int:
    """Serve `argv` and return the exit status (contract section 4)."""
    line = CommandLine(argv)
    try:
        return _write(_answer(line, version), line.format)
    except Interrupted as interrupted:  # while the answer itself was written
        return _SIGNAL_BASE + interrupted.signal_number
    except BrokenPipeError:
        return streams.READER_GONE


def _answer(line: CommandLine, version: str) -> Answer:
    try:
        return _serve(line, version)
    except Refused as refused:
        return _refusal(refused, line, refused.exit_status)
    except Interrupted as interrupted:
        name = interrupted.signal_name
        stopped = refusal("interrupted", "loopx", f"interrupted by {name}; everything that was started has ended")
        return _refusal(stopped, line, _SIGNAL_BASE + interrupted.signal_number)
    except Exception as error:  # noqa: BLE001 (our bug: one document and a report, never a bare traceback)
        if isinstance(error, OSError) and error.errno in _NO_SUCH_CALL and error.filename is None:
            why = f"the kernel refuses a call that loopx needs: {error.strerror}"
            hint = "run loopx where its filter, that of a container perhaps, lets this call through"
            no_call = refusal("kernel_refused", "loopx", why, hint=hint)
            return _refusal(no_call, line, no_call.exit_status)
        return _bug(error, debug=line.debug)


def _serve(line: CommandLine, version: str) -> Answer:
    if line.problem is not None:
        raise line.problem
    if line.wants_top_help:
        from loopx_host.assembly.container import Container
        from loopx_host.cli.help import top_help_of

        return _help(top_help_of(Container()))
    if line.words == ("--version",):
        from loopx_host.documents.version import version_of

        return Answer(version_of(version), 0, "text")
    if line.row is None:
        return _serve_words(line)
    return _serve_command(line, line.row)


def _serve_command(line: CommandLine, row: Row) -> Answer:
    command = load(row)
    if line.wants_help:
        from loopx_host.cli.leaf import LeafParser

        return _help(LeafParser(command.ROUTE).format_help())
    receipt = _call(line, lambda container: _run(command, line.arguments, container))
    status = 0 if receipt.get("ok", True) else EXIT_PROVIDER_FAILED
    return Answer(with_commands(receipt, line.repeated), status, row.renderer)


def _serve_words(line: CommandLine) -> Answer:
    """Serve a command that a package brings, or show the help of a group. Raises Refused `unknown_command`."""
    receipt = None
    if line.may_be_of_package:
        receipt = _call(line, lambda container: _package_command(line, container))
    if receipt is None:
        from loopx_host.cli.help import group_help

        return _help(group_help(line.words))
    failed = CODES.get(str(receipt.get("code")), (EXIT_PROVIDER_FAILED,))[0]
    return Answer(receipt, 0 if receipt["ok"] else failed, "foreign")


def _package_command(line: CommandLine, container: Container) -> dict[str, object] | None:
    from loopx_host.lifecycle.dispatch.package_command import PackageCommandRequest, package_command

    name, arguments, execute = line.of_package
    return package_command(PackageCommandRequest(name, arguments, execute=execute), container)


def _call(line: CommandLine, serve: Callable[[Container], Document]) -> Document:
    """Make one call with the caller's options and signals. Raises Refused `containment_unknown` for a wrong level."""
    from loopx_host.assembly.container import Container
    from loopx_host.cli.progress import Progress

    with Progress() as progress:
        container = Container(line.settings(progress))
        if container.settings.containment is not None:
            _ = container.level  # a level that is none is refused also where nothing would be started
        container.interrupts.install()
        try:
            document = serve(container)
        finally:
            container.interrupts.answer()  # what is left to write is not cut in half by a signal
        container.interrupts.check()
    return document


def _run(command: CommandModule, arguments: list[str], container: Container) -> Mapping[str, object]:
    document = command.serve(container, _parsed(command.ROUTE, arguments))
    if command.ROUTE.refreshes_help and document.get("changed", True):
        from loopx_host.lifecycle.extensions.activation import refresh_command_list

        refresh_command_list(container)
    return document


def _parsed(route: Route, arguments: list[str]) -> Namespace | SimpleNamespace:
    """Return the parsed arguments; a command that is given none does not pay for a parser if all can be left out."""
    if not arguments and all(argument.is_optional for argument in route.arguments):
        return defaults(route)
    from loopx_host.cli.leaf import LeafParser

    parsed = LeafParser(route).parse_args(arguments)
    empty = next((name for name, value in vars(parsed).items() if value == ""), None)
    if empty is not None:  # an unset variable of a script, most likely
        raise usage(f"the value of `{empty.replace('_', '-')}` is empty", route.words)
    return parsed


def _help(text: str) -> Answer:
    from loopx_host.documents.help import help_of

    return Answer(help_of(text), 0, "text")


def _refusal(refused: Refused, line: CommandLine, status: int) -> Answer:
    """Give a refusal the options its next command repeats; where trying again helps, that is this command."""
    refused.options = line.repeated
    if CODES[refused.code][2] == RETRY:
        refused.diagnostic.next_command = line.retry_command
    return Answer(refused.document, status, "error")


def _bug(error: Exception, *, debug: bool) -> Answer:
    import traceback

    from loopx_host.assembly.container import Container

    trace = "".join(traceback.format_exception(error))
    report = Container().reports.keep(trace)
    if debug:
        streams.write_err(trace)
    summary = f"loopx failed in a way it should not: {type(error).__name__}"
    hint = f"the details are in {report}" if report else "repeat the command with --debug to see the details"
    refused = refusal("internal_error", "loopx", summary, hint=hint, report=report)
    return Answer(refused.document, EXIT_INTERNAL, "error")


def _write(answer: Answer, wanted: str) -> int:
    """Write an answer to standard output, a refusal for a person to standard error; return the exit status."""
    if wanted == "text" and "code" in answer.document:
        streams.write_err(_text(answer, in_colour=False))
        return answer.status
    if wanted == "json":
        from loopx_host.cli.render.as_json import to_json

        reason = streams.write_out(to_json(answer.document, indent=streams.is_terminal()))
    else:
        reason = streams.write_out(_text(answer, in_colour=streams.takes_colour()))
    if reason is None:
        return answer.status
    streams.write_err(f"loopx: error [output_unwritable]: standard output cannot be written: {reason}\n")
    return EXIT_OUTPUT


def _text(answer: Answer, *, in_colour: bool) -> str:
    from loopx_host.cli import render

    return render.to_text(answer.renderer, answer.document, in_colour=in_colour)
