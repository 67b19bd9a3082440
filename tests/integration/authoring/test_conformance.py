"""The conformance suite holds a provider in any language to its rules, from the outside (row B7).

The bad providers here break the friendly rules; those that break the hostile ones have a file of their own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loopx_host.authoring.conformance import GROUPS, RULES, promise
from tests.support.cli import Answer, Loopx
from tests.support.project_files import ROOT

NAMES = [rule.__name__ for rule in RULES]
REQUEST_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {"name": {"type": "string"}},
}
SHELL = """\
#!/bin/sh
if [ "$1" = --doctor ]; then exit 0; fi
case "$(head -c 200)" in
    '{"name": "world"}') echo '{"ok": true, "greeting": "hello"}' ;;
    *) echo '{"ok": false, "error": "a name is needed"}'; exit 1 ;;
esac
"""
PYTHON = f"""\
#!{sys.executable} -IS
import json, os, sys, time
if sys.argv[1:] == ["--doctor"]:
    raise SystemExit(0)
def unique(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)
try:
    request = json.loads(sys.stdin.buffer.read(), object_pairs_hook=unique)
    (field, name), = request.items()
    if field != "name" or not isinstance(name, str):
        raise ValueError
except (ValueError, AttributeError, RecursionError):
    print(json.dumps({{"ok": False, "error": "a name is needed"}}))
    raise SystemExit(1)
