"""A preview touches nothing, starts nothing, and is refused for what the execution would be refused for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loopx_host.cli.arguments import EXECUTE
from loopx_host.cli.route import routes
from tests.support.cli import Loopx
from tests.support.lifecycle import Subject, installed, tree, words
from tests.support.previews import PREVIEWS, of_install

EXIT_REFUSED = 2


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    made = Loopx(tmp_path)
    (tmp_path / "home/cache").mkdir()  # a preview may fill it
    return made


def facts(document: dict[str, object], *names: str) -> list[object]:
    return [document[name] for name in names]


@pytest.mark.req("X2")
@pytest.mark.parametrize("verb", PREVIEWS)
def test_a_preview_touches_nothing_and_starts_no_provider(loopx: Loopx, verb: str) -> None:
    """install_preview_no_side_effect (case 39), for every verb that changes something."""
    words_of_preview = PREVIEWS[verb](loopx)
    before = tree(loopx.root, without=("home/cache",))

    answer = loopx("extension", *words_of_preview)

    assert answer.status == 0, answer
    assert answer.document.get("changed", answer.document.get("executed", False)) is False
    assert tree(loopx.root, without=("home/cache",)) == before


@pytest.mark.req("X2")
def test_every_command_that_takes_execute_has_its_preview_test() -> None:
    mutating = {route.words[1] for route in routes() if route.words[0] == "extension" and EXECUTE in route.arguments}

    # The previews of publishing are tests/unit/surfaces/test_publish_projection.py's.
    assert mutating <= {*PREVIEWS, "publish-projection"}


@pytest.mark.req("X2")
@pytest.mark.parametrize("verb", [verb for verb in PREVIEWS if verb not in {"run", "export", "conformance"}])
def test_a_preview_is_followed_by_the_very_command_that_it_suggests(loopx: Loopx, verb: str) -> None:
    preview = loopx("extension", *PREVIEWS[verb](loopx)).document

    answer = loopx(*words(preview["next_command"]), options=False)

    assert answer.status == 0, answer
    assert answer.document.get("dry_run", False) is False


@pytest.mark.req("X2")
def test_a_preview_of_install_makes_no_directory_below_the_default_root(loopx: Loopx) -> None:
    """install_preview_no_side_effect (case 39), with no option that names a place."""
    manifest = Subject(loopx).manifest()
    before = tree(loopx.root, without=("home/cache",))

    answer = loopx("extension", "install", "--manifest", str(manifest), "--format", "json", options=False)

    assert facts(answer.document, "dry_run", "changed") == [True, False]
    assert answer.document["doctor"]["status"] == "probe_required"
    assert tree(loopx.root, without=("home/cache",)) == before


def of_refused_install(loopx: Loopx) -> list[str]:
    return ["install", "--manifest", str(installed(loopx).manifest("2.0"))]


def of_refused_upgrade(loopx: Loopx) -> list[str]:
    return ["upgrade", "--manifest", str(installed(loopx).manifest("2.0", permissions=("notes.read",)))]


def of_unknown(verb: str) -> Callable[[Loopx], list[str]]:
    return lambda _loopx: [verb, "nobody"]


def of_first_rollback(loopx: Loopx) -> list[str]:
    installed(loopx)
    return ["rollback", "subject"]


REFUSED_ALIKE = {
    "install_again": (of_refused_install, "already_installed"),
    "upgrade_of_nothing": (lambda loopx: ["upgrade", *of_install(loopx)[1:]], "extension_not_installed"),
    "upgrade_with_more_permissions": (of_refused_upgrade, "permissions_grow"),
    "rollback_without_history": (of_first_rollback, "rollback_unavailable"),
    "disable_of_nothing": (of_unknown("disable"), "extension_not_installed"),
    "enable_of_nothing": (of_unknown("enable"), "extension_not_installed"),
    "uninstall_of_nothing": (of_unknown("uninstall"), "extension_not_installed"),
    "doctor_of_nothing": (of_unknown("doctor"), "extension_not_installed"),
}


@pytest.mark.parametrize("case", REFUSED_ALIKE)
def test_what_manifest_and_state_decide_is_refused_in_preview_as_when_executed(loopx: Loopx, case: str) -> None:
    prepare, code = REFUSED_ALIKE[case]
    command = prepare(loopx)

    answers = [loopx("extension", *command), loopx("extension", *command, "--execute")]

    assert [(answer.status, answer.code) for answer in answers] == [(EXIT_REFUSED, code)] * 2


@pytest.mark.parametrize("verb", ["install", "upgrade", "enable", "rollback"])
def test_a_launcher_that_is_gone_is_shown_by_a_preview_and_refused_when_executed(loopx: Loopx, verb: str) -> None:
    """install_missing_entrypoint (case 40), for every verb that would start the launcher."""
    command = PREVIEWS[verb](loopx)
    (loopx.root / "extensions/subject/provider").unlink()

    preview = loopx("extension", *command)
    executed = loopx("extension", *command, "--execute")

    assert preview.status == 0
    assert preview.document["would_refuse"]["code"] == "entrypoint_missing"
    assert preview.document["would_refuse"]["next_command"] is not None
    assert (executed.status, executed.code) == (EXIT_REFUSED, "entrypoint_missing")
