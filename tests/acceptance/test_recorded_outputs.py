"""The bytes of standard output and standard error, and the exit status, of a long list of commands.

`RECORD=1 pytest tests/acceptance/test_recorded_outputs.py` writes the recordings anew; look at their diff before you
keep it. What a machine, a clock or a Python decides is taken out by `tests.support.recording`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loopx_host.authoring import documents
from loopx_host.cli.arguments import EXECUTE
from loopx_host.cli.route import Route, routes
from tests.support.capabilities import CAPABILITY, IMPLEMENTS, operation, provides
from tests.support.lifecycle import ROOT
from tests.support.packages import manifest, offering, write
from tests.support.recording import FOLDER, Recorder, bare_environment, difference

pytestmark = pytest.mark.timeout(120)

Scenario = Callable[[Recorder], None]
FORMATS = ("text", "json")
SAMPLE = """\
#!/bin/sh
case "$1" in
    --doctor) exit 0 ;;
    --unwell) echo "the disk is missing" >&2; exit 3 ;;
esac
read -r request
case "$request" in
    *fail*) echo "one line for people" >&2; echo '{"ok": false, "error": "asked to"}'; exit 1 ;;
    *prose*) echo "this is no JSON" ;;
    *outside*) echo '{"ok": true, "n": "not a number"}' ;;
    *crash*) kill -9 $$ ;;
    *silent*) ;;
    *) echo '{"ok": true, "n": 1}' ;;
esac
"""
REQUEST_SCHEMA = {"type": "object", "required": ["do"], "properties": {"do": {"type": "string"}}}
RESPONSE_SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
COMMANDS = """\
from loopx_host import hookimpl

@hookimpl(specname="loopx_run_command")
def run(arguments, host):
    if arguments == ["raise"]:
        raise ValueError("asked to")
    if arguments == ["nothing"]:
        return None
    ok = arguments != ["fail"]
    rows = [{"n": 1}, {"n": None}]
    return {"ok": ok, "schema_version": "roar_v0", "arguments": arguments, "rows": rows, "empty": []}
