"""From an activation to registered hooks: only what was pinned, and only while the metadata still say the same.

`load` imports third-party code and changes this interpreter's search path: it belongs in a process of its own.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import sys

from loopx_host.adapters.files import bounded, paths
from loopx_host.adapters.packages import bytecode_store, carriage, distributions, search_path, source_trees
from loopx_host.core.errors import refusal
from loopx_host.hookspecs import manager as hooks
from loopx_host.hookspecs.culprit import Culprit, HookError, described
from loopx_host.lifecycle.extensions.candidate import entry_point_foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import SourceFileLoader

    from importlib_metadata import EntryPoint
    from pluggy import PluginManager

    from loopx_host.adapters.packages.distributions import Installed
    from loopx_host.core.errors import Refused
    from loopx_host.documents.parts import Distribution, EntryPoints
    from loopx_host.documents.parts import EntryPoint as Row
    from loopx_host.lifecycle.extensions.activation import Activation
    from loopx_host.lifecycle.extensions.identity import BytecodeKey


PLUGINS, COMMANDS = "loopx.plugins", "loopx.commands"
_MODULE = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_VALUES = {
    PLUGINS: re.compile(_MODULE, re.ASCII),
    COMMANDS: re.compile(rf"{_MODULE}:[A-Za-z_]\w*", re.ASCII),
}
_ENTRY_POINTS_BYTES = 1024 * 1024
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)

_NOWHERE = "/nonexistent/loopx"
# The first 16 bytes of a file of byte code: which Python, how it is compared with its source, with what.
_MAGIC, _CHECKED, _HEADER_BYTES = importlib.util.MAGIC_NUMBER, (0b11).to_bytes(4, "little"), 16


def load(activation: Activation, command: str | None = None) -> PluginManager:
    """Return a manager with the hooks of a package registered, or with one command of it.

    Raises Refused: `activation_changed`, `command_not_activated`, `plugin_load_failed`, `plugin_signature`.
    """
    distribution, pinned = _pinned(activation)
    group, register = (PLUGINS, hooks.register_module) if command is None else (COMMANDS, hooks.register_command)
    wanted = [entry for entry in pinned if entry.group == group and command in (None, entry.name)]
    if command is not None and not wanted:
        raise not_activated(activation, command)
    sys.path[:] = _trusted_path(distribution)
    made = hooks.build()
    import stevedore.named  # noqa: F401 (with the byte code of its own installation)

    _own_bytecode(activation.bytecode_key)
    for entry in wanted:
        culprit = Culprit(activation.extension_id, activation.distribution, group, entry.name, entry.value)
        try:
            register(made, _loaded(entry, culprit), culprit)
        except HookError as error:
            raise culprit.refusal("plugin_signature", error.reason, hook=error.hook) from error
    return made


def _own_bytecode(key: BytecodeKey | None) -> None:
    """Keep the byte code of this package's imports in a cache of the host's, one for each proof of each extension.

    Byte code that lies in the package's own tree is not part of what was proved: it is neither executed nor written.
    """
    place = _NOWHERE
    if key is not None:
        place = bytecode_store.of_hooks(key)
        try:
            paths.make_private(place)
        except OSError:
            place = _NOWHERE
    sys.dont_write_bytecode = place == _NOWHERE
    sys.pycache_prefix = place
    _compare_with_sources()


def _compare_with_sources() -> None:
    """Let byte code that is written from here on be compared with the whole source whenever it is read (PEP 552).

    A time stamp and a size do not tell one source from another.
    """
    loader = importlib.machinery.SourceFileLoader
    compile_source: Callable[..., object] = loader.source_to_code
    write: Callable[..., None] = loader.set_data

    def source_to_code(self: SourceFileLoader, data: object, path: object, **settings: object) -> object:
        vars(self)["compiled_from"] = importlib.util.source_hash(data) if isinstance(data, bytes) else None
        return compile_source(self, data, path, **settings)

    def set_data(self: SourceFileLoader, path: str, data: bytes, **settings: object) -> None:
        compiled_from = vars(self).pop("compiled_from", None)
        if compiled_from and data[: len(_MAGIC)] == _MAGIC:
            data = b"".join((_MAGIC, _CHECKED, compiled_from, data[_HEADER_BYTES:]))
        write(self, path, data, **settings)

    loader.source_to_code = source_to_code  # type: ignore[method-assign, assignment]  # all that is imported here
    loader.set_data = set_data  # type: ignore[method-assign, assignment]


def advertised(label: Distribution, extension_id: str) -> EntryPoints:
    """Return the rows of plugins and commands that a distribution advertises where loopx runs.

    What is malformed or damaged is left out, and so is everything of a distribution that could not be loaded here
    because it lies in another environment. Most advertise nothing, which the first look at one file says.
    """
    folder = _folder(label["name"])
    entries: list[EntryPoint] = []
    if folder is not None and _mentions_us(folder):
        found = distributions.Installed(folder)
        entries = _entries(found, extension_id) if found.label == label else []
    return {"plugins": _of_group(entries, PLUGINS), "commands": _of_group(entries, COMMANDS)}


def _of_group(entries: list[EntryPoint], group: str) -> list[Row]:
    return [{"name": entry.name, "value": entry.value} for entry in entries if entry.group == group]


def not_activated(activation: Activation, command: str) -> Refused:
    """Return the refusal of a command that an extension's activation does not hold."""
    from loopx_host.core.text import one_line

    shown = one_line(command, 60)
    return refusal(
        "command_not_activated",
        shown,
        f"extension `{activation.extension_id}` has no activated command `{shown}`",
        hint="see what it has",
        next_command=("extension", "show", activation.extension_id),
    )


