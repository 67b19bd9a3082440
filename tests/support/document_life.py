"""The documents of one life: what every command prints while extensions come and go, and what lies on disk meanwhile.

A scenario yields a label, the words of its command and what was answered. What is handed to a provider, and what is
kept in files, is gathered beside that.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from loopx_host.documents import integration_profile_v0
from tests.support.capabilities import CAPABILITY, Station, operation, profile
from tests.support.cli import Answer, Loopx
from tests.support.lifecycle import Subject
from tests.support.packages import write

PROVIDER = """\
#!/bin/sh
[ "$1" = --doctor ] && exit 0
read -r request
case "$request" in
    *fail*) echo '{"ok": false, "error": "asked to"}'; exit 1 ;;
    *odd*) echo '{"ok": true, "n": "not a number"}' ;;
    '{"do": "number"}') echo '{"ok": true, "n": 1}' ;;
    *) echo '{"ok": false, "error": "no request of mine"}'; exit 1 ;;
esac
"""
DECLARES = """\
[[provides]]
id = "sample-report"
kind = "projection_sink"
title = "Sample report"
status = "active"
user_value = "value"
next_real_step = "none"
visibility = "public"
real_world_anchor = "fixture"
entry_command = "sample report"
"""
SURFACE = """\
[[presentation_surfaces]]
id = "board"
kind = "note_board"
title = "Notes"
view_schema = "loopx_sections_view_v0"
view_validator = "made_up.views:check"
visibility = "public-safe"
empty_state_title = "No notes yet"
empty_state_detail = "Publish some."
"""
VIEW = {
    "schema_version": "loopx_sections_view_v0",
    "title": "Board",
    "generated_at": "2025-01-01T00:00:00Z",
    "review_after": "2999-01-01T00:00:00Z",
    "sections": [
        {"id": "a", "title": "A", "status": "ok", "items": [{"label": "notes", "value": "2"}]},
    ],
}
PUBLISHER = f"""\
#!/bin/sh
[ "$1" = --doctor ] && exit 0
case "$(cat)" in
    *fail*) echo '{{"ok": false, "error": "asked to"}}'; exit 1 ;;
    *) echo '{json.dumps({"ok": True, "view": VIEW})}' ;;