"""
HEALTH, STATS = "loopx-capability-repo-health", "loopx-text-stats"
BIND = ("capability", "bind", CAPABILITY, "--goal-id", "g1", "--operation", "inspect")
UNBIND = ("capability", "unbind", CAPABILITY, "--goal-id", "g1")
INVOKE = ("capability", "invoke", CAPABILITY, "--goal-id", "g1", "--input-json", "-", "--operation")
NOW = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())  # facts say how old a commit of just now is


def command_line(act: Recorder) -> None:
    """What no state decides: help, version, words and options that do not exist."""
    act.step("no words at all", state=False)
    act.step("top help", "--help", state=False)
    act.step("version", "--version", state=False)
    act.step("version and more", "--version", "more", state=False)
    for group in ("extension", "capability"):
        act.step(f"help of the group {group}", group, state=False)
        act.step(f"help of the group {group}, asked for", group, "--help", state=False)
        act.step(f"unknown command of the group {group}", group, "bogus", state=False)
    act.step("unknown command", "bogus", state=False)
    act.step("unknown command, nearly right", "extention", "list", state=False)
    act.step("unknown command of two words, nearly right", "extension", "lst", state=False)
    act.step("unknown option", "--bogus", state=False)
    act.step("unknown format", "extension", "list", "--format", "xml", state=False)
    act.step(
        "JSON asked for together with a format that is not", "--format", "xml", "list", "--format=json", state=False
    )
    act.step("option without its value", "extension", "list", "--state-file", state=False)
    act.step("option twice", "--state-file", "one", "extension", "list", "--state-file", "two", state=False)
    act.step("flag with a value", "extension", "list", "--debug=yes", state=False)
    act.step("unknown level", "extension", "list", "--containment", "bogus")
    act.step("level in a variable", "extension", "list", env={"LOOPX_CONTAINMENT": "bogus"})
    act.step("state file that is a directory", "extension", "list", "--state-file", str(act.root), state=False)
    act.step("a value that is empty", "extension", "show", "")
    act.step("an argument too many", "extension", "show", "one", "two")
    act.step("an option in short", "extension", "discover", "--rebu")
    act.step("completions of bash in any format", "completions", "bash", state=False)
    act.step("completions of an unknown shell", "completions", "tcsh", state=False)
    act.step("unknown schema", "extension", "schema", "bogus", state=False)
    act.step("option that wants a number", "performance-diagnosis", "--pairs", "many", state=False)
    act.step("too few pairs", "performance-diagnosis", "--pairs", "0", state=False)
    act.step("measured", "performance-diagnosis", "--pairs", "1", change=_without_figures, state=False)


def help_of_commands(act: Recorder) -> None:
    """The help of each route, and what it says to an option that it does not have."""
    for route in routes():
        words = " ".join(route.words)
        if act.format == "text":
            act.step(f"help: {words}", *route.words, "--help", state=False)
        else:
            act.step(f"unknown option: {words}", *route.words, *_arguments(route), "--bogus", state=False)
        if act.format == "text" and any(
            not argument.is_optional and "nargs" not in argument.settings for argument in route.arguments
        ):
            act.step(f"nothing that it needs: {words}", *route.words, state=False)


def schemas_and_completions(act: Recorder) -> None:
    """Every schema, and the completion script of every shell."""
    for name in documents.names():
        act.step(f"schema {name}", "extension", "schema", name, state=False)
    for shell in ("bash", "zsh", "fish"):
        act.step(f"completions of {shell}", "completions", shell, state=False)


def authoring(act: Recorder) -> None:
    """A new extension: written, validated, spoiled, held to the contract."""
    act.step("init: preview", "extension", "init", "acme-words", state=False)
    act.step("init: refused, another plan", "extension", "init", "acme-words", "--execute", "--plan", "sha256:0")
    act.step("init", "extension", "init", "acme-words", "--version", "0.2.0", "--execute", state=False)
    act.step("init: refused, it is there", "extension", "init", "acme-words", "--execute", state=False)
    act.step("init: refused, no such name", "extension", "init", "Acme Words", "--execute", state=False)
    act.step("init: refused, no such version", "extension", "init", "acme", "--version", "one", state=False)
    act.step("validate a folder", "extension", "validate", "acme-words", state=False)
    act.step("validate strictly", "extension", "validate", "acme-words", "--strict", state=False)
    act.step("validate: refused, nothing there", "extension", "validate", "nowhere", state=False)
    bad = write(act.folder / "bad.toml", 'schema_version = "x"\nid = "Bad Id"\nunknown = 1\n[runtime]\nargs = "no"\n')
    act.step("validate: refused, many problems", "extension", "validate", str(bad), state=False)
    act.step("install: refused, many problems", "extension", "install", "--manifest", str(bad), "--execute")
    torn = write(act.folder / "torn.toml", "id = \n")
    act.step("validate: refused, no TOML", "extension", "validate", str(torn), state=False)
    newer = write(act.folder / "newer.toml", manifest("newer", api=">=7"))
    act.step("validate: refused, another API", "extension", "validate", str(newer), state=False)
    act.step("install: refused, another API", "extension", "install", "--manifest", str(newer), "--execute")
    lax = write(act.folder / "lax/extension.toml", manifest("lax", doctor_args=None))
    act.step("validate with warnings", "extension", "validate", str(lax), state=False)
    act.step("validate strictly: refused", "extension", "validate", str(lax), "--strict", state=False)
    sample = _sample(act)
    act.step("conformance: preview", "extension", "conformance", str(sample), state=False)
    act.step("conformance: rules broken", "extension", "conformance", str(sample), "--execute", state=False)
    act.step("conformance: refused", "extension", "conformance", str(bad), "--execute", state=False)


def life(act: Recorder) -> None:
    """One extension of a small hand-made provider, from nothing to nothing."""
    _trust(act, str(_sample(act)))
    _runs(act)
    _switch(act)
    _revisions(act, str(_sample(act)), str(_sample(act, "2.0")))
    _changed(act)
    _export_and_restore(act)
    _damage(act)


def _trust(act: Recorder, one: str) -> None:
    act.step("list of nothing", "extension", "list")
    act.step("doctor of nothing", "doctor", change=_tight)
    act.step("install: preview", "extension", "install", "--manifest", one)
    act.step("install: refused, another plan", *_words("install --execute --plan sha256:0 --manifest"), one)
    act.step(
        "install: refused, no such file", *_words("install --execute --manifest"), str(act.folder / "nothing.toml")
    )
    act.step("install: refused, both", *_words("install sample --manifest"), one)
    act.step("install: refused, neither", *_words("install --execute"))
    unwell = _unwell(act)
    act.step("install: refused, its doctor fails", *_words("install --execute --manifest"), unwell)
    missing = str(_sample(act, "0.2", entrypoint=str(act.folder / "absent")))
    act.step("install: refused, no program", *_words("install --execute --manifest"), missing)
    act.step("install", *_words("install --execute --manifest"), one)
    act.step("install: refused, it is installed", *_words("install --execute --manifest"), one)
    act.step("list", *_words("list"))
    act.step("show", *_words("show sample"))
    act.step("show: refused", *_words("show nobody"))
    act.step("history", *_words("history sample"))
    act.step("history: refused", *_words("history nobody"))
    act.step("doctor of the host", "doctor", change=_tight)
    act.step("doctor: preview", *_words("doctor sample"))
    act.step("doctor", *_words("doctor sample --execute"))
    act.step("doctor: refused", *_words("doctor nobody --execute"))


def _switch(act: Recorder) -> None:
    act.step("disable: preview", *_words("disable sample"))
    act.step("disable: refused, another plan", *_words("disable sample --execute --plan sha256:0"))
    act.step("disable", *_words("disable sample --execute"))
    act.step("disable again", *_words("disable sample --execute"))
    act.step("list with one disabled", *_words("list"))
    act.step("run: refused, disabled", *_words("run sample --execute --input-json -"), stdin=b"{}")
    act.step("doctor: refused, disabled", *_words("doctor sample --execute"))
    act.step("enable: preview", *_words("enable sample"))
    act.step("enable: refused", *_words("enable nobody --execute"))
    act.step("enable", *_words("enable sample --execute"))
    act.step("enable again", *_words("enable sample --execute"))


def _revisions(act: Recorder, one: str, two: str) -> None:
    act.step("upgrade: refused, the same", *_words("upgrade --execute --manifest"), one)
    act.step("upgrade: preview", *_words("upgrade --manifest"), two)
    act.step("upgrade: refused, more permissions", *_words("upgrade --execute --manifest"), two)
    act.step("upgrade", *_words("upgrade --accept-permissions --execute --manifest"), two)
    act.step("upgrade: refused, its doctor fails", *_words("upgrade --execute --manifest"), _unwell(act))
    other = str(_sample(act, extension_id="other"))
    act.step("upgrade: refused, not installed", *_words("upgrade --execute --manifest"), other)
    act.step("show of two revisions", *_words("show sample"))
    act.step("rollback: refused, no such revision", *_words("rollback sample --to 0123456789abcdef --execute"))
    act.step("rollback: preview", *_words("rollback sample"))
    act.step("rollback", *_words("rollback sample --execute"))
    act.step("rollback: refused, nobody", *_words("rollback nobody --execute"))
    act.step("history of all that", *_words("history sample"))
    act.step("install another", *_words("install --execute --manifest"), other)
    act.step("rollback: refused, nothing before it", *_words("rollback other --execute"))


def _changed(act: Recorder) -> None:
    write(act.root / "made/sample/provider", SAMPLE + "# another build\n")
    act.step("list with one changed", *_words("list"))
    act.step("show of what changed", *_words("show sample"))
    act.step("doctor of the host, one changed", "doctor", change=_tight)
    act.step("run: preview of what changed", *_words("run sample --input-json -"), stdin=b'{"do": "it"}')
    act.step("run: refused, changed", *_words("run sample --execute --input-json -"), stdin=b'{"do": "it"}')
    act.step("doctor of what changed", *_words("doctor sample --execute"))
    act.step("run without extensions", *_words("run sample --no-extensions --input-json - --execute"), stdin=b"{}")
    act.step("list without extensions", *_words("list"), env={"LOOPX_NO_EXTENSIONS": "1"})


def _runs(act: Recorder) -> None:
    run = ("extension", "run", "sample", "--input-json", "-")
    act.step("run: preview", *run, stdin=b'{"do": "it"}')
    act.step("run: refused, no file", "extension", "run", "sample", "--input-json", "nowhere.json", "--execute")
    act.step("run: refused, nobody", "extension", "run", "nobody", "--input-json", "-", "--execute", stdin=b"{}")
    for do in ("it", "fail", "prose", "outside", "crash", "silent"):
        act.step(f"run: {do}", *run, "--execute", stdin=json.dumps({"do": do}).encode())
    for label, stdin in {
        "outside its schema": b'{"do": 1}',
        "no JSON": b"{",
        "a list": b"[]",
        "the same key twice": b'{"do": "a", "do": "b"}',
        "too large": b'{"do": "' + b"x" * 1_100_000 + b'"}',
    }.items():
        act.step(f"run: refused, {label}", *run, "--execute", stdin=stdin)


def _export_and_restore(act: Recorder) -> None:
    kept, absent = act.folder / "kept.json", act.folder / "absent.json"
    act.step("export", *_words("export"))
    act.step("export to a file: preview", *_words("export --output kept.json"))
    act.step("export to a file", *_words("export --output kept.json --execute"))
    act.step("export to a file again", *_words("export --output kept.json --execute"))
    act.step("export: refused, no such folder", *_words("export --output nowhere/kept.json --execute"))
    act.step("restore of what is there", *_words("restore kept.json --execute"))
    for extension_id in ("sample", "other"):
        act.step(f"uninstall {extension_id}: preview", *_words(f"uninstall {extension_id}"))
        act.step(f"uninstall {extension_id}", *_words(f"uninstall {extension_id} --execute"))
    act.step("uninstall: refused, nobody", *_words("uninstall sample --execute"))
    act.step("restore: preview", *_words("restore kept.json"))
    act.step("restore: refused, another plan", *_words("restore kept.json --execute --plan sha256:0"))
    act.step("restore", *_words("restore kept.json --execute"))
    document = json.loads(kept.read_bytes()) if act.format == "json" else json.loads(_exported(act))
    for row in document["extensions"]:
        row.update(id=f"{row['id']}-away", manifest_path=str(act.folder / "away.toml"))
    absent.write_text(json.dumps(document), "utf-8")
    act.step("restore: incomplete", *_words("restore absent.json --execute"))
    act.step("restore: refused, no export", *_words("restore - --execute"), stdin=b'{"ok": true}')
    act.step("restore: refused, no file", *_words("restore nowhere.json --execute"))


def _exported(act: Recorder) -> bytes:
    return act("extension", "export").stdout


def _damage(act: Recorder) -> None:
    act.step("repair of what is whole: preview", *_words("repair"))
    act.step("repair of what is whole", *_words("repair --execute"))
    document = json.loads(act.state_file.read_bytes())
    document["extensions"]["sample"]["revisions"] = "none"
    act.state_file.write_text(json.dumps(document), "utf-8")
    act.step("list with a damaged entry", *_words("list"))
    act.step("show of a damaged entry", *_words("show sample"))
    act.step("doctor of the host, a damaged entry", "doctor", change=_tight)
    act.step("run of a damaged entry", *_words("run sample --execute --input-json -"), stdin=b"{}")
    act.step("repair of an entry: preview", *_words("repair"))
    act.step("repair of an entry: refused, another plan", *_words("repair --execute --plan sha256:0"))
    act.step("repair of an entry", *_words("repair --execute"))
    act.step("list after the repair", *_words("list"))
    act.state_file.write_text("{torn", "utf-8")
    act.step("list of a damaged file", *_words("list"))
    act.step("doctor of the host, a damaged file", "doctor", change=_tight)
    act.step("install into a damaged file", *_words("install --execute --manifest"), str(_sample(act)))
    act.step("export of a damaged file", *_words("export"))
    act.step("repair of a file: preview", *_words("repair"))
    act.step("repair of a file", *_words("repair --execute"))
    act.step("list after that repair", *_words("list"))


def _settle(act: Recorder) -> None:
    """Ask until the index answers: it is kept once its files have been still for a moment."""
    for _ in range(100):
        words = (*_words("discover --format json --state-file"), str(act.state_file))
        answer = act(*words, options=False, cwd=act.folder)
        if json.loads(answer.stdout)["index"]["status"] == "fresh":
            return
    raise AssertionError("the index never became fresh")


def packages(act: Recorder) -> None:
    """What installed packages offer, with the states an offer can be in, and a command that one of them brings."""
    offering(act.site, "offered")
    offering(act.site, "torn", text="id = \n")
    offering(act.site, "another-id", text=manifest("some-id"))
    offering(act.site, "twin", name="twin-one", package="twin_one")
    offering(act.site, "twin", name="twin-two", package="twin_two")
    act.put("roar", top="", files={"commands.py": COMMANDS}, commands={"roar": "roar.commands:run"})
    act.step("discover", *_words("discover"))
    _settle(act)
    act.step("discover again", *_words("discover"))
    act.step("discover anew", *_words("discover --rebuild"))
    act.step("doctor of the host, damaged offers", "doctor", change=_tight)
    act.step("install an offer: preview", *_words("install offered"))
    act.step("install an offer: refused, unknown", *_words("install unknown --execute"))
    act.step("install an offer: refused, of two packages", *_words("install twin --execute"))
    act.step("install an offer: refused, broken", *_words("install torn --execute"))
    act.step("install an offer", *_words("install offered --execute"))
    shutil.rmtree(next(act.site.glob("offered_package-*.dist-info")))
    shutil.rmtree(act.site / "offered")
    offering(act.site, "offered", version="2.0")
    act.step("discover an offer that changed", *_words("discover"))
    act.step("list with an offer that changed", *_words("list"))
    act.step("upgrade to an offer: preview", *_words("upgrade offered"))
    act.step("upgrade to an offer", *_words("upgrade offered --execute"))
    act.step("command of a package of the train that is not installed", "repo-health", ".")
    act.step("command of a package: refused, not activated", "roar", "loud")
    act.step("install what brings a command", *_words("install roar --execute"))
    act.step("top help with that command", "--help")
    act.step("command of a package", "roar", "loud", "--louder")
    act.step("help of that command", "roar", "--help")
    act.step("command of a package that fails", "roar", "fail")
    act.step("command of a package that raises", "roar", "raise")
    act.step("command of a package that answers nothing", "roar", "nothing")
    act.step("command of a package: refused, extensions are off", "roar", "loud", "--no-extensions")
    act.step("disable it", *_words("disable roar --execute"))
    act.step("command of a package: refused, disabled", "roar", "loud")
    shutil.rmtree(next(act.site.glob("roar_package-*.dist-info")))
    shutil.rmtree(act.site / "roar")
    act.step("command of a package that is gone", "roar", "loud")
    act.step("list with a package gone", *_words("list"))
    act.step("uninstall of what is gone", *_words("uninstall roar --execute"))


def goals(act: Recorder) -> None:
    """A capability of a hand-made package: listed, bound, invoked, refused, drifted, unbound."""
    act.put("station", operation(), operation("write", effect="external_write", permission="note.read"))
    ref = ("--ref", f"repo={act.folder / 'inside'}")
    _bind(act, ref)
    _invoke(act, ref)
    _drift(act, ref)


def _bind(act: Recorder, ref: tuple[str, str]) -> None:
    act.step("list", "capability", "list")
    act.step("show", "capability", "show", CAPABILITY)
    act.step("show: refused", "capability", "show", "unheard-of")
    declared = write(act.folder / "declared.toml", manifest("declared", top=provides("soil", profile=False)))
    act.step("list with a manifest", "capability", "list", "--extension-manifest", str(declared))
    act.step("show with a manifest", "capability", "show", "soil", "--extension-manifest", str(declared))
    act.step("bind: refused, not installed", *BIND, "--execute")
    act.step("invoke: refused, not installed", *INVOKE, "inspect", "--execute", stdin=b"{}")
    act.step("install", *_words("install station --execute"))
    act.step("bind: preview", *BIND)
    act.step("bind: refused, another plan", *BIND, "--execute", "--plan", "sha256:0")
    act.step("bind: refused, unknown operation", *BIND, "--operation", "bogus", "--execute")
    act.step("bind: refused, unknown capability", "capability", "bind", "unheard-of", *BIND[3:], "--execute")
    act.step("bind: refused, not installed", "capability", "bind", "recall", *BIND[3:], "--execute")
    act.step("show of the train, not installed", "capability", "show", "recall")
    act.step("bind: refused, unknown provider", *BIND, "--provider", "nobody", "--execute")
    act.step("bind: refused, no such goal", *BIND[:3], "--goal-id", "../g", "--operation", "inspect", "--execute")
    act.step("invoke: refused, not bound", *INVOKE, "inspect", *ref, "--execute", stdin=b"{}")
    act.step("bind", *BIND, "--execute")
    act.step("bind again", *BIND, "--execute")
    act.step("list when ready", "capability", "list")
    act.step("show when ready", "capability", "show", CAPABILITY)


def _invoke(act: Recorder, ref: tuple[str, str]) -> None:
    act.step("invoke: preview", *INVOKE, "inspect", *ref, stdin=b"{}")
    act.step("invoke", *INVOKE, "inspect", *ref, "--execute", stdin=b"{}")
    for label, code in {
        "it fails": "raise SystemExit(1)",
        "it answers prose": "print('prose'); raise SystemExit(0)",
        "it says that it failed": "fields.update(status='failed')",
        "it changes the state": "fields.update(domain_state_mutations=[{'a': 1}])",
        "it answers another call": "fields.update(invocation_id='another')",
    }.items():
        act.step(f"invoke: {label}", *INVOKE, "inspect", *ref, "--execute", stdin=json.dumps({"code": code}).encode())
    act.step("invoke: refused, no reference", *INVOKE, "inspect", "--execute", stdin=b"{}")
    act.step("invoke: refused, odd reference", *INVOKE, "inspect", "--ref", "repo", "--execute", stdin=b"{}")
    act.step("invoke: refused, nothing there", *INVOKE, "inspect", "--ref", "repo=nowhere", "--execute", stdin=b"{}")
    act.step("invoke: refused, operation not bound", *INVOKE, "write", *ref, "--execute", stdin=b"{}")
    act.step("invoke: refused, unknown operation", *INVOKE, "bogus", *ref, "--execute", stdin=b"{}")
    act.step("invoke: refused, no JSON", *INVOKE, "inspect", *ref, "--execute", stdin=b"{")
    act.step(
        "invoke: refused, extensions are off", *INVOKE, "inspect", *ref, "--no-extensions", "--execute", stdin=b"{}"
    )
    act.step("disable", *_words("disable station --execute"))
    act.step("invoke: refused, disabled", *INVOKE, "inspect", *ref, "--execute", stdin=b"{}")
    act.step("enable", *_words("enable station --execute"))


def _drift(act: Recorder, ref: tuple[str, str]) -> None:
    act.put("station", operation(permission="note.read"), version="2.0")
    act.step("upgrade", *_words("upgrade station --execute --accept-permissions"))
    act.step("invoke: refused, drifted", *INVOKE, "inspect", *ref, "--execute", stdin=b"{}")
    act.step("list when drifted", "capability", "list")
    act.step("unbind: preview", *UNBIND)
    act.step("unbind: refused, another plan", *UNBIND, "--execute", "--plan", "sha256:0")
    act.step("unbind", *UNBIND, "--execute")
    act.step("unbind: refused, not bound", *UNBIND, "--execute")
    act.put("rival", top=IMPLEMENTS.format(id=CAPABILITY), files={"profile.json": ""})
    act.step("install a rival", *_words("install rival --execute"))
    act.step("show with a rival", "capability", "show", CAPABILITY)
    act.step("bind: refused, of two providers", *BIND, "--execute")
    act.step("history", *_words("history station"))


def train(act: Recorder) -> None:
    """The packages of the train, as the environment of the tests has them installed."""
    project, notes = act.folder / "project", act.folder / "notes"
    write(project / "app.py", "# TODO later\n")
    write(project / "LICENSE", "x\n")
    write(notes / "ops/latency.md", "# Latency\n\nThe cache is cold after each release.\n")
    for arguments in (("init", "--initial-branch=main"), ("add", "--all"), ("commit", "--message", "work")):
        person = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false")
        subprocess.run(["git", *person, *arguments], cwd=project, env=act.env, check=True, capture_output=True)
    goal, ref = ("--goal-id", "demo"), ("--ref", f"repo={project}")
    view = ("extension", "publish-projection", HEALTH)
    asked = {"schema_version": "loopx_repo_health_publish_request_v0", "publish": "repository-health", "now": NOW}
    wanted = json.dumps(asked).encode()
    act.step("command that is off", "repo-health", str(project), *goal)
    act.step("publish: refused, not installed", *view, "repository-health", "--input-json", "-", stdin=wanted)
    act.step("install", *_words(f"install {HEALTH} --execute"))
    act.step("show", *_words(f"show {HEALTH}"))
    act.step("command that is not bound", "repo-health", str(project), *goal)
    act.step("bind", "capability", "bind", "repo-health", *goal, "--operation", "inspect", "--execute")
    act.step("command: preview", "repo-health", str(project), *goal)
    act.step("command", "repo-health", str(project), *goal, "--execute")
    act.step("command where there is no repository", "repo-health", str(notes), *goal, "--execute")
    act.step("help of the command", "repo-health", "--help")
    given = json.dumps({"now": NOW, "large_file_kb": 1}).encode()
    call = ("capability", "invoke", "repo-health", *goal, "--operation", "inspect", "--input-json", "-", *ref)
    act.step("invoke: preview", *call, stdin=given)
    act.step("invoke", *call, "--execute", stdin=given)
    act.step("invoke: refused by the domain", *call, "--execute", stdin=b'{"now": "2026-02-30T00:00:00Z"}')
    act.step("invoke: refused by the schema", *call, "--execute", stdin=b'{"now": 1}')
    publish = (*view, "repository-health", "--input-json", "-")
    act.step("publish: refused, a reference without a goal", *publish, *ref, stdin=wanted)
    act.step("publish: preview", *publish, *goal, *ref, stdin=wanted)
    act.step("publish: provider failed", *publish, "--execute", stdin=wanted)
    act.step("publish: refused, unknown surface", *view, "bogus", "--input-json", "-", "--execute", stdin=wanted)
    act.step(
        "publish: refused by the schema",
        *publish,
        *goal,
        *ref,
        "--execute",
        stdin=json.dumps({**asked, "x": 1}).encode(),
    )
    act.step("publish", *publish, *goal, *ref, "--execute", stdin=wanted)
    act.step("list with what was published", "capability", "list")
    act.step(
        "bind: refused, a package that is not installed",
        "capability",
        "bind",
        "recall",
        *goal,
        "--operation",
        "search",
        "--execute",
    )
    act.step("install the example", *_words(f"install {STATS} --execute"))
    request = str(ROOT / "examples/standalone-extension/examples/request.json")
    act.step("run the example", *_words(f"run {STATS} --execute --input-json"), request)
    act.step("discover", *_words("discover"))
    act.step("export", *_words("export"))


def terminal(act: Recorder) -> None:
    """What is drawn for a person at a terminal."""
    act.step("install", *_words("install --execute --manifest"), str(_sample(act)))
    act.on_terminal("list, drawn", *_words("list"))
    act.on_terminal("show, drawn", *_words("show sample"))
    act.on_terminal("run, drawn", *_words("run sample --execute --input-json -"), stdin=b'{"do": "it"}')
    act.on_terminal("failed run, drawn", *_words("run sample --execute --input-json -"), stdin=b'{"do": "fail"}')
    act.on_terminal("capabilities, drawn", "capability", "list")
    act.on_terminal("discover, drawn", *_words("discover"))
    act.on_terminal("refusal, drawn", *_words("show nobody"))
    act.on_terminal("help, drawn", "--help")


# name: the scenario, its formats, whether it is played where nothing but the host is installed
SCENARIOS: dict[str, tuple[Scenario, tuple[str, ...], bool]] = {
    "command-line": (command_line, FORMATS, False),
    "help-of-commands": (help_of_commands, FORMATS, False),
    "schemas-and-completions": (schemas_and_completions, ("text",), False),
    "authoring": (authoring, FORMATS, True),
    "life": (life, FORMATS, True),
    "packages": (packages, FORMATS, True),
    "goals": (goals, FORMATS, True),
    "train": (train, FORMATS, False),
    "terminal": (terminal, ("text",), True),
}
NAMES = [f"{name}.{wanted}" for name, (_, formats, _) in SCENARIOS.items() for wanted in formats]


def _words(text: str) -> list[str]:
    """Return the words of a command of the group `extension`."""
    return ["extension", *text.split()]


def _arguments(route: Route) -> list[str]:
    """Return something for every argument that a command line of this route has to have."""
    values = {"--operation": "inspect", "--goal-id": "g1", "shell": "bash"}
    made: list[str] = []
    for argument in route.arguments:
        if not argument.is_optional:
            name = argument.names[0]
            made += [name, values.get(name, "given")] if name.startswith("-") else [values.get(name, "given")]
    return made


def _sample(act: Recorder, version: str = "1.0", *, extension_id: str = "sample", **runtime: Any) -> Path:
    """Write one version of the hand-made extension; the second wants one permission more. Return its manifest."""
    folder = act.root / "made" / extension_id
    if not (folder / "provider").exists():
        write(folder / "provider", SAMPLE)
    top = 'permissions = ["note.read"]' if version == "2.0" else ""
    keys: dict[str, Any] = {
        "entrypoint": str(folder / "provider"),
        "request_schema": "request.json",
        "response_schema": "response.json",
    }
    write(folder / version / "request.json", json.dumps(REQUEST_SCHEMA))
    write(folder / version / "response.json", json.dumps(RESPONSE_SCHEMA))
    return write(folder / version / "extension.toml", manifest(extension_id, version, top=top, **{**keys, **runtime}))


def _tight(text: str) -> str:
    """Return a table without its padding, which a warning about the environment, taken out later, would widen."""
    return re.sub(r"(?<=\S) {2,}", "  ", text)


def _unwell(act: Recorder) -> str:
    return str(_sample(act, "0.1", doctor_args=["--unwell"]))


def _without_figures(text: str) -> str:
    head, mark, rest = text.partition("exit 0\n")
    decided_here = (
        r'(?<="met_by": )\[[^\]]*\]|(?<="machine": )"\w+"|(?<="bytecode_written": )\w+|(?<="interpreter": )"[^"]*"'
    )
    rest = re.sub(decided_here, '"<measured>"', rest)
    rest = re.sub(r'(?<=Linux )[^,"]+', "<release>", rest)
    return head + mark + re.sub(r" {2,}", "  ", re.sub(r"-?\d+(\.\d+)*", "0", rest))


def _root() -> Path:
    """Make a folder whose path is of the same length everywhere."""
    return Path(tempfile.mkdtemp(prefix="loopx-", dir="/tmp")).resolve()


@pytest.fixture(scope="module")
def bare() -> Iterator[Path]:
    """The folder of a launcher of an environment that holds nothing but the host."""
    root = _root()
    yield bare_environment(root / "venv")
    shutil.rmtree(root)


@pytest.fixture
def root() -> Iterator[Path]:
    made = _root()
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_answers_as_it_was_recorded(root: Path, bare: Path, name: str) -> None:
    scenario, wanted = name.split(".")
    play, _, is_bare = SCENARIOS[scenario]
    path = FOLDER / f"{name}.txt"
    act = Recorder(root, wanted, bare if is_bare else None)

    play(act)

    if os.environ.get("RECORD"):
        assert not os.environ.get("CI"), "recordings are written by a person who looks at them"
        path.write_text(act.text, "utf-8")
    changed = difference(path.read_text("utf-8"), act.text, path.name)
    assert not changed, f"not as recorded; RECORD=1 records anew what was meant to change\n{changed}"


def test_every_route_is_recorded_in_what_it_answers_refuses_and_does() -> None:
    steps = [step for path in FOLDER.iterdir() for step in _recorded_steps(path)]

    missing = {" ".join(route.words): _missing(route, steps) for route in routes()}

    assert {words: kinds for words, kinds in missing.items() if kinds} == {}


def test_every_recording_belongs_to_a_scenario_and_tells_nothing_of_its_machine() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(f"{name}.txt" for name in NAMES)
    for path in FOLDER.iterdir():
        text = path.read_text("utf-8")
        for place in (str(ROOT), tempfile.gettempdir() + "/", str(Path.home()) + "/"):
            assert place not in text, (path.name, place)


def _recorded_steps(path: Path) -> list[tuple[str, int, str]]:
    """Return (words of the command line, exit status, what it answered) of every step of a recording."""
    return [
        (words, int(status), answered)
        for words, status, answered in re.findall(
            r"^\$ (?:\w+=\S+ )*loopx (.*)\nexit (\d+)\n((?:(?!\$ |# ).*\n)*)", path.read_text("utf-8"), re.MULTILINE
        )
    ]


def _missing(route: Route, steps: list[tuple[str, int, str]]) -> list[str]:
    """Return which of the answers that a route can give were never recorded."""
    words = " ".join(route.words)
    mine = [step for step in steps if step[0] == words or step[0].startswith(f"{words} ")]
    refused = [step for step in mine if step[1] not in {0, 1} and "usage_error" not in step[2]]
    found = {
        "help": any(" --help" in line and status == 0 for line, status, _ in mine),
        "a usage error": any(status == 2 and "usage_error" in answered for _, status, answered in mine),
        "text": any(status == 0 and "--format json" not in line and "--help" not in line for line, status, _ in mine),
    }
    if route.words not in {("completions",), ("extension", "schema")}:
        found["JSON"] = any(status == 0 and "--format json" in line for line, status, _ in mine)
    if EXECUTE in route.arguments:
        found |= {
            "a preview": any(
                "--execute" not in line and "--help" not in line and not status for line, status, _ in mine
            ),
            "a change": any("--execute" in line and status in {0, 1} for line, status, _ in mine),
            "a refusal": bool(refused),
        }
    return [kind for kind, there in found.items() if not there]