def foreign_entry(label: Distribution, extension_id: str) -> str | None:
    """Return the first module that a distribution wants to bring into the host and does not carry, or None."""
    folder = _folder(label["name"])
    if folder is None or not _mentions_us(folder):
        return None
    found = distributions.Installed(folder)
    return _foreign(found, _entries(found, extension_id)) if found.label == label else None


def _foreign(distribution: Installed, entries: list[EntryPoint]) -> str | None:
    named = (entry.value.partition(":")[0] for entry in entries)
    return next((module for module in named if not carriage.carries(distribution, module)), None)


def _entries(distribution: Installed, extension_id: str) -> list[EntryPoint]:
    found = {
        (entry.group, entry.name, entry.value): entry
        for entry in distribution.entry_points()
        if entry.group in _VALUES and _is_well_formed(entry, extension_id)
    }
    return [found[key] for key in sorted(found)] if distribution.damage is None else []


def _is_well_formed(entry: EntryPoint, extension_id: str) -> bool:
    if not _VALUES[entry.group].fullmatch(entry.value):
        return False
    return entry.name == extension_id if entry.group == PLUGINS else bool(_NAME.fullmatch(entry.name))


def _pinned(activation: Activation) -> tuple[Installed, list[EntryPoint]]:
    """Return the distribution of an activation and its entry points as they are now, which is as they were pinned."""
    label = activation.distribution
    if label is None:
        raise _changed(activation, "its activation names no package")
    folder = _folder(label["name"])
    if folder is None:
        raise _changed(activation, f"{label['name']} is not installed where loopx runs")
    found = distributions.Installed(folder)
    if found.label is None:
        raise _changed(activation, str(found.damage))
    if found.label != label:
        raise _changed(activation, f"{label['name']} {label['version']} was activated and {found.shown} is there")
    entries = _entries(found, activation.extension_id)
    now = sorted((entry.group, entry.name, entry.value) for entry in entries)
    then = sorted(
        (group, row["name"], row["value"])
        for group, rows in ((PLUGINS, activation.plugins), (COMMANDS, activation.commands))
        for row in rows
    )
    if now != then:
        raise _changed(activation, f"the entry points of {found.shown} are not those that were activated")
    foreign = _foreign(found, entries)
    if foreign is not None:
        raise entry_point_foreign(activation.extension_id, foreign, ("extension", "disable", activation.extension_id))
    return found, entries


def _folder(name: str) -> str | None:
    """Return the metadata folder of the distribution that an import here would find first."""
    wanted = distributions.normalised(name)
    found = (distributions.by_name(place).get(wanted) for place in search_path.directories())
    return next(filter(None, found), None)


def _mentions_us(folder: str) -> bool:
    try:
        text = bounded.read_regular(os.path.join(folder, "entry_points.txt"), _ENTRY_POINTS_BYTES)
    except OSError:
        return False
    return any(group.encode() in text for group in _VALUES)


def _changed(activation: Activation, reason: str) -> Refused:
    return refusal(
        "activation_changed",
        activation.extension_id,
        f"nothing of extension `{activation.extension_id}` runs inside loopx: {reason}",
        hint="activate what is there now, or put back what was activated",
        next_command=("extension", "upgrade", activation.extension_id),
        distribution=activation.distribution,
    )


def _trusted_path(distribution: Installed) -> list[str]:
    """Return the search path without the caller's directory; where an editable install points to comes last."""
    roots = source_trees.source_roots(distribution) if distribution.editable_source() is not None else []
    return list(dict.fromkeys([*search_path.search_path(), *map(os.path.realpath, roots)]))


def _loaded(entry: EntryPoint, culprit: Culprit) -> object:
    """Return what one entry point names, loaded by stevedore: no scan of the environment, no cache."""
    from stevedore.named import NamedExtensionManager

    class Pinned(NamedExtensionManager[object]):
        """Knows one entry point; the stock manager would look through everything installed and keep a file of it."""

        def list_entry_points(self) -> list[EntryPoint]:  # type: ignore[override]
            return [entry]

    try:
        found = Pinned(entry.group, [entry.name], on_load_failure_callback=_raise)
    except BaseException as error:  # (SystemExit and KeyboardInterrupt pass by the callback)
        raise culprit.refusal("plugin_load_failed", f"could not be loaded: {described(error)}") from error
    return found[entry.name].plugin


def _raise(_manager: object, _entry: object, error: BaseException) -> None:
    raise error
