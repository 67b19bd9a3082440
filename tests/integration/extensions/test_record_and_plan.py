"""What is kept of past changes, and the plan that ties an execution to its preview."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from loopx_host.cli.arguments import EXECUTE, PLAN
from loopx_host.cli.route import routes
from tests.support.cli import Loopx, finish
from tests.support.levels import LEAVES_MARKS
from tests.support.lifecycle import SPOKEN, Subject, copies, installed, tree
from tests.support.previews import PREVIEWS
from tests.support.providers import ECHO

EXIT_REFUSED = 2


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    made = Loopx(tmp_path)
    (tmp_path / "home/cache").mkdir()  # a preview may fill it
    return made


def facts(document: dict[str, object], *names: str) -> list[object]:
    return [document[name] for name in names]


# --- the record -------------------------------------------------------------------------------------------------


def test_the_history_is_newest_first_and_names_every_change(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")
    subject.do("rollback", "--execute")
    subject.do("disable", "--execute")
    subject.do("enable", "--execute")

    history = subject.do("history").document["history"]

    assert [event["operation"] for event in history] == ["enable", "disable", "rollback", "upgrade", "install"]


def test_the_history_is_bounded(loopx: Loopx) -> None:
    subject = installed(loopx)
    document = json.loads(loopx.state_file.read_bytes())
    rows = [{"operation": "doctor", "at": f"row {number}"} for number in range(50)]
    document["extensions"]["subject"]["history"] = rows
    loopx.state_file.write_text(json.dumps(document), encoding="ascii")

    assert subject.do("disable", "--execute").status == 0

    history = subject.do("history").document["history"]
    assert [history[0]["operation"], *history[1:]] == ["disable", *rows[:49]]


def test_nothing_a_provider_says_is_kept_in_the_state_file(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")
    subject.run()
    subject.do("disable", "--execute")
    subject.doctor_exits(1, "2.0")
    subject.do("enable", "--execute")
    subject.doctor_exits(0, "2.0")
    subject.do("enable", "--execute")
    subject.doctor_exits(1, "2.0")
    subject.do("doctor", "--execute")
    subject.do("rollback", "--execute")

    said = subject.do("rollback", "--execute")

    assert SPOKEN in said.document["doctor"]["stderr_tail"]
    assert SPOKEN.encode() not in loopx.state_file.read_bytes()


# --- the plan ---------------------------------------------------------------------------------------------------

PLANNED = ["install", "upgrade", "rollback", "uninstall", "enable", "disable"]


@pytest.mark.req("B5")
@pytest.mark.parametrize("verb", PLANNED)
def test_executing_the_plan_of_a_preview_does_it(loopx: Loopx, verb: str) -> None:
    command = PREVIEWS[verb](loopx)
    plan = loopx("extension", *command).document["plan"]

    answer = loopx("extension", *command, "--execute", "--plan", plan)

    assert answer.status == 0, answer
    assert (answer.document["plan"], answer.document["dry_run"]) == (plan, False)


@pytest.mark.req("B5")
@pytest.mark.parametrize("flags", [(), ("--execute",)])
@pytest.mark.parametrize("verb", PLANNED)
def test_another_plan_is_refused_and_the_present_one_shown(loopx: Loopx, verb: str, flags: tuple[str, ...]) -> None:
    command = PREVIEWS[verb](loopx)
    plan = loopx("extension", *command).document["plan"]
    before = tree(loopx.root, without=("home/cache",))

    answer = loopx("extension", *command, "--plan", f"sha256:{'0' * 64}", *flags)

    assert (answer.status, answer.code, answer.document["plan"]) == (EXIT_REFUSED, "plan_changed", plan)
    assert tree(loopx.root, without=("home/cache",)) == before


def change_manifest(subject: Subject) -> None:
    subject.manifest("2.0", args=["serve", "2.0", "--verbose"])


def change_launcher(subject: Subject) -> None:
    subject.replace_program()


def change_state(subject: Subject) -> None:
    assert subject.do("disable", "--execute").status == 0


def change_permissions(subject: Subject) -> None:
    subject.manifest("2.0", permissions=("net.connect",))


def change_limits(subject: Subject) -> None:
    subject.manifest("2.0", timeout_seconds=7)


def change_environment(subject: Subject) -> None:
    subject.manifest("2.0", env=["SECRET_OF_THE_CALLER"])


@pytest.mark.req("B5")
@pytest.mark.parametrize(
    "change",
    [change_manifest, change_launcher, change_state, change_permissions, change_limits, change_environment],
)
def test_what_changed_since_the_preview_refuses_the_plan(loopx: Loopx, change: Callable[[Subject], None]) -> None:
    subject = installed(loopx)
    manifest = str(subject.manifest("2.0"))
    command = ["extension", "upgrade", "--manifest", manifest, "--accept-permissions"]
    plan = loopx(*command).document["plan"]
    change(subject)
    before = loopx.state_file.read_bytes()
    subject.forget_starts()

    answer = loopx(*command, "--execute", "--plan", plan)

    assert (answer.status, answer.code) == (EXIT_REFUSED, "plan_changed")
    assert answer.document["plan"] == loopx(*command).document["plan"] != plan
    assert loopx.state_file.read_bytes() == before
    assert subject.starts == []


@pytest.mark.req("B5")
def test_an_edited_comment_keeps_the_plan(loopx: Loopx) -> None:
    subject = installed(loopx)
    manifest = subject.manifest("2.0")
    command = ["extension", "upgrade", "--manifest", str(manifest)]
    plan = loopx(*command).document["plan"]
    manifest.write_text(f"# a comment\n{manifest.read_text('utf-8')}", encoding="utf-8")

    answer = loopx(*command, "--execute", "--plan", plan)

    assert answer.status == 0


@pytest.mark.req("B5")
def test_a_plan_holds_neither_a_time_nor_the_path_of_the_state_file(loopx: Loopx) -> None:
    subject = installed(loopx)
    elsewhere = Path(f"{loopx.state_file}.elsewhere")
    elsewhere.write_bytes(loopx.state_file.read_bytes())
    here = subject.upgrade("2.0").document["plan"]
    loopx.state_file = elsewhere
    subject.do("doctor", "--execute")  # another moment of proof, the same proof

    there = subject.upgrade("2.0").document["plan"]

    assert here == there
    assert here.startswith("sha256:")


@pytest.mark.req("B5")
def test_every_verb_has_another_plan(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")

    plans = [subject.do(verb).document["plan"] for verb in ("disable", "enable", "uninstall", "rollback")]

    assert len(set(plans)) == len(plans)


def test_every_command_that_changes_something_takes_a_plan() -> None:
    mutating = [route for route in routes() if EXECUTE in route.arguments]

    without = [" ".join(route.words) for route in mutating if PLAN not in route.arguments]
    assert without == []


@LEAVES_MARKS
def test_a_write_finds_the_entry_that_was_probed_or_refuses(loopx: Loopx) -> None:
    subject = installed(loopx)
    # This doctor disables its own extension while it runs: the entry moves between reading and writing.
    here = subject.folder / "3.0"
    here.mkdir()
    command = " ".join(map(str, loopx.command("extension", "disable", "subject", "--execute")))
    program = here / "mover"
    program.write_text(f"#!/bin/sh\nHOME={loopx.env['HOME']} {command} > {here}/said\n", encoding="utf-8")
    program.chmod(0o755)

    answer = subject.upgrade("3.0", "--execute", entrypoint=str(program), doctor_args=["--doctor"])

    assert json.loads((here / "said").read_bytes())["changed"] is True
    assert (answer.status, answer.code) == (75, "state_moved")
    assert facts(subject.row(), "enabled", "version") == [False, "1.0"]
    assert copies(loopx.state_file) == []


@pytest.mark.parametrize("verb", ["disable", "enable", "doctor", "uninstall"])
def test_several_processes_that_do_the_same_at_once_agree(tmp_path: Path, verb: str) -> None:
    loopx = Loopx(tmp_path / "loopx")
    loopx.make_extension("echo", ECHO)

    started = [loopx.start("extension", verb, "echo", "--execute") for _ in range(4)]
    answers = [finish(process) for process in started]

    # One that began after the others had ended finds what they left.
    late = {"uninstall": "extension_not_installed"}.get(verb)
    assert [answer for answer in answers if answer.status != 0 and answer.code != late] == []
    if verb in ("disable", "uninstall"):
        assert [answer.document["changed"] for answer in answers if answer.status == 0].count(True) == 1
