"""What a package's command is documented to get is what it gets: one signature in the hook, its page and the host."""

from __future__ import annotations

import inspect
import re

import pytest

import loopx_host
from loopx_host.assembly.command_host import LocalCommandHost
from loopx_host.hookspecs import specs
from tests.support.hook_reference import PAGE

METHODS = ("invoke", "publish")


def offered(kind: type) -> list[str]:
    return sorted(
        name for name, value in vars(kind).items() if inspect.isfunction(value) and not name.startswith("_")
    )


def test_the_host_offers_a_command_what_the_hook_promises_and_nothing_else() -> None:
    assert offered(specs.CommandHost) == offered(LocalCommandHost) == list(METHODS)
    assert loopx_host.CommandHost is specs.CommandHost


@pytest.mark.parametrize("method", METHODS)
def test_the_signature_is_the_promised_one(method: str) -> None:
    promised, real = (getattr(kind, method) for kind in (specs.CommandHost, LocalCommandHost))

    assert inspect.signature(real) == inspect.signature(promised)


@pytest.mark.parametrize("method", METHODS)
def test_the_page_names_the_arguments_as_they_are(method: str) -> None:
    (call,) = re.findall(rf"`host\.{method}\(([^)]*)\)`", " ".join(PAGE.read_text("utf-8").split()))
    parameters = [
        parameter for name, parameter in inspect.signature(getattr(specs.CommandHost, method)).parameters.items()
    ][1:]

    written = [argument.strip().partition("=") for argument in call.split(",")]

    assert [name for name, _, _ in written] == [parameter.name for parameter in parameters]
    assert [bool(mark) for _, mark, _ in written] == [
        parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters
    ]