print(json.dumps({{"ok": True, "greeting": f"hello {{name}}"}}))
"""
NODE = """\
#!/usr/bin/env node
if (process.argv[2] === "--doctor") process.exit(0);
let text = "";
process.stdin.on("data", (chunk) => { text += chunk; });
process.stdin.on("end", () => {
  let request;
  try { request = JSON.parse(text); } catch { request = null; }
  const twice = text.split('"name"').length > 2;
  if (request === null || twice || Object.keys(request).join() !== "name" || typeof request.name !== "string") {
    process.stdout.write(JSON.stringify({ok: false, error: "a name is needed"}), () => process.exit(1));
    return;
  }
  process.stdout.write(JSON.stringify({ok: true, greeting: `hello ${request.name}`}));
});
"""
C = r"""
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    static char text[65536];
    if (argc > 1 && strcmp(argv[1], "--doctor") == 0) return 0;
    size_t length = fread(text, 1, sizeof text - 1, stdin);
    while (!feof(stdin)) { char rest[4096]; if (fread(rest, 1, sizeof rest, stdin) == 0) break; }
    text[length] = 0;
    if (strcmp(text, "{\"name\": \"world\"}") != 0) {
        puts("{\"ok\": false, \"error\": \"a name is needed\"}");
        return 1;
    }
    puts("{\"ok\": true, \"greeting\": \"hello\"}");
    return 0;
}
"""
LINGER = "sh -c 'exec >/dev/null 2>&1 </dev/null; sleep 50' &"
COUNT = 'n=$(cat "{place}/count" 2>/dev/null || echo 0); echo $((n + 1)) > "{place}/count"'
DOCTOR = 'if [ "$1" = --doctor ]; then exit 0; fi'
GOOD_ANSWER = """'{"ok": true, "greeting": "hello"}'"""
BAD_ANSWER = """echo '{"ok": false, "error": "a name is needed"}'; exit 1"""
# One provider per rule: what is changed in the honest shell one, and the rules it breaks by that.
BAD = {
    "doctor_passes": (DOCTOR, DOCTOR.replace("exit 0", "exit 3")),
    "doctor_leaves_nothing_running": (DOCTOR, f'if [ "$1" = --doctor ]; then {LINGER}\nexit 0; fi'),
    "doctor_is_repeatable": (DOCTOR, f'if [ "$1" = --doctor ]; then {COUNT}; exit $((n % 2)); fi'),
    "example_succeeds": (f"echo {GOOD_ANSWER}", f"echo loading; echo {GOOD_ANSWER}"),
    "example_is_answered_alike": (
        f"echo {GOOD_ANSWER}",
        f"""{COUNT}; echo "{{\\"ok\\": true, \\"n$n\\": 1}}" """,
    ),
    "run_leaves_nothing_running": (f"echo {GOOD_ANSWER}", f"{LINGER}\necho {GOOD_ANSWER}"),
    "bytes_that_are_not_json": ("    *)", f"    *not*json*) echo {GOOD_ANSWER} ;;\n    *)"),
    "empty_request": ("    *)", f"    '') echo {GOOD_ANSWER} ;;\n    *)"),
    "array_request": ("    *)", f"    '[]') echo {GOOD_ANSWER} ;;\n    *)"),
    "unknown_schema_version": ("    *)", f"    *protocol_v0*) echo {GOOD_ANSWER} ;;\n    *)"),
    "large_request": ("    *)", "    *xxxx*) sleep 50 ;;\n    *)"),
    "failures_are_objects": (BAD_ANSWER, "echo 'Error: a name is needed'; exit 1"),
}


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


def write(loopx: Loopx, provider: str, *, timeout_seconds: int = 20, **runtime: Any) -> Path:
    """Write a package with an example and a closed request schema, and return its folder."""
    keys = {"args": [], "timeout_seconds": timeout_seconds, "request_schema": "request.json", **runtime}
    folder = loopx.write_extension("greeter", provider, **keys).parent
    (folder / "request.json").write_text(json.dumps(REQUEST_SCHEMA))
    (folder / "examples").mkdir(exist_ok=True)
    (folder / "examples" / "request.json").write_text('{"name": "world"}')
    return folder


def suite(loopx: Loopx, folder: Path) -> Answer:
    return loopx("extension", "conformance", str(folder), "--execute")


def statuses(answer: Answer) -> dict[str, str]:
    return {row["rule"]: row["status"] for row in answer.document["rules"]}


def failed(answer: Answer) -> list[str]:
    return [rule for rule, status in statuses(answer).items() if status == "failed"]


@pytest.mark.req("B7")
@pytest.mark.parametrize("provider", [SHELL, PYTHON], ids=["shell", "python"])
def test_an_honest_provider_passes_every_rule(provider: str, loopx: Loopx) -> None:
    answer = suite(loopx, write(loopx, provider))

    assert answer.status == 0, answer
    assert statuses(answer) == dict.fromkeys(NAMES, "passed")


@pytest.mark.req("B7")
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
def test_a_provider_in_javascript_passes_every_rule(loopx: Loopx) -> None:
    answer = suite(loopx, write(loopx, NODE))

    assert statuses(answer) == dict.fromkeys(NAMES, "passed"), answer


@pytest.mark.req("B7")
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")
def test_a_provider_in_c_passes_every_rule(loopx: Loopx) -> None:
    folder = write(loopx, "")
    (folder / "provider.c").write_text(C)
    subprocess.run(["cc", "-o", str(folder / "provider"), str(folder / "provider.c")], check=True)

    answer = suite(loopx, folder)

    assert statuses(answer) == dict.fromkeys(NAMES, "passed"), answer


def test_there_is_a_bad_provider_for_every_friendly_rule() -> None:
    assert sorted(BAD) == sorted(rule.__name__ for rule in GROUPS["friendly"])


@pytest.mark.req("B7")
@pytest.mark.parametrize("rule", BAD)
def test_a_bad_provider_fails_the_rule_it_breaks(rule: str, loopx: Loopx) -> None:
    old, new = BAD[rule]
    assert old in SHELL
    timeout = 1 if rule == "large_request" else 20
    folder = write(loopx, SHELL.replace(old, new.replace("{place}", str(loopx.root))), timeout_seconds=timeout)

    answer = suite(loopx, folder)

    assert rule in failed(answer), answer
    assert answer.status == 1
    assert answer.document["ok"] is False
    assert all(row["reason"] for row in answer.document["rules"] if row["status"] == "failed")


@pytest.mark.req("B7")
@pytest.mark.parametrize(
    "rule", [rule for rule in BAD if rule not in ("doctor_passes", "doctor_is_repeatable", "example_succeeds")]
)
def test_the_other_rules_do_not_blame_it(rule: str, loopx: Loopx) -> None:
    old, new = BAD[rule]
    timeout = 1 if rule == "large_request" else 20
    folder = write(loopx, SHELL.replace(old, new.replace("{place}", str(loopx.root))), timeout_seconds=timeout)

    assert failed(suite(loopx, folder)) == [rule]


def test_a_preview_starts_nothing_and_names_every_rule(loopx: Loopx) -> None:
    canary = loopx.root / "started"
    folder = write(loopx, f"#!/bin/sh\n: > '{canary}'\n")

    answer = loopx("extension", "conformance", str(folder))

    assert answer.status == 0
    assert statuses(answer) == dict.fromkeys(NAMES, "not_run")
    assert {row["group"] for row in answer.document["rules"]} == {"friendly", "hostile"}
    assert (answer.document["executed"], answer.document["dry_run"]) == (False, True)
    assert not canary.exists()


def test_every_row_says_which_group_its_rule_belongs_to(loopx: Loopx) -> None:
    groups = {rule.__name__: group for group, rules in GROUPS.items() for rule in rules}

    answer = suite(loopx, write(loopx, SHELL))

    assert {row["rule"]: row["group"] for row in answer.document["rules"]} == groups
    assert sorted(groups) == sorted(NAMES)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_promise_is_one_sentence(rule: Any) -> None:
    assert promise(rule).endswith(".")
    assert "\n" not in promise(rule)


def test_the_reference_page_lists_every_rule_with_group_and_promise() -> None:
    page = (ROOT / "docs" / "reference" / "conformance.md").read_text("utf-8")
    listed = [line for line in page.splitlines() if line.startswith("| `")]

    assert listed == [
        f"| `{rule.__name__}` | {group} | {promise(rule)} |" for group, rules in GROUPS.items() for rule in rules
    ]


def test_it_keeps_no_state(loopx: Loopx) -> None:
    suite(loopx, write(loopx, SHELL))

    assert not loopx.state_file.exists()
    assert loopx.private_directories() == []


def test_rules_about_the_example_are_skipped_without_one(loopx: Loopx) -> None:
    folder = write(loopx, SHELL)
    shutil.rmtree(folder / "examples")

    answer = suite(loopx, folder)

    skipped = {rule for rule, status in statuses(answer).items() if status == "skipped"}
    assert answer.status == 0
    assert skipped == {
        "example_succeeds",
        "example_is_answered_alike",
        "run_leaves_nothing_running",
        "deep_request",
        "nan_request",
        "duplicate_key_request",
        "unknown_field_request",
    }


def test_a_response_outside_its_schema_breaks_the_example_rule(loopx: Loopx) -> None:
    folder = write(loopx, SHELL, response_schema="response.json")
    (folder / "response.json").write_text(json.dumps({"required": ["result"]}))

    assert failed(suite(loopx, folder)) == ["example_succeeds"]


def test_a_provider_that_crashes_on_bad_input_is_a_failure_in_words_of_its_own(loopx: Loopx) -> None:
    crashing = PYTHON.replace("except (ValueError, AttributeError, RecursionError)", "except ZeroDivisionError")

    answer = suite(loopx, write(loopx, crashing))

    assert failed(answer) == []  # a traceback and status 1 is a clean end; what it says is on standard error


def test_a_provider_ended_by_a_signal_fails_the_rules_of_bad_input(loopx: Loopx) -> None:
    folder = write(loopx, SHELL.replace(BAD_ANSWER, "kill -SEGV $$"))

    assert {"bytes_that_are_not_json", "array_request", "unknown_schema_version"} <= set(failed(suite(loopx, folder)))


def test_a_manifest_without_a_doctor_is_refused(loopx: Loopx) -> None:
    answer = suite(loopx, write(loopx, SHELL, doctor_args=None))

    assert (answer.status, answer.code) == (2, "doctor_not_configured")


def test_a_program_that_is_not_there_is_refused(loopx: Loopx) -> None:
    answer = suite(loopx, write(loopx, SHELL, entrypoint="no-such-command-anywhere"))

    assert (answer.status, answer.code) == (2, "entrypoint_missing")


def test_a_missing_prerequisite_is_refused_with_nothing_started(loopx: Loopx) -> None:
    canary = loopx.root / "started"
    folder = write(loopx, f"#!/bin/sh\n: > '{canary}'\n")
    with (folder / "extension.toml").open("a") as manifest:
        manifest.write('[runtime.requires]\nnode = ">=999"\n')

    answer = suite(loopx, folder)

    assert (answer.status, answer.code) == (69, "node_unavailable")
    assert not canary.exists()
