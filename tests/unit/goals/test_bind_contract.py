"""A binding is compared with the contract of its capability, also when another package brings that one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loopx_host.core.errors import Refused, refusal
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.goals.bindings import Bindings
from tests.support.capabilities import IMPLEMENTS, profile, provides
from tests.support.fakes import ScriptedPlugins, World, code_of

if TYPE_CHECKING:
    from loopx_host.documents.binding import Binding

CONTRACTS = "loopx_capability_contracts"
PERMISSIONS = 'permissions = ["fs.read:repo"]'
DECLARER, SINK = "declarer", "implementer"


class Contracts(ScriptedPlugins):
    """Plugins that answer the hook with one contract per extension; `questioned` is whom, in order."""

    def __init__(self, effects: dict[str, str]) -> None:
        super().__init__()
        self._effects = effects
        self.questioned: list[str] = []

    def call(self, activation: Activation, hook: str, arguments: dict[str, Any]) -> list[Any]:
        assert (hook, arguments) == (CONTRACTS, {})
        self.questioned.append(activation.extension_id)
        effect = self._effects.get(activation.extension_id)
        return [] if effect is None else [[contract(effect)]]


def contract(effect: str) -> dict[str, Any]:
    return {"id": "weather", "title": "Weather", "operations": [{"id": "inspect", "effect_class": effect}]}


def pinned(extension_id: str) -> dict[str, Any]:
    return {"plugins": [{"name": extension_id, "value": "made_up.plugin"}]}


def world(effects: dict[str, str], *, declarer: dict[str, Any] | None = None, own_plugins: bool = False) -> World:
    """Return a world where one package declares the capability and another one implements it."""
    made = World()
    made.plugins = Contracts(effects)
    settings: dict[str, Any] = {"pinned": pinned(DECLARER), **(declarer or {})}
    made.holding(
        DECLARER,
        top=PERMISSIONS,
        runtime=provides(),
        files={"profile.json": profile()},
        **settings,
    )
    mine: dict[str, Any] = {"pinned": pinned(SINK)} if own_plugins else {}
    return made.holding(SINK, top=PERMISSIONS, runtime=IMPLEMENTS.format(id="weather"), **mine)


def asked(made: World) -> list[str]:
    assert isinstance(made.plugins, Contracts)
    return made.plugins.questioned


def bound(made: World) -> Binding | None:
    return Bindings.parse(made.bindings.data, "").find("g1", "weather")


@pytest.mark.req("M112")
def test_a_provider_that_differs_from_the_contract_of_the_declaring_package_is_not_bound() -> None:
    made = world({DECLARER: "external_write"})

    assert code_of(lambda: made.bind(provider_id=SINK)) == "contract_mismatch"
    assert made.bindings.data is None


@pytest.mark.req("M112")
def test_a_provider_that_follows_the_contract_of_the_declaring_package_is_bound() -> None:
    made = world({DECLARER: "read_only"})

    receipt = made.bind(provider_id=SINK)

    assert receipt["binding"]["provider"]["extension_id"] == SINK
    assert bound(made) == receipt["binding"]
    assert asked(made) == [DECLARER]


def test_the_refusal_names_the_provider_and_not_the_package_that_brought_the_contract() -> None:
    made = world({DECLARER: "external_write"})

    with pytest.raises(Refused) as caught:
        made.bind(provider_id=SINK)

    assert caught.value.diagnostic.subject == SINK


def test_the_provider_and_the_declaring_package_are_both_asked() -> None:
    made = world({DECLARER: "read_only"}, own_plugins=True)

    made.bind(provider_id=SINK)

    assert sorted(asked(made)) == [DECLARER, SINK]


def test_a_provider_that_departs_from_its_own_contract_is_not_bound_either() -> None:
    made = world({DECLARER: "read_only", SINK: "external_write"}, own_plugins=True)

    assert code_of(lambda: made.bind(provider_id=SINK)) == "contract_mismatch"


def test_a_provider_that_declares_its_capability_itself_is_asked_once() -> None:
    made = world({DECLARER: "read_only"})

    made.bind(provider_id=DECLARER)

    assert asked(made) == [DECLARER]


@pytest.mark.req("X15")
@pytest.mark.parametrize(
    "declarer",
    [
        {"enabled": False},
        {"proof": None, "doctor_verified_revision": None, "doctor_verified_entrypoint_identity": None},
        {"pinned": {}},
        {"pinned": {"commands": [{"name": "weather", "value": "made_up:command"}]}},
    ],
    ids=["disabled", "never proved", "nothing pinned", "only a command pinned"],
)
def test_a_declaring_package_that_is_not_activated_is_never_loaded(declarer: dict[str, Any]) -> None:
    made = world({DECLARER: "external_write"}, declarer=declarer)

    receipt = made.bind(provider_id=SINK)

    assert (receipt["status"], asked(made)) == ("written", [])


def test_a_package_that_declares_another_capability_is_not_asked() -> None:
    made = world({DECLARER: "read_only"})
    files = {"profile.json": profile(capability_id="climate")}
    made.holding("other", top=PERMISSIONS, runtime=provides("climate"), files=files, pinned=pinned("other"))

    made.bind(provider_id=SINK)

    assert asked(made) == [DECLARER]


@pytest.mark.parametrize("settings", [{"execute": False}, {}], ids=["a preview", "binding again"])
def test_what_writes_nothing_asks_nobody(settings: dict[str, Any]) -> None:
    made = world({DECLARER: "read_only"})
    if not settings:
        made.bind(provider_id=SINK)
        asked(made).clear()

    made.bind(provider_id=SINK, **settings)

    assert asked(made) == []


def test_a_declaring_package_that_fails_in_the_host_binds_nothing() -> None:
    made = world({})
    made.plugins = ScriptedPlugins()
    made.plugins.refusal = refusal("plugin_hook_failed", DECLARER, "it fell over")

    assert code_of(lambda: made.bind(provider_id=SINK)) == "plugin_hook_failed"
    assert made.bindings.data is None
