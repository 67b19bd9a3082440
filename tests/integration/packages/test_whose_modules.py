"""An entry point names a module of its own package; what belongs to others, or to nobody, never runs in its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.packages import (
    MARKING,
    Environment,
    distribution,
    manifest,
    offering,
    write,
    write_entry_points,
    write_record,
)

EXIT_REFUSED = 2
OWN = ("vane", "vane.hooks", "vane.deep.er")
FOREIGN = ("json", "stranger", "stranger.hooks", "stray", "vane.missing", "van", "vane_other")


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """A package that offers `vane`, another package, and a module that nobody carries; all leave marks."""
    made = Environment(tmp_path)
    marking = MARKING.format(mark=str(tmp_path / "mark"))
    distribution(made.site, "other", files={"stranger/__init__.py": marking, "stranger/hooks.py": marking})
    write(made.site / "stray.py", marking)
    write(made.site / "vane_other.py", marking)
    return made


def naming(environment: Environment, group: str, value: str) -> None:
    files = {"hooks.py": "", "deep/er.py": "", "deep/__init__.py": ""}
    info = offering(environment.site, "vane", files=files)
    name = "vane" if group == "loopx.plugins" else "turn"
    write_entry_points(info, {"loopx.extensions": {"vane": "vane"}, group: {name: value}})
    inside = [str(path.relative_to(environment.site)) for path in (environment.site / "vane").rglob("*.*")]
    write_record(info, [*inside, "vane/provider"])


@pytest.mark.req("B22")
@pytest.mark.parametrize("module", FOREIGN)
@pytest.mark.parametrize(("group", "suffix"), [("loopx.plugins", ""), ("loopx.commands", ":run")])
def test_hooks_and_commands_of_another_package_are_refused_before_anything_runs(
    environment: Environment, group: str, suffix: str, module: str
) -> None:
    naming(environment, group, module + suffix)

    preview = environment("extension", "install", "vane")
    refused = environment("extension", "install", "vane", "--execute")

    assert preview.document["would_refuse"]["code"] == "entry_point_foreign"
    assert (refused.status, refused.code) == (EXIT_REFUSED, "entry_point_foreign")
    assert refused.document["module"] == module
    assert environment.rows() == []
    assert not (environment.root / "mark").exists()


@pytest.mark.parametrize("module", OWN)
@pytest.mark.parametrize(("group", "suffix"), [("loopx.plugins", ""), ("loopx.commands", ":run")])
def test_those_of_the_package_itself_are_trusted(
    environment: Environment, group: str, suffix: str, module: str
) -> None:
    naming(environment, group, module + suffix)

    environment.install_id("vane")

    assert environment.row("vane")["ready"] is True


@pytest.mark.req("B22")
@pytest.mark.parametrize("module", ["json.tool", "stranger", "stray"])
def test_a_provider_that_is_a_module_of_another_package_is_refused(environment: Environment, module: str) -> None:
    offering(environment.site, "vane", text=manifest("vane", entrypoint=None, python_module=module))

    refused = environment("extension", "install", "vane", "--execute")

    assert (refused.status, refused.code) == (EXIT_REFUSED, "entry_point_foreign")
    assert not (environment.root / "mark").exists()


@pytest.mark.req("B22")
def test_what_was_trusted_and_names_another_package_since_does_not_run(environment: Environment) -> None:
    naming(environment, "loopx.commands", "vane.hooks:run")
    environment.install_id("vane")
    (environment.site / "vane_package-1.0.dist-info/RECORD").write_text("vane/provider,,\n", "utf-8")

    probed = environment("extension", "doctor", "vane", "--execute")
    refused = environment("turn")

    assert (probed.status, probed.code) == (EXIT_REFUSED, "entry_point_foreign")
    assert refused.status == EXIT_REFUSED