esac
"""
EXAMPLE = b'{"do": "number"}'


class Printed:
    """What one command answered."""

    def __init__(self, words: tuple[str, ...], answer: Answer) -> None:
        self.words = words
        self.status = answer.status
        self.document = answer.document


class Life:
    """Everything that was printed, by label, and the files and messages there were meanwhile, by name of document."""

    def __init__(self) -> None:
        self.printed: dict[str, Printed] = {}
        self.kept: dict[str, Any] = {}


class _Teller:
    """Runs commands of one environment and keeps what they print."""

    def __init__(self, loopx: Loopx, life: Life) -> None:
        self.loopx = loopx
        self._printed = life.printed

    def __call__(self, label: str, *words: str, **settings: Any) -> dict[str, Any]:
        assert label not in self._printed
        self._printed[label] = Printed(words, self.loopx(*words, **settings))
        return self._printed[label].document


def lived(root: Path) -> Life:
    """Return all documents of one life, below a directory of its own."""
    life = Life()
    for name, scenario in (("plain", _plain), ("governed", _governed), ("v0", _governed_by_v0)):
        (root / name).mkdir()
        scenario(root / name, life)
    return life


def _plain(root: Path, life: Life) -> None:
    loopx = Loopx(root)
    tell = _Teller(loopx, life)
    tell("list of nothing", "extension", "list")
    _one_extension(Subject(loopx), tell, life)
    _runs(tell)
    _authors(tell, life)
    _moves(tell)
    tell("discover", "extension", "discover")
    (index,) = loopx.root.glob("home/cache/loopx/**/index.json")
    life.kept["discovery-index"] = _json(index)
    tell("performance-diagnosis", "performance-diagnosis", "--pairs", "1")
    tell("completions", "completions", "fish")
    tell("help", "--help")
    tell("help of a command", "extension", "run", "--help")
    tell("version", "--version")
    tell("usage error", "extension", "run")
    tell("schema", "extension", "schema", "error")
    tell("unknown schema", "extension", "schema", "nothing")
    _damage(tell)


def _one_extension(subject: Subject, tell: _Teller, life: Life) -> None:
    manifest, later = str(subject.manifest("1.0")), str(subject.manifest("2.0"))
    missing = str(subject.manifest("9.0", entrypoint="no-such-command-anywhere"))
    wrong = str(subject.manifest("8.0", timeout_seconds=0, protocol="x"))
    tell("install preview", "extension", "install", "--manifest", manifest)
    tell("install preview that would be refused", "extension", "install", "--manifest", missing)
    tell("install, manifest invalid", "extension", "install", "--manifest", wrong)
    subject.doctor_exits(1)
    tell("install, doctor failed", "extension", "install", "--manifest", manifest, "--execute")
    subject.doctor_exits(0)
    tell("install", "extension", "install", "--manifest", manifest, "--execute")
    tell("list", "extension", "list")
    tell("show", "extension", "show", subject.id)
    tell("show nobody", "extension", "show", "nobody")
    tell("doctor preview", "extension", "doctor", subject.id)
    tell("doctor", "extension", "doctor", subject.id, "--execute")
    tell("upgrade preview", "extension", "upgrade", "--manifest", later)
    tell("upgrade", "extension", "upgrade", "--manifest", later, "--execute")
    tell("rollback preview", "extension", "rollback", subject.id)
    tell("rollback", "extension", "rollback", subject.id, "--execute")
    for verb in ("disable", "enable"):
        tell(f"{verb} preview", "extension", verb, subject.id)
        tell(verb, "extension", verb, subject.id, "--execute")
        if verb == "disable":
            tell("doctor, disabled", "extension", "doctor", subject.id, "--execute")
    tell("host doctor", "doctor")
    subject.doctor_exits(1)
    tell("doctor, unhealthy", "extension", "doctor", subject.id, "--execute")
    tell("host doctor, unhealthy", "doctor")
    tell("history", "extension", "history", subject.id)
    life.kept["state"] = _json(tell.loopx.state_file)
    subject.doctor_exits(0)
    tell("uninstall preview", "extension", "uninstall", subject.id)
    tell("uninstall", "extension", "uninstall", subject.id, "--execute")


def _runs(tell: _Teller) -> None:
    folder = tell.loopx.root / "extensions" / "runner"
    write(folder / "request.json", '{"type": "object", "properties": {"n": {"type": "string"}}}')
    write(folder / "response.json", '{"type": "object", "properties": {"n": {"type": "integer"}}}')
    write(folder / "examples" / "request.json", EXAMPLE.decode())
    tell.loopx.make_extension("runner", PROVIDER, request_schema="request.json", response_schema="response.json")

    def run(label: str, request: dict[str, object], *flags: str) -> None:
        words = ("extension", "run", "runner", "--input-json", "-", *flags)
        tell(label, *words, stdin=json.dumps(request).encode() + b"\n")

    run("run preview", {"do": "number"})
    run("run", {"do": "number"}, "--execute")
    run("run, provider failed", {"do": "fail"}, "--execute")
    run("run, response outside its schema", {"do": "odd"}, "--execute")
    run("run, request outside its schema", {"n": 1}, "--execute")
    run("run, request too large", {"n": "x" * 1_000_001}, "--execute")


def _authors(tell: _Teller, life: Life) -> None:
    package = tell.loopx.root / "acme-report"
    tell("init preview", "extension", "init", "acme-report", "--destination", str(package))
    tell("init", "extension", "init", "acme-report", "--destination", str(package), "--execute")
    tell("init, refused", "extension", "init", "class", "--execute")
    life.kept["manifest"] = tomllib.loads((package / "extension.toml").read_text("utf-8"))
    runner = tell.loopx.root / "extensions" / "runner"
    tell("validate", "extension", "validate", str(package))
    tell("conformance preview", "extension", "conformance", str(runner))
    tell("conformance", "extension", "conformance", str(runner), "--execute")
    bad = tell.loopx.write_extension("bad", PROVIDER.replace("exit 0", "exit 3"))
    tell("conformance, a rule broken", "extension", "conformance", str(bad), "--execute")
    capable = tell.loopx.write_extension("capable", PROVIDER, manifest=f"unheard_of = 1\n{DECLARES}")
    tell("validate with warnings", "extension", "validate", str(capable))
    tell("capability list", "capability", "list", "--extension-manifest", str(capable))
    tell("capability show", "capability", "show", "sample-report", "--extension-manifest", str(capable))
    write(package / "examples" / "request.json", '{"name": 1}')
    tell("validate, example invalid", "extension", "validate", str(package))


def _moves(tell: _Teller) -> None:
    export = tell.loopx.root / "export.json"
    tell("export", "extension", "export")
    tell("export to a file", "extension", "export", "--output", str(export), "--execute")
    tell("restore preview", "extension", "restore", str(export))
    tell("restore", "extension", "restore", str(export), "--execute")
    document = _json(export)
    document["extensions"][0]["id"] = "elsewhere"
    export.write_text(json.dumps(document))
    tell("restore, incomplete", "extension", "restore", str(export), "--execute")


def _damage(tell: _Teller) -> None:
    write(tell.loopx.root / "extensions" / "runner" / "provider", f"{PROVIDER}# changed\n")
    tell("run preview, stale", "extension", "run", "runner", "--input-json", "-", stdin=EXAMPLE)
    tell("repair of what is whole", "extension", "repair", "--execute")
    document = _json(tell.loopx.state_file)
    document["extensions"]["odd"] = {"id": "odd"}
    tell.loopx.state_file.write_text(json.dumps(document))
    tell("list with a bad entry", "extension", "list")
    tell("export with a bad entry", "extension", "export", "--output", str(tell.loopx.root / "whole.json"))
    tell("repair preview", "extension", "repair")
    tell("repair", "extension", "repair", "--execute")


def _governed(root: Path, life: Life) -> None:
    station = Station(root)
    tell = _Teller(station, life)
    heard = root / "heard.json"
    station.put(doctor_timeout_seconds=20, memory_limit_mb=1024, env=["SOME_NAME"])
    tell("install of an offer", "extension", "install", "station", "--execute")
    tell("show of a provider", "extension", "show", "station")
    goal = ("--goal-id", "g1")
    bind = ("capability", "bind", CAPABILITY, *goal, "--operation", "inspect")
    tell("bind preview", *bind)
    tell("bind", *bind, "--execute")
    tell("bind again", *bind, "--execute")
    tell("bind, refused", *bind, "--operation", "bogus", "--execute")
    tell("show of a capability with operations", "capability", "show", CAPABILITY)
    ref = ("--ref", f"repo={station.folder}")
    call = ("capability", "invoke", CAPABILITY, *goal, "--operation", "inspect", *ref, "--input-json", "-")
    tell("invoke preview", *call, stdin=b"{}")
    listen = f"open({str(heard)!r}, 'w').write(json.dumps(request))"
    answered = tell("invoke", *call, "--execute", stdin=_input(listen))
    tell("invoke, provider failed", *call, "--execute", stdin=_input("sys.exit(3)"))
    tell("invoke, no clean result", *call, "--execute", stdin=_input("fields['status'] = 'odd'"))
    life.kept["governed-request"] = _json(heard)
    life.kept["execution-envelope"] = life.kept["governed-request"]["execution_envelope"]
    life.kept["governed-result"] = answered["provider_result"]
    life.kept["bindings"] = _json(Path(f"{station.state_file}.d") / "bindings.json")
    life.kept["binding"] = life.kept["bindings"]["bindings"][0]
    _published(tell, life)
    life.kept["normal-form"] = _json(station.state_file)["extensions"]["station"]["revisions"][0]["manifest"]
    life.kept["integration-profile"] = _json(station.site / "station" / "profile.json")
    tell("unbind preview", "capability", "unbind", CAPABILITY, *goal)
    tell("unbind", "capability", "unbind", CAPABILITY, *goal, "--execute")
    tell("unbind, refused", "capability", "unbind", CAPABILITY, *goal, "--execute")


def _governed_by_v0(root: Path, life: Life) -> None:
    """What a provider written for plain v0 is handed and answers."""
    station, heard = Station(root), root / "heard.json"
    tokens = {"request_schema": "weather_request_v0", "result_schema": "weather_result_v0"}
    made = json.loads(profile(operation(permission="note.read", **tokens)))
    life.kept["integration-profile-v0"] = {**made, "schema_version": integration_profile_v0.ID}
    station.put(files={"profile.json": json.dumps(life.kept["integration-profile-v0"])})
    station("extension", "install", "station", "--execute")
    goal = ("--goal-id", "g1", "--operation", "inspect")
    station("capability", "bind", CAPABILITY, *goal, "--execute")
    listen = f"open({str(heard)!r}, 'w').write(json.dumps(request)); fields['schema_version'] = 'weather_result_v0'"
    reference = {"kind": "place", "ref": "here", "digest": f"sha256:{'0' * 64}"}
    given = json.dumps({"context_refs": [reference], "input": {"code": listen}}).encode()
    invoke = ("capability", "invoke", CAPABILITY, *goal, "--input-json", "-", "--execute")
    life.kept["governed-result-v0"] = station(*invoke, stdin=given).document["provider_result"]
    life.kept["governed-request-v0"] = _json(heard)


def _published(tell: _Teller, life: Life) -> None:
    station = tell.loopx
    assert isinstance(station, Station)
    station.put("herald", top=SURFACE, files={"provider": PUBLISHER})
    station.install_id("herald")
    words = ("extension", "publish-projection", "herald", "board", "--input-json", "-")
    tell("publish preview", *words, stdin=b"{}")
    tell("publish, provider failed", *words, "--execute", stdin=b'{"do": "fail"}')
    tell("publish", *words, "--execute", stdin=b"{}")
    tell("publish, refused", *words[:3], "bogus", *words[4:], "--execute", stdin=b"{}")
    tell("capability list with a view", "capability", "list")
    (projection,) = Path(f"{station.state_file}.d").glob("projections/*/*.json")
    life.kept["projection"] = _json(projection)
    life.kept["sections-view"] = life.kept["projection"]["payload"]


def _input(code: str) -> bytes:
    """Return the input of a governed call whose provider does `code`."""
    return json.dumps({"code": code}).encode()


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())
