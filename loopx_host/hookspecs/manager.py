"""Build a manager with the hooks of this project; what does not fit them is found here, at the door."""

from __future__ import annotations

import re

from loopx_host.core.text import one_line
from loopx_host.hookspecs.culprit import HookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pluggy import PluginManager

    from loopx_host.hookspecs.culprit import Culprit

RUN_COMMAND = "loopx_run_command"
_NAMED_HOOK = re.compile(r"hook '([^']+)'")  # how both errors of pluggy name it


def build() -> PluginManager:
    """Return a manager that knows the hooks and no package."""
    from pluggy import PluginManager

    from loopx_host.hookspecs import specs
    from loopx_host.hookspecs.markers import PROJECT

    manager = PluginManager(PROJECT)
    manager.add_hookspecs(specs)
    return manager


def register_module(manager: PluginManager, module: object, culprit: Culprit) -> None:
    """Register all implementations in a module; it may have none. Raises HookError."""
    _register(manager, module, culprit)


def register_command(manager: PluginManager, function: object, culprit: Culprit) -> None:
    """Register a function as the command it is marked to be. Raises HookError."""
    from types import SimpleNamespace

    name = str(getattr(function, "__name__", "command"))
    _register(manager, SimpleNamespace(**{name: function}), culprit)
    if not manager.hook.loopx_run_command.get_hookimpls():
        raise HookError(culprit, RUN_COMMAND, f'is not marked with `@hookimpl(specname="{RUN_COMMAND}")`')


def _register(manager: PluginManager, plugin: object, culprit: Culprit) -> None:
    from pluggy import PluginValidationError

    try:
        manager.register(plugin, culprit.value)
        manager.check_pending()
    except PluginValidationError as error:
        hook = _NAMED_HOOK.search(str(error))
        reason = str(error).strip().splitlines()[-1]
        raise HookError(culprit, hook and hook[1], f"does not fit: {one_line(reason, 300)}") from None
    for caller in manager.get_hookcallers(plugin) or []:
        for implementation in caller.get_hookimpls():
            _check_parameters(implementation.function, caller.name, culprit)


def _check_parameters(function: object, hook: str, culprit: Culprit) -> None:
    """Refuse parameters that pluggy takes but never fills: those with a default, and those by keyword only."""
    import inspect

    for parameter in inspect.signature(function).parameters.values():  # type: ignore[arg-type]
        if parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty:
            raise HookError(
                culprit, hook, f"takes `{parameter.name}` by keyword or with a default, and would never be given it"
            )
