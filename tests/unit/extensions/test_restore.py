"""The verbs `export` and `restore` over ports in memory: exactly what was installed, or a row that says why not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loopx_host.lifecycle.extensions.disable import disable
from loopx_host.lifecycle.extensions.install import install
from loopx_host.lifecycle.extensions.upgrade import upgrade
from loopx_host.lifecycle.goals.export import export
from loopx_host.lifecycle.goals.restore import RestoreRequest, restore
from tests.support import invocations
from tests.support.fakes import Script, World, code_of, refusal_of

if TYPE_CHECKING:
    from loopx_host.documents.parts import Distribution

PATH = "/made/up/export.json"
COMMAND = ("extension", "restore", PATH)
OWNER = {"name": "provider", "version": "1.0"}
PIP = "pip install provider==1.0"


def there(**settings: Any) -> tuple[World, Any]:
    """Return a world whose manifest is at hand and in which nothing is installed, and the export that names it."""
    world = World()
    world.trust(install, world.sources.put("1.0"))
    document: Any = export(world)
    document["extensions"][0] |= settings
    world.store.data = None
    world.processes.launches.clear()
    return world, document


def made(world: World, document: object, **settings: Any) -> Any:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return restore(RestoreRequest(data, PATH, **{"execute": True, **settings}), world)


def row_of(receipt: dict[str, Any]) -> dict[str, Any]:
    (row,) = receipt["extensions"]
    assert isinstance(row, dict)
    return row


# --- export --------------------------------------------------------------------------------------------------


def test_an_export_names_what_is_installed_and_what_it_skipped() -> None:
    world = World()
    source = world.sources.put("1.0")
    world.trust(install, source)
    world.change(disable)
    world.holding("bad", enabled=1)

    assert export(world) == {
        "ok": True,
        "schema_version": "loopx_extension_export_v0",
        "schema": "loopx_extension_export_v0",
        "extensions": [
            {
                "id": "probe-me",
                "revision": source.manifest.revision,
                "digest": source.manifest.digest,
                "enabled": False,
                "distribution": OWNER,
                "source": "manifest",
                "manifest_path": source.path,
            }
        ],
        "bindings": [],
        "skipped": [{"id": "bad", "code": "state_entry_invalid"}],
    }


def test_the_export_of_an_entry_of_a_v0_tool_says_what_that_tool_did_not_record() -> None:
    world = World().holding(pinned={"manifest_path": None})

    (row,) = export(world)["extensions"]

    assert (row["distribution"], row["source"], row["manifest_path"]) == (None, "manifest", None)


# --- restore -------------------------------------------------------------------------------------------------


def test_a_restore_installs_the_same_manifest_with_its_doctor() -> None:
    world, document = there()

    receipt = made(world, document)

    assert receipt.pop("plan").startswith("sha256:")
    assert receipt == {
        "ok": True,
        "schema_version": "loopx_extension_restore_v0",
        "operation": "restore",
        "dry_run": False,
        "changed": True,
        "complete": True,
        "extensions": [
            {
                "id": "probe-me",
                "revision": document["extensions"][0]["revision"],
                "status": "installed",
                "code": None,
                "reason": None,
                "distribution": OWNER,
                "found": OWNER,
                "install_package": None,
            }
        ],
        "bindings": [],
        "next_command": None,
    }
    assert len(world.processes.launches) == 1
    assert world.raw()["enabled"] is True
    assert world.run()["executed"] is True


def test_what_was_disabled_is_restored_disabled() -> None:
    world, document = there(enabled=False)

    assert made(world, document)["complete"] is True
    assert world.raw()["enabled"] is False


def test_a_preview_of_a_restore_starts_nothing_and_writes_nothing() -> None:
    world, document = there(enabled=False)

    preview = made(world, document, execute=False)

    assert (world.store.data, world.processes.launches) == (None, [])
    assert row_of(preview)["status"] == "would_install"
    assert (preview["ok"], preview["complete"], preview["changed"], preview["dry_run"]) == (True, True, False, True)
    assert preview["next_command"] == (*COMMAND, "--execute")
    assert made(world, document, plan=preview["plan"])["changed"] is True


def test_what_is_installed_already_is_left_alone() -> None:
    world, document = there()
    made(world, document)
    before = world.store.data

    receipt = made(world, document)

    assert (row_of(receipt)["status"], receipt["complete"], receipt["changed"]) == ("already_installed", True, False)
    assert row_of(receipt)["install_package"] is None
    assert world.store.data == before


def test_another_revision_that_is_installed_is_kept_and_the_row_says_so() -> None:
    world, document = there()
    world.trust(install, world.sources.put("0.9"))
    world.trust(upgrade, world.sources.put("2.0"))
    before = world.store.data

    receipt = made(world, document)

    assert (row_of(receipt)["status"], receipt["ok"]) == ("another_revision_installed", False)
    assert row_of(receipt)["install_package"] == PIP
    assert world.store.data == before


def test_an_incomplete_preview_is_no_failure_and_an_incomplete_restore_is() -> None:
    world, document = there(manifest_path="/gone.toml")

    preview, receipt = made(world, document, execute=False), made(world, document)

    assert (preview["ok"], preview["complete"]) == (True, False)
    assert (receipt["ok"], receipt["complete"], receipt["changed"]) == (False, False, False)


def test_one_row_that_fails_stops_no_other() -> None:
    world, document = there()
    missing = {**document["extensions"][0], "id": "missing", "manifest_path": "/gone.toml"}
    document["extensions"].insert(0, missing)

    receipt = made(world, document)

    assert {row["id"]: row["status"] for row in receipt["extensions"]} == {
        "missing": "refused",
        "probe-me": "installed",
    }
    assert (receipt["ok"], receipt["changed"]) == (False, True)


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("package_not_installed", {"manifest_path": None}),
        ("package_not_installed", {"manifest_path": "/gone.toml"}),
        ("manifest_changed", {"digest": "0" * 64}),
        ("manifest_changed", {"id": "another"}),
    ],
)
def test_a_manifest_that_is_not_the_exported_one_is_not_installed(code: str, changes: dict[str, Any]) -> None:
    """Extension-formats, *Export*: the rest is listed with the pip command, which is never run."""
    world, document = there(**changes)

    row = row_of(made(world, document))

    assert (row["status"], row["code"], row["install_package"]) == ("refused", code, PIP)
    assert row["reason"]
    assert (world.store.data, world.processes.launches) == (None, [])


def test_a_row_without_a_distribution_has_no_command_that_would_bring_it() -> None:
    world, document = there(manifest_path="/gone.toml", distribution=None)

    assert row_of(made(world, document))["install_package"] is None


def test_a_doctor_that_fails_refuses_its_row() -> None:
    world, document = there()
    world.processes.script = Script(exit_code=3)

    row = row_of(made(world, document))

    assert (row["status"], row["code"]) == ("refused", "doctor_failed")
    assert world.store.data is None


def test_a_launcher_that_is_missing_refuses_its_row_in_a_preview_too() -> None:
    world, document = there()
    world.packages.programs.clear()

    row = row_of(made(world, document, execute=False))

    assert (row["status"], row["code"], row["install_package"]) == ("refused", "entrypoint_missing", PIP)
    assert "/made/up/bin" in row["reason"]


def test_a_bad_entry_of_the_same_id_refuses_its_row() -> None:
    world, document = there()
    world.holding(enabled=1)

    assert row_of(made(world, document))["code"] == "state_entry_invalid"


def test_another_plan_is_refused_with_the_present_one_and_its_preview() -> None:
    world, document = there()
    plan = made(world, document, execute=False)["plan"]

    refusal = refusal_of(lambda: made(world, document, plan="sha256:0"))

    assert (refusal.code, refusal.blocks["plan"]) == ("plan_changed", plan)
    assert refusal.diagnostic.next_command == COMMAND
    assert world.store.data is None


def test_the_plan_of_a_restore_is_what_becomes_of_each_manifest() -> None:
    world, document = there()
    first = made(world, document, execute=False)["plan"]
    other = there(digest="0" * 64)
    made(world, document)

    assert len({first, made(*other, execute=False)["plan"], made(world, document, execute=False)["plan"]}) == 3


@pytest.mark.parametrize(
    "document",
    [
        b"{",
        b"[]",
        {"schema": "loopx_extension_export_v1", "extensions": []},
        {"extensions": []},
        {"schema": "loopx_extension_export_v0", "extensions": {}},
        {"schema": "loopx_extension_export_v0"},
    ],
)
def test_what_is_no_export_is_refused(document: object) -> None:
    refusal = refusal_of(lambda: made(World(), document))

    assert (refusal.code, PATH in refusal.diagnostic.summary) == ("export_invalid", True)


@pytest.mark.parametrize(
    "change",
    [
        {"id": 1},
        {"revision": None},
        {"digest": 1},
        {"enabled": 1},
        {"enabled": None},
        {"manifest_path": 1},
        {"manifest_path": "relative.toml"},
        {"manifest_path": "/with\0nul.toml"},
        {"distribution": "provider"},
        {"distribution": {"name": "provider"}},
        {"distribution": {"version": "1.0"}},
        {"distribution": {"name": 1, "version": "1.0"}},
        {"distribution": {"name": "provider", "version": 1}},
    ],
    ids=str,
)
def test_a_row_that_no_export_writes_is_refused_and_nothing_is_installed(change: dict[str, Any]) -> None:
    world, document = there()
    row = {**document["extensions"][0], "id": "another"}
    document["extensions"].append(row)
    made(world, document, execute=False)  # what an export could write
    row |= change

    assert code_of(lambda: made(world, document)) == "export_invalid"
    assert world.store.data is None


@pytest.mark.parametrize("row", [None, [], "probe-me"])
def test_a_row_that_is_no_object_is_refused(row: object) -> None:
    world, document = there()
    document["extensions"] = [row]

    assert code_of(lambda: made(world, document)) == "export_invalid"


def test_an_extension_that_is_named_twice_is_refused() -> None:
    world, document = there()
    document["extensions"] *= 2

    assert code_of(lambda: made(world, document)) == "export_invalid"
    assert world.store.data is None


@pytest.mark.parametrize("exported", [0, 1])
def test_of_two_packages_that_offer_one_id_the_exported_one_is_restored(exported: int) -> None:
    """Extension-formats, *Export*: by distribution and id, whatever else offers the same id here."""
    world, document = there(manifest_path=None)
    world.sources.put("2.0", folder="/made/up/other")
    owners: list[Distribution] = [{"name": "provider", "version": "1.0"}, {"name": "other", "version": "2.0"}]
    paths = ["/made/up/1.0.toml", "/made/up/other/2.0.toml"]
    both = zip(owners, paths, strict=True)
    world.discovery.rows = [
        world.discovery.row("probe-me", distribution=owner, manifest_path=path, state="ambiguous")
        for owner, path in both
    ]
    manifest = world.sources.there[paths[exported]].manifest
    world.packages.package = owners[exported]
    document["extensions"][0] |= {
        "distribution": owners[exported],
        "revision": manifest.revision,
        "digest": manifest.digest,
    }

    row = row_of(made(world, document, execute=False))

    assert (row["status"], row["found"], row["code"]) == ("would_install", owners[exported], None)


# --- bindings ------------------------------------------------------------------------------------------------


def bound_there(**provider: str) -> tuple[World, Any]:
    """Return a world in which a goal was bound, and is no more, and the export that says so."""
    world = invocations.world()
    document: Any = export(world)
    document["bindings"][0]["provider"] |= provider
    world.bindings.data = None
    return world, document


def binding_row(receipt: dict[str, Any]) -> dict[str, Any]:
    (row,) = receipt["bindings"]
    assert isinstance(row, dict)
    return row


@pytest.mark.req("B12")
def test_a_binding_is_made_again_exactly_as_it_was() -> None:
    world, document = bound_there()

    preview, receipt = made(world, document, execute=False), made(world, document)

    assert (binding_row(preview)["status"], binding_row(receipt)["status"]) == ("would_bind", "bound")
    assert (receipt["ok"], receipt["changed"], receipt["complete"]) == (True, True, True)
    assert export(world)["bindings"] == document["bindings"]
    assert binding_row(made(world, document))["status"] == "already_bound"


@pytest.mark.req("B12")
@pytest.mark.parametrize(
    "drifted", [{"revision": "0" * 16}, {"profile_digest": f"sha256:{'0' * 64}"}, {"extension_id": "nobody"}]
)
def test_a_binding_to_what_is_not_here_is_refused_and_says_how_it_differs(drifted: dict[str, str]) -> None:
    world, document = bound_there(**drifted)

    preview, receipt = made(world, document, execute=False), made(world, document)

    for answered in (preview, receipt):
        row = binding_row(answered)
        assert (row["status"], row["code"], bool(row["reason"])) == ("refused", "binding_drift", True)
    assert (receipt["ok"], receipt["complete"], world.bindings.data) == (False, False, None)


@pytest.mark.req("X17")
def test_a_binding_to_a_command_that_no_package_carries_here_is_not_made_again() -> None:
    world, document = bound_there()
    world.packages.is_owned = False

    preview, receipt = made(world, document, execute=False), made(world, document)

    for answered in (preview, receipt):
        assert (binding_row(answered)["status"], binding_row(answered)["code"]) == ("refused", "provider_unowned")
    assert (receipt["complete"], world.bindings.data) == (False, None)


def test_another_binding_of_the_same_goal_is_left_alone() -> None:
    world, document = bound_there()
    world.bind(operations=["inspect"])
    document["bindings"][0]["operations"] = ["another"]
    before = world.bindings.data

    receipt = made(world, document)

    assert (binding_row(receipt)["status"], receipt["complete"]) == ("another_binding", False)
    assert world.bindings.data == before


def test_a_plan_binds_the_bindings_that_are_there() -> None:
    world, document = bound_there()
    plan = made(world, document, execute=False)["plan"]
    made(world, document)

    assert code_of(lambda: made(world, document, plan=plan)) == "plan_changed"
