"""The files of a new extension: a package that installs, passes its own tests and runs unedited.

Pure text; whoever writes it decides where (contract section 8).
"""

from __future__ import annotations

import json

from loopx_host.documents.manifest import ID

LINK = "link:"  # content that begins so is a symbolic link to what follows


def files(extension_id: str, module: str, version: str) -> dict[str, str]:
    """Return path → content of the starter package, in the order a person would read them."""
    names = {
        "manifest": ID,
        "id": extension_id,
        "module": module,
        "version": version,
        "protocol": protocol(module),
        "request": f"{module}_request_v0",
        "response": f"{module}_response_v0",
    }
    package = f"src/{module}"
    return {
        "README.md": _README % names,
        "pyproject.toml": _PYPROJECT % names,
        "extension.toml": f"{LINK}{package}/extension.toml",
        f"{package}/extension.toml": _MANIFEST % names,
        f"{package}/__init__.py": f'"""The extension {extension_id}; it does not depend on loopx."""\n',
        f"{package}/cli.py": _PROVIDER % names,
        f"{package}/schemas/request.schema.json": _json(_request_schema(names)),
        f"{package}/schemas/response.schema.json": _json(_response_schema(names)),
        "examples/request.json": _json({"schema_version": names["request"], "name": "world"}),
        f"tests/test_{module}.py": _TESTS % names,
        ".gitignore": _IGNORE,
    }


def protocol(module: str) -> str:
    """Return the protocol name of a new extension, within the 64 characters the grammar allows."""
    return f"{module}_extension_v0"


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _request_schema(names: dict[str, str]) -> dict[str, object]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Request of {names['id']}",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema_version", "name"],
        "properties": {
            "schema_version": {"const": names["request"]},
            "name": {"type": "string", "minLength": 1},
        },
    }


def _response_schema(names: dict[str, str]) -> dict[str, object]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Response of {names['id']}",
        "type": "object",
        "additionalProperties": False,
        "required": ["ok", "schema_version"],
        "properties": {
            "ok": {"type": "boolean"},
            "schema_version": {"const": names["response"]},
            "message": {"type": "string"},
            "error": {"type": "string"},
        },
    }


_MANIFEST = """\
#:schema ./extension.schema.json
# `loopx extension schema manifest > extension.schema.json` gives editors the keys of this file.
schema_version = "%(manifest)s"
id = "%(id)s"
version = "%(version)s"
requires_loopx_api = ">=1,<2"
permissions = []

[runtime]
protocol = "%(protocol)s"
entrypoint = "%(id)s"
args = []
doctor_args = ["--doctor"]
required_permissions = []
timeout_seconds = 10
request_schema = "schemas/request.schema.json"
response_schema = "schemas/response.schema.json"
"""

_PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "%(id)s"
version = "%(version)s"
description = "A loopx extension"
readme = "README.md"
requires-python = ">=3.11"
dependencies = []

[project.optional-dependencies]
test = ["pytest>=8", "jsonschema>=4.23"]

[project.scripts]
%(id)s = "%(module)s.cli:main"

[project.entry-points."loopx.extensions"]
%(id)s = "%(module)s"

[tool.hatch.build.targets.wheel]
packages = ["src/%(module)s"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""

_PROVIDER = '''\
"""One request on standard input, one response on standard output; ``--doctor`` proves that this works."""

from __future__ import annotations

import json
import sys

REQUEST = "%(request)s"
RESPONSE = "%(response)s"


def answer(request: object) -> dict[str, object]:
    """Return the response to one request, ``ok`` false with a reason when it cannot be served."""
    if not isinstance(request, dict) or request.get("schema_version") != REQUEST:
        return {"ok": False, "schema_version": RESPONSE, "error": f"schema_version must be {REQUEST}"}
    if set(request) != {"schema_version", "name"}:
        return {"ok": False, "schema_version": RESPONSE, "error": "the fields must be schema_version and name"}
    name = request.get("name")
    if not isinstance(name, str) or not name:
        return {"ok": False, "schema_version": RESPONSE, "error": "name must be a string that is not empty"}
    return {"ok": True, "schema_version": RESPONSE, "message": f"Hello, {name}!"}


def doctor() -> int:
    """Serve a known request and compare; writes nothing, reads nothing else."""
    response = answer({"schema_version": REQUEST, "name": "doctor"})
    if response.get("message") == "Hello, doctor!":
        return 0
    print(f"unexpected response: {response}", file=sys.stderr)
    return 1


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse a key that stands twice: two readers could take different ones."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def main() -> int:
    """Serve one call and return the exit status."""
    if sys.argv[1:] == ["--doctor"]:
        return doctor()
    try:
        request = json.loads(sys.stdin.buffer.read().decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError):
        request = None
    response = answer(request)
    json.dump(response, sys.stdout)
    return 0 if response["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
'''

_TESTS = '''\
"""The promises of %(id)s, against its own schemas."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from %(module)s.cli import answer

SCHEMAS = resources.files("%(module)s") / "schemas"
REQUEST = json.loads((SCHEMAS / "request.schema.json").read_text(encoding="utf-8"))
RESPONSE = json.loads((SCHEMAS / "response.schema.json").read_text(encoding="utf-8"))
EXAMPLE = Path(__file__).parent.parent / "examples" / "request.json"


def call(data: bytes, *args: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from %(module)s.cli import main; raise SystemExit(main())", *args]
    return subprocess.run(command, input=data, capture_output=True, check=False)


def test_the_example_follows_the_schema_and_is_answered() -> None:
    data = EXAMPLE.read_bytes()
    jsonschema.validate(json.loads(data), REQUEST)

    ended = call(data)

    assert ended.returncode == 0
    response = json.loads(ended.stdout)
    jsonschema.validate(response, RESPONSE)
    assert response["ok"] is True


@pytest.mark.parametrize("request_", [None, [], {}, {"schema_version": "other", "name": "a"}])
def test_a_request_outside_the_protocol_is_answered_with_a_reason(request_: object) -> None:
    response = answer(request_)

    assert response["ok"] is False
    jsonschema.validate(response, RESPONSE)


def test_the_doctor_passes() -> None:
    assert call(b"", "--doctor").returncode == 0


def test_it_conforms() -> None:
    """With loopx-pytest installed, the conformance suite of the host runs too."""
    loopx_pytest = pytest.importorskip("loopx_pytest")
    manifest = resources.files("%(module)s") / "extension.toml"

    report = loopx_pytest.conformance(str(manifest))

    assert [rule for rule in report["rules"] if rule["status"] == "failed"] == []
'''

_README = """\
# %(id)s

A loopx extension: one manifest, one command. It answers one JSON request and does not depend on loopx.

```console
$ python3 -m pip install -e '.[test]'                     # the package and what its tests need
$ python3 -m pytest                                       # its own promises
$ loopx extension validate .                              # manifest, schemas and example
$ loopx extension install %(id)s --execute                # trust it, proved by its doctor
$ loopx extension run %(id)s --input-json examples/request.json --execute
```

`extension.toml` here is a link to the manifest inside the package, where it travels with the wheel. After a change
of the manifest: `loopx extension upgrade %(id)s --execute`. After a change of the code:
`loopx extension doctor %(id)s --execute`.
"""

_IGNORE = """\
__pycache__/
*.egg-info/
.venv/
dist/
# activation state is machine-local: it may hold the identity of this machine's runtime
state.json
state.json.*
"""
