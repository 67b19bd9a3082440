"""What every `Packages` port promises, the fake that other tests lean on included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopx_host.adapters.packages.installed import InstalledPackages
from loopx_host.lifecycle.extensions.identity import (
    ENTRYPOINT,
    MODULE,
    BytecodeKey,
    Launcher,
    LauncherNotFound,
    RuntimeIdentity,
    changes,
)
from loopx_host.lifecycle.extensions.ports import Packages
from loopx_host.registry.load import load
from loopx_host.registry.manifest import Runtime
from tests.support.fakes import PROGRAM, MemoryFolder, MemoryPackages
from tests.support.packages import distribution, manifest, write, write_entry_points


class Fake:
    """The port in memory, with one program that a distribution carries."""

    def __init__(self, _: Path) -> None:
        self.fake = MemoryPackages()
        self.port: Packages = self.fake
        self.path = PROGRAM
        self.name = "provider"
        self.version = "1.0"

    def change(self) -> None:
        self.fake.programs[PROGRAM] = "second"

    def restore(self) -> None:
        self.fake.programs[PROGRAM] = "first"

    def remove(self) -> None:
        del self.fake.programs[PROGRAM]

    def advertise(self, plugins: dict[str, str], commands: dict[str, str]) -> None:
        self.fake.advertised = {"plugins": plugins, "commands": commands}

    def bring_bytecode(self, key: BytecodeKey, *, proved: bool = True) -> None:
        new = self.port.new_bytecode(key)
        assert new is not None
        self.port.keep_bytecode(key, new, proved=proved)


class Real:
    """The adapter over files, with one program that a distribution carries."""

    def __init__(self, root: Path) -> None:
        self.port: Packages = InstalledPackages()
        site = root / "lib/python3.11/site-packages"
        self.path = str(root / "bin/provider")
        self.name, self.version = "provider-package", "2.0"
        self.restore()
        files = {"part.py": "", "../../../bin/provider": "#!/bin/sh\n"}
        self.info = distribution(site, self.name, self.version, files=files)
        self.restore()

    def change(self) -> None:
        write(Path(self.path), "#!/bin/sh\nexit 1\n")

    def restore(self) -> None:
        write(Path(self.path), "#!/bin/sh\n")

    def remove(self) -> None:
        Path(self.path).unlink()

    def advertise(self, plugins: dict[str, str], commands: dict[str, str]) -> None:
        write_entry_points(self.info, {"loopx.plugins": plugins, "loopx.commands": commands})

    def bring_bytecode(self, key: BytecodeKey, *, proved: bool = True) -> None:
        new = self.port.new_bytecode(key)
        assert new is not None
        write(Path(new) / "part.pyc", "made-up byte code")
        self.port.keep_bytecode(key, new, proved=proved)


World = Fake | Real


@pytest.fixture(params=[Fake, Real], ids=["memory", "files"])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    make: Callable[[Path], World] = request.param
    return make(tmp_path)


def runtime(**settings: Any) -> Runtime:
    found = load(MemoryFolder({"extension.toml": manifest("any", **settings)}), "extension.toml").runtime
    assert found is not None
    return found


def resolved(world: World) -> Launcher:
    target = world.port.resolve(runtime(entrypoint="provider"), None)
    assert isinstance(target, Launcher)
    return target


def identity(world: World) -> RuntimeIdentity:
    found = world.port.identify(resolved(world))
    assert found is not None
    return found


def test_a_name_is_resolved_to_an_absolute_path(world: World) -> None:
    target = resolved(world)

    assert (target.kind, target.path) == (ENTRYPOINT, world.path)


def test_a_name_that_is_nowhere_says_where_was_searched(world: World) -> None:
    found = world.port.resolve(runtime(entrypoint="nowhere-at-all"), None)

    assert isinstance(found, LauncherNotFound)
    assert found.name == "nowhere-at-all"
    assert found.searched != []


def test_a_module_is_run_by_an_interpreter(world: World) -> None:
    found = world.port.resolve(runtime(entrypoint=None, python_module="json.tool"), None)

    assert isinstance(found, Launcher)
    assert (found.kind, found.module) == (MODULE, "json.tool")
    assert found.argv(["x"])[1:] == ["-P", "-m", "json.tool", "x"]


def test_the_identity_of_what_is_unchanged_is_the_same(world: World) -> None:
    first, second = identity(world), identity(world)

    assert (first.digest, first.groups) == (second.digest, second.groups)


def test_a_change_shows_in_the_digest_and_in_a_group_and_goes_when_it_is_taken_back(world: World) -> None:
    before = identity(world)
    world.change()
    during = identity(world)
    world.restore()

    after = identity(world)

    assert before.digest != during.digest
    assert "launcher" in changes(before.groups, during.groups)
    assert after.digest == before.digest


def test_what_cannot_be_executed_has_no_identity_and_no_owner(world: World) -> None:
    target = resolved(world)
    world.remove()

    assert world.port.identify(target) is None
    assert world.port.owner(target) is None


def test_the_owner_is_the_distribution_that_carries_the_launcher(world: World) -> None:
    assert world.port.owner(resolved(world)) == {"name": world.name, "version": world.version}


def test_what_was_identified_has_the_owner_of_its_launcher(world: World) -> None:
    found = identity(world)

    assert (found.owner, found.is_owned) == ({"name": world.name, "version": world.version}, True)


def test_nothing_changed_means_nothing_to_explain(world: World) -> None:
    found = identity(world)
    world.port.remember(found)

    assert world.port.explain(found.digest, found, []) == []


def test_what_was_never_remembered_is_explained_by_nothing(world: World) -> None:
    assert world.port.explain("sha256:unheard-of", identity(world), ["distribution"]) == []


def key(world: World, extension_id: str = "one", revision: str = "a" * 64) -> BytecodeKey:
    return BytecodeKey(extension_id, revision, identity(world).digest)


def test_there_is_no_byte_code_before_a_process_brought_some(world: World) -> None:
    assert world.port.bytecode_cache(key(world)) is None


@pytest.mark.req("B22")
def test_byte_code_is_of_one_extension_one_revision_and_one_identity(world: World) -> None:
    mine = key(world)
    world.bring_bytecode(mine)
    others = [key(world, "two"), key(world, revision="b" * 64)]
    world.change()
    others.append(key(world))

    assert [world.port.bytecode_cache(other) for other in others] == [None, None, None]
    assert world.port.bytecode_cache(mine) is not None


def test_byte_code_of_one_extension_says_nothing_of_that_of_another(world: World) -> None:
    world.bring_bytecode(key(world, "one"))
    world.bring_bytecode(key(world, "two"))

    kept = [world.port.bytecode_cache(key(world, name)) for name in ("one", "two")]

    assert None not in kept
    assert len(set(kept)) == 2


def test_byte_code_of_what_was_not_proved_is_dropped_and_what_was_kept_stays(world: World) -> None:
    found = key(world)
    world.bring_bytecode(found, proved=False)
    never = world.port.bytecode_cache(found)
    world.bring_bytecode(found)
    kept = world.port.bytecode_cache(found)

    world.bring_bytecode(key(world, revision="b" * 64), proved=False)

    assert never is None
    assert world.port.bytecode_cache(found) == kept is not None


def test_what_is_proved_leaves_nothing_of_what_was_proved_before(world: World) -> None:
    before, after = key(world), key(world, revision="b" * 64)
    world.bring_bytecode(before)

    world.bring_bytecode(after)

    assert world.port.bytecode_cache(before) is None
    assert world.port.bytecode_cache(after) is not None


def test_an_extension_that_is_forgotten_leaves_no_byte_code_and_others_keep_theirs(world: World) -> None:
    world.bring_bytecode(key(world, "one"))
    world.bring_bytecode(key(world, "two"))

    world.port.forget_bytecode("one")
    world.port.forget_bytecode("never-there")

    assert world.port.bytecode_cache(key(world, "one")) is None
    assert world.port.bytecode_cache(key(world, "two")) is not None


def test_nothing_is_touched_while_nothing_is_written(world: World) -> None:
    assert world.port.touched(identity(world)) == []


@pytest.mark.parametrize("is_put_back", [False, True], ids=["changed", "changed and put back"])
def test_a_file_that_was_written_after_it_was_identified_is_touched(world: World, is_put_back: bool) -> None:
    before = identity(world)

    world.change()
    if is_put_back and isinstance(world, Real):  # the fake has no time stamps
        world.restore()

    assert world.port.touched(before) != []


def test_the_platform_has_one_name(world: World) -> None:
    assert world.port.platform() == world.port.platform() != ""


def test_the_command_that_puts_a_distribution_back_names_its_version(world: World) -> None:
    assert "vane==1.5" in str(world.port.pip_command({"name": "vane", "version": "1.5"}))


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("--index-url=http://127.0.0.1:9", "1.0"),
        ("-r", "1.0"),
        ("vane @ http://127.0.0.1:9/vane.whl#", "1.0"),
        ("../vane", "1.0"),
        ("vane[extra]", "1.0"),
        ("vane", "1.0; python_version > '3'"),
        ("vane", "1.0 --pre"),
        ("vane\n", "1.0"),
        ("vane", "1.0\n"),
        ("", "1.0"),
        ("vane", ""),
    ],
)
def test_what_pip_would_not_take_for_a_name_and_a_version_makes_no_command(
    world: World, name: str, version: str
) -> None:
    assert world.port.pip_command({"name": name, "version": version}) is None


def test_a_program_that_is_required_and_is_not_there_is_none(world: World) -> None:
    identified = world.port.identify(Launcher(ENTRYPOINT, world.path, requires=["no-such-program"]))

    assert identified is not None
    assert identified.details["programs"] == {"no-such-program": None}


@pytest.fixture
def beside_the_host(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The world with its distribution where the host itself looks for packages."""
    if isinstance(world, Real):
        monkeypatch.syspath_prepend(str(world.info.parent))
    return world


def test_entry_points_are_the_plugin_of_the_extension_and_all_commands_in_order(beside_the_host: World) -> None:
    world = beside_the_host
    world.advertise({"mine": "part.hooks", "other": "part"}, {"roar": "part:roar", "bark": "part:bark"})

    found = world.port.entry_points(resolved(world), "mine")

    assert found == {
        "plugins": [{"name": "mine", "value": "part.hooks"}],
        "commands": [{"name": "bark", "value": "part:bark"}, {"name": "roar", "value": "part:roar"}],
    }


def test_who_advertises_nothing_and_what_cannot_be_executed_have_no_entry_points(beside_the_host: World) -> None:
    world = beside_the_host
    target = resolved(world)
    nothing = world.port.entry_points(target, "mine")
    world.advertise({"mine": "part"}, {})
    world.remove()

    assert nothing == {"plugins": [], "commands": []}
    assert world.port.entry_points(target, "mine") == {"plugins": [], "commands": []}
