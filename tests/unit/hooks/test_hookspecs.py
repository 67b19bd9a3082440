"""The hooks packages may implement: what is accepted at the door, what is not, and the page that describes them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from loopx_host import hookspecs
from loopx_host.core.limits import HOST_API
from loopx_host.hookspecs import manager, specs
from loopx_host.hookspecs.culprit import Culprit, HookError
from loopx_host.hookspecs.markers import hookimpl
from tests.support.hook_reference import PAGE, hook_names, page

CULPRIT = Culprit("beast", {"name": "beast-package", "version": "1.0"}, "loopx.plugins", "beast", "beast_hooks")
HOOKS = ("loopx_capability_contracts", "loopx_check_invocation", "loopx_run_command", "loopx_view_schemas")
EVERY_PAGE_SAYS = ("**When.**", "**With.**", "**Answer.**", "`None`", "**A raise.**", "**Example.**")


def module(**functions: Any) -> ModuleType:
    made = ModuleType("beast_hooks")
    vars(made).update(functions)
    return made


def registered(**functions: Any) -> Any:
    made = manager.build()
    manager.register_module(made, module(**functions), CULPRIT)
    return made


def test_the_hooks_are_those_of_the_contract_and_of_the_hosts_api() -> None:
    assert tuple(sorted(hook_names())) == HOOKS
    assert hookspecs.API_VERSION == HOST_API


@pytest.mark.parametrize("name", HOOKS)
def test_the_page_of_a_hook_says_all_an_author_has_to_know(name: str) -> None:
    text = inspect.getdoc(getattr(specs, name)) or ""

    assert [part for part in EVERY_PAGE_SAYS if part not in text] == []


def test_the_reference_is_the_one_the_generator_writes() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python -m tests.support.hook_reference"


@pytest.mark.parametrize("name", HOOKS)
def test_the_example_of_a_hook_is_accepted(name: str) -> None:
    text = inspect.getdoc(getattr(specs, name)) or ""
    example = inspect.cleandoc(text.partition("**Example.**")[2])
    scope: dict[str, Any] = {"hookimpl": hookimpl}
    exec(example, scope)
    (function,) = [value for value in scope.values() if inspect.isfunction(value)]

    made = registered(**{function.__name__: function})

    assert len(getattr(made.hook, name).get_hookimpls()) == 1


@pytest.mark.req("B16")
def test_a_function_without_the_mark_is_no_implementation() -> None:
    def loopx_view_schemas() -> dict[str, Any]:
        return {"beast_v0": {}}

    with_mark = registered(loopx_view_schemas=hookimpl(lambda: {"beast_v0": {}}))
    without = registered(loopx_view_schemas=loopx_view_schemas)

    assert with_mark.hook.loopx_view_schemas() == [{"beast_v0": {}}]
    assert without.hook.loopx_view_schemas() == []


@pytest.mark.req("B16")
def test_without_pluggy_there_are_no_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pluggy", None)

    with pytest.raises(ImportError):
        manager.build()


def test_the_first_answer_of_a_command_is_the_only_one() -> None:
    def roar(arguments: list[str], host: object) -> dict[str, Any]:
        return {"said": arguments, "host": host}

    made = manager.build()
    manager.register_command(made, hookimpl(specname="loopx_run_command")(roar), CULPRIT)

    assert made.hook.loopx_run_command(arguments=["x"], host=1) == {"said": ["x"], "host": 1}


def test_an_implementation_may_leave_arguments_out() -> None:
    made = registered(loopx_check_invocation=hookimpl(lambda: {"deny": "never"}))

    assert made.hook.loopx_check_invocation(request={}) == [{"deny": "never"}]


def _with_default(request: object = None) -> object:
    return request


def _by_keyword(*, request: object) -> object:
    return request


MISFITS: dict[str, tuple[str, Callable[..., object], str]] = {
    "an unknown hook": ("loopx_make_coffee", lambda: None, "loopx_make_coffee"),
    "an unknown argument": ("loopx_view_schemas", lambda weather: weather, "loopx_view_schemas"),
    "an argument with a default": ("loopx_check_invocation", _with_default, "loopx_check_invocation"),
    "an argument by keyword only": ("loopx_check_invocation", _by_keyword, "loopx_check_invocation"),
}


@pytest.mark.parametrize("misfit", MISFITS)
def test_what_does_not_fit_is_found_at_registration_and_named(misfit: str) -> None:
    name, function, hook = MISFITS[misfit]

    with pytest.raises(HookError) as caught:
        registered(**{name: hookimpl(function)})

    assert (caught.value.culprit, caught.value.hook) == (CULPRIT, hook)


def _plain(arguments: list[str], host: object) -> dict[str, Any]:
    return {"arguments": arguments, "host": host}


def _named_by_chance() -> dict[str, Any]:
    return {}


@hookimpl(specname="loopx_view_schemas")
def _of_another_hook() -> dict[str, Any]:
    return {}


NO_COMMANDS = {
    "unmarked": _plain,
    "marked for no hook": hookimpl(_named_by_chance),
    "marked for another hook": _of_another_hook,
    "an object": SimpleNamespace(),
    "a number": 3,
}


@pytest.mark.parametrize("kind", NO_COMMANDS)
def test_what_is_no_command_is_refused_as_one(kind: str) -> None:
    with pytest.raises(HookError) as caught:
        manager.register_command(manager.build(), NO_COMMANDS[kind], CULPRIT)

    assert caught.value.culprit is CULPRIT


def test_a_refusal_names_extension_distribution_and_entry_point() -> None:
    document = CULPRIT.refusal("plugin_hook_failed", "raised\x1b[31m password=hunter2secret").document

    assert document["code"] == "plugin_hook_failed"
    assert document["subject"] == "beast"
    assert document["distribution"] == {"name": "beast-package", "version": "1.0"}
    assert document["entry_point"] == {"group": "loopx.plugins", "name": "beast", "value": "beast_hooks"}
    assert document["next_command"] == "loopx extension disable beast --execute"
    assert "\x1b" not in str(document["error"])
    assert "hunter2secret" not in str(document["error"])


MODULES = (
    "hookspecs",
    "hookspecs.manager",
    "hookspecs.culprit",
    "adapters.process.plugin_process",
    "adapters.packages.plugin_loading",
)


@pytest.mark.parametrize("name", MODULES)
def test_nothing_pays_for_the_libraries_before_a_package_is_used(name: str) -> None:
    libraries = ("pluggy", "stevedore", "importlib_metadata")
    program = f"import sys, loopx_host.{name}; print(*[one for one in {libraries} if one in sys.modules])"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=50)

    assert done.stdout.split() == []
