"""Every document of the recordings follows its schema and has the shape that is built, refusals most of all."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from loopx_host.cli.command_line import CommandLine
from loopx_host.documents.catalog import MODULES, document
from tests.support.document_shapes import closed_schema, fields, shape_of

RECORDINGS = sorted((Path(__file__).parents[2] / "data/recorded").glob("*.json.txt"))
NAME_OF = {document(name).ID: name for name in MODULES if name != "state" and hasattr(document(name), "ID")}
# What a recording writes in place of what a machine decides → something of the same type.
PLACEHOLDERS = (
    (r'"<n>"', "0"),
    (r"<time>", "2025-01-01T00:00:00Z"),
    (r"<run id>", "0" * 24),
    (r"capability-<invocation>", f"capability-{'0' * 24}"),
    (r"<digest \d+, (\d+) digits>", lambda match: "0" * int(match[1])),
)
MEASURED = "<measured>"  # figures and findings about the machine, of any type

Step = tuple[str, tuple[str, ...], dict[str, Any]]


def steps(recording: Path) -> Iterator[Step]:
    """Return label, words and document of every step that answered with one."""
    for step in re.split(r"^# ", recording.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        found = re.search(r"^--- stdout\n(\{.*?^\})\n", step, re.MULTILINE | re.DOTALL)
        if found is None or MEASURED in found[1]:
            continue
        text = found[1]
        for pattern, value in PLACEHOLDERS:
            text = re.sub(pattern, value, text)
        label, command, *_ = step.splitlines()
        words = shlex.split(command.removeprefix("$ "))
        yield label, tuple(words[words.index("loopx") + 1 :]), _with_containment(json.loads(text))


def _with_containment(value: Any) -> Any:
    """Return a document without what a recording says of a containment: its keys, and nothing of their values."""
    if isinstance(value, dict) and list(value) == ["keys"]:
        assert set(value["keys"]) <= set(fields("loopx_host.documents.parts", "Containment"))
        return {}
    if isinstance(value, dict):
        return {key: _with_containment(one) for key, one in value.items()}
    return [_with_containment(one) for one in value] if isinstance(value, list) else value


def ours() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Return (where, name, document) of every document that is not one of a package's command.

    A command answers with the documents that its row of the index names, with a refusal, or with help.
    """
    for recording in RECORDINGS:
        for label, words, answer in steps(recording):
            name = NAME_OF.get(answer.get("schema_version"))
            if name is not None:
                row = CommandLine(list(words)).row
                assert row is None or name in (*row.documents, "error", "help"), (label, name)
                yield f"{recording.name}: {label}", name, answer
            else:
                assert "$schema" in answer or CommandLine(list(words)).row is None, (label, answer)


DOCUMENTS = list(ours())


@pytest.mark.parametrize(("where", "name", "answer"), DOCUMENTS, ids=[where for where, _, _ in DOCUMENTS])
def test_a_recorded_document_follows_its_schema_and_its_shape(where: str, name: str, answer: dict[str, Any]) -> None:
    place = shape_of(name)
    assert place is not None, where

    for schema in (document(name).schema(), closed_schema(*place)):
        errors = Draft202012Validator(schema).iter_errors(answer)
        assert [f"{error.json_path}: {error.message}" for error in errors] == []


def test_the_recordings_hold_enough_to_judge_by() -> None:
    """A recording that cannot be read any more is no reason for these tests to pass."""
    assert len(DOCUMENTS) > 250
    assert len({name for _, name, _ in DOCUMENTS}) > 20
    assert sum(name == "error" for _, name, _ in DOCUMENTS) > 100
