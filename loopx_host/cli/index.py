"""Every command in one row, and the options that all of them take; imports nothing.

Dispatch, every help text, the completions and the reference page read these rows; a test follows each row to its
module, its documents and its renderer.
"""

from __future__ import annotations


class Row:
    """One command: its `words`, the `module` that serves it and what it answers with.

    `documents` are the names of the schemas of what it answers with (``loopx extension schema NAME``), `renderer`
    is the module of `cli.render` that shows them to a person.
    """

    __slots__ = ("documents", "module", "renderer", "summary", "words")

    def __init__(self, words: str, module: str, summary: str, documents: str, renderer: str) -> None:
        self.words = tuple(words.split())
        self.module = f"loopx_host.cli.commands.{module}"
        self.summary = summary
        self.documents = tuple(documents.split())
        self.renderer = renderer


ROWS = (
    Row(
        "extension init",
        "extension.init",
        "write a new extension that installs and runs unedited",
        "scaffold",
        "fields",
    ),
    Row(
        "extension validate",
        "extension.validate",
        "check a manifest, its schemas and its example",
        "validation",
        "fields",
    ),
    Row(
        "extension conformance",
        "extension.conformance",
        "hold a provider to the rules of the contract",
        "conformance",
        "conformance",
    ),
    Row(
        "extension schema",
        "extension.schema",
        "print the JSON Schema of a document",
        "",
        "schema",
    ),
    Row(
        "extension discover",
        "extension.discover",
        "list what installed packages offer",
        "discovery",
        "discovery",
    ),
    Row(
        "extension install",
        "extension.install",
        "trust one manifest after its doctor proved the provider",
        "operation",
        "operation",
    ),
    Row(
        "extension upgrade",
        "extension.upgrade",
        "trust another revision of an installed extension",
        "operation",
        "operation",
    ),
    Row(
        "extension rollback",
        "extension.rollback",
        "return to a revision that was trusted before",
        "operation",
        "operation",
    ),
    Row(
        "extension uninstall",
        "extension.uninstall",
        "forget an extension; its package stays installed",
        "operation",
        "operation",
    ),
    Row(
        "extension list",
        "extension.list",
        "list installed extensions and whether each is ready",
        "list",
        "extension_list",
    ),
    Row(
        "extension show",
        "extension.show",
        "show manifest, proof and revisions of one extension",
        "detail",
        "fields",
    ),
    Row(
        "extension history",
        "extension.history",
        "show what was done to one extension, newest first",
        "history",
        "fields",
    ),
    Row(
        "extension doctor",
        "extension.doctor",
        "probe an extension and record the proof",
        "doctor",
        "doctor",
    ),
    Row(
        "extension enable",
        "extension.enable",
        "probe an extension, then let it be dispatched",
        "operation",
        "operation",
    ),
    Row(
        "extension disable",
        "extension.disable",
        "take an extension out of dispatch; it stays listed",
        "operation",
        "operation",
    ),
    Row(
        "extension run",
        "extension.run",
        "run one request in one bounded process",
        "run-receipt",
        "run_receipt",
    ),
    Row(
        "extension publish-projection",
        "extension.publish_projection",
        "publish a provider's view on one of its surfaces",
        "publish-receipt",
        "fields",
    ),
    Row(
        "extension export",
        "extension.export",
        "write down what is installed, for another machine",
        "export operation",
        "fields",
    ),
    Row(
        "extension restore",
        "extension.restore",
        "install what an export names",
        "restore",
        "fields",
    ),
    Row(
        "extension repair",
        "extension.repair",
        "move what is damaged in the state file out of the way",
        "repair",
        "fields",
    ),
    Row(
        "capability list",
        "capability.list",
        "list capabilities and how far each is from being usable",
        "capability-catalog",
        "capability_catalog",
    ),
    Row(
        "capability show",
        "capability.show",
        "show one capability",
        "capability-detail",
        "fields",
    ),
    Row(
        "capability bind",
        "capability.bind",
        "let a goal use operations of one provider, pinned",
        "binding-receipt",
        "binding_receipt",
    ),
    Row(
        "capability unbind",
        "capability.unbind",
        "take a binding away",
        "binding-receipt",
        "binding_receipt",
    ),
    Row(
        "capability invoke",
        "capability.invoke",
        "make one governed read for a goal",
        "invocation",
        "invocation",
    ),
    Row(
        "doctor",
        "host.doctor",
        "check state, extensions and packages, with the command that helps",
        "host-doctor",
        "host_doctor",
    ),
    Row(
        "completions",
        "host.completions",
        "print the completion script of a shell",
        "completions",
        "text",
    ),
    Row(
        "performance-diagnosis",
        "host.performance_diagnosis",
        "measure the start-up of this installation",
        "performance-diagnosis",
        "performance_diagnosis",
    ),
)

GROUPS = {
    "extension": "install, prove and run extensions",
    "capability": "see what extensions can do, bind goals to it, call it",
}

FORMATS = ("text", "json")
HELP_FLAGS = ("--help", "-h")
# flag: (what the top help calls its value, or None where it takes none; what it does)
COMMON = {
    "--format": ("|".join(FORMATS), "text (default) or json: one document on standard output, for errors too"),
    "--state-file": ("PATH", "use this activation state file"),
    "--runtime-root": ("DIR", "use this directory instead of the platform's state directory"),
    "--containment": ("LEVEL", "run providers at this level or not at all: process, limits, contained, namespaced"),
    "--no-extensions": (None, "run nothing that an extension brought, as LOOPX_NO_EXTENSIONS=1 does"),
    "--debug": (None, "show a traceback when loopx itself fails"),
}
# The options of every command that a package brings; the host reads them, the package never sees them.
OF_PACKAGES = {"--execute": (None, "do it; without this the command only says what it would do")}


def find(words: tuple[str, ...]) -> Row | None:
    """Return the row whose words `words` begin with, or None."""
    return next((row for row in ROWS if words[: len(row.words)] == row.words), None)
