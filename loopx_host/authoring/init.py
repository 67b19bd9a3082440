"""The verb `init`: a new extension in a new directory, whole or not at all."""

from __future__ import annotations

from loopx_host.authoring import scaffold
from loopx_host.authoring.names import module_name
from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line
from loopx_host.documents import scaffold as document
from loopx_host.lifecycle.extensions.plan import content_digest, hold_to_plan
from loopx_host.registry import grammar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.authoring.ports import InitPorts
    from loopx_host.documents.scaffold import Scaffold

DEFAULT_VERSION = "0.1.0"  # what the command line says when the caller does not


class InitRequest:
    """Write a new extension into `destination`, or into a directory named like it."""

    __slots__ = ("destination", "execute", "extension_id", "plan", "version")

    def __init__(
        self,
        extension_id: str,
        *,
        execute: bool,
        destination: str | None = None,
        version: str = DEFAULT_VERSION,
        plan: str | None = None,
    ) -> None:
        self.extension_id = extension_id
        self.destination = destination
        self.version = version
        self.execute = execute
        self.plan = plan


def init(request: InitRequest, ports: InitPorts) -> Scaffold:
    """Write the starter package, or say which files it would have (contract section 8).

    Raises Refused: `name_unusable`, `version_unusable`, and `destination_exists` for anything at all that is
    already there.
    """
    extension_id, version, execute = request.extension_id, request.version, request.execute
    tree = ports.new_trees.at(request.destination, extension_id)
    module = module_name(extension_id, ports.taken_names)
    _refuse_version(extension_id, version)
    made = scaffold.files(extension_id, module, version)
    tree.refuse_existing()
    preview_command = ("extension", "init", extension_id, *tree.flags)
    if version != DEFAULT_VERSION:
        preview_command = (*preview_command, "--version", version)
    digest = content_digest("init", [tree.place, made])
    hold_to_plan(digest, request.plan, extension_id, preview_command)
    if execute:
        tree.write(made)
    return document.scaffold(
        extension_id=extension_id,
        version=version,
        destination=tree.shown,
        module_name=module,
        protocol=scaffold.protocol(module),
        paths=list(made),
        executed=execute,
        plan=digest,
        next_commands=_next_commands(extension_id, tree.shown),
        next_command=None if execute else (*preview_command, "--execute"),
    )


def _refuse_version(extension_id: str, version: str) -> None:
    """Refuse a version that a Python package cannot have, or that a manifest cannot."""
    from packaging.version import InvalidVersion, Version

    try:
        normal = str(Version(version))
        wrong = grammar.version(version)
        if wrong is None and normal != version:
            wrong = f"is written `{normal}` by Python packages, and manifest and package would differ"
    except InvalidVersion:
        wrong = "is not one that a Python package can have"
    if wrong is not None:
        shown = one_line(version, 60)
        raise refusal(
            "version_unusable", extension_id, f"the version `{shown}` {wrong}", hint="choose one such as 0.1.0"
        )


def _next_commands(extension_id: str, destination: str) -> dict[str, str]:
    machine = "--execute --format json"
    manifest, example = (_typed(f"{destination}/{name}") for name in ("extension.toml", "examples/request.json"))
    return {
        "install_package": f"python3 -m pip install {_typed(destination)}",
        "register_extension": f"loopx extension install --manifest {manifest} {machine}",
        "run_extension": f"loopx extension run {extension_id} --input-json {example} {machine}",
    }


def _typed(path: str) -> str:
    """Return a path as one types it into a shell; with a slash, or pip would ask a registry for that name."""
    from shlex import quote

    home, slash, rest = path.partition("/")
    if home.startswith("~"):
        return f"{home}{slash}{quote(rest)}" if rest else path
    return quote(path if slash else f"./{path}")
