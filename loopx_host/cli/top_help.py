"""The top help, a constant: shown without importing anything else (a test compares it with the routes)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN = "  (commands of packages are shown again after `loopx extension discover`)"


def top_help(rows: Iterable[list[str]] | None) -> str:
    """Return the help with the rows of packages' commands in it; None says that they are not known."""
    lines = [UNKNOWN] if rows is None else [f"  {name:<30}{summary} ({state})" for name, summary, state in rows]
    head, mark, tail = TOP_HELP.partition("\noptions of every command:")
    return "".join([head, *(f"{line}\n" for line in lines), mark, tail])


TOP_HELP = """\
usage: loopx <command> [options]

loopx installs, proves and runs extensions: providers that answer one JSON request in one bounded process.
Every command that changes something only says what it would do until --execute is given.

commands:
  extension init                write a new extension that installs and runs unedited
  extension validate            check a manifest, its schemas and its example
  extension conformance         hold a provider to the rules of the contract
  extension schema              print the JSON Schema of a document
  extension discover            list what installed packages offer
  extension install             trust one manifest after its doctor proved the provider
  extension upgrade             trust another revision of an installed extension
  extension rollback            return to a revision that was trusted before
  extension uninstall           forget an extension; its package stays installed
  extension list                list installed extensions and whether each is ready
  extension show                show manifest, proof and revisions of one extension
  extension history             show what was done to one extension, newest first
  extension doctor              probe an extension and record the proof
  extension enable              probe an extension, then let it be dispatched
  extension disable             take an extension out of dispatch; it stays listed
  extension run                 run one request in one bounded process
  extension publish-projection  publish a provider's view on one of its surfaces
  extension export              write down what is installed, for another machine
  extension restore             install what an export names
  extension repair              move what is damaged in the state file out of the way
  capability list               list capabilities and how far each is from being usable
  capability show               show one capability
  capability bind               let a goal use operations of one provider, pinned
  capability unbind             take a binding away
  capability invoke             make one governed read for a goal
  doctor                        check state, extensions and packages, with the command that helps
  completions                   print the completion script of a shell
  performance-diagnosis         measure the start-up of this installation

options of every command:
  --format text|json   text (default) or json: one document on standard output, for errors too
  --state-file PATH    use this activation state file
  --runtime-root DIR   use this directory instead of the platform's state directory
  --containment LEVEL  run providers at this level or not at all: process, limits, contained, namespaced
  --no-extensions      run nothing that an extension brought, as LOOPX_NO_EXTENSIONS=1 does
  --debug              show a traceback when loopx itself fails
  --help, --version

example:
  loopx extension run loopx-text-stats --input-json request.json --execute
"""
