"""Laws of manifests: whatever is valid loads to the expected normal form, whatever is damaged is refused by code."""

from __future__ import annotations

import copy
import json
import string
import unicodedata
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from loopx_host.core.codes import CODES, PROBLEM_CODES
from loopx_host.core.errors import Refused
from loopx_host.registry.load import load
from loopx_host.registry.manifest import Manifest
from tests.support.manifests import (
    NAME,
    Document,
    MemoryFolder,
    expected_form,
    key_text,
    minimal,
    revision_of,
    to_toml,
    value_text,
)

# --- valid manifests -------------------------------------------------------------------------------------

WORD = string.ascii_lowercase + string.digits
FILES = {"schemas/a.json": b'{"type": "object"}', "b.json": b"{}"}

shown = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12)
lines = shown.filter(lambda text: bool(text.strip()))
printable = lines.filter(lambda text: text.strip().isprintable())
padded = st.builds(
    "{}{}{}".format, st.sampled_from(["", " ", "\t", "\n "]), lines, st.sampled_from(["", " ", "\r\n"])
)
ids = st.from_regex(r"\A[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,4}){0,2}\Z").filter(lambda name: name != "loopx")
protocols = st.from_regex(r"\A[a-z][a-z0-9_]{0,8}_v[0-9]{1,2}\Z")
tokens = st.from_regex(r"\A[a-z][a-z0-9_]{0,5}(\.[a-z0-9_]{1,4})?(:[a-z][a-z0-9-]{0,4})?\Z")
names = st.from_regex(r"\A[A-Z_][A-Z0-9_]{0,8}\Z")
arguments = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=8), max_size=3
)
folders = st.from_regex(r"\A[a-z]{1,5}(/[a-z]{1,5}){0,2}\Z")
pages = folders.map("{}.md".format)
apis = st.sampled_from(["1", "==1", ">=1,<2", " >= 1 , < 2 ", ">0", "<=1"])


def some(
    required: dict[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]
) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries(required, optional=optional)


additions: dict[str, st.SearchStrategy[Any]] = {
    "args": arguments,
    "doctor_args": arguments,
    "timeout_seconds": st.integers(1, 120),
    "doctor_timeout_seconds": st.integers(1, 120),
    "memory_limit_mb": st.integers(16, 1_048_576),
    "open_files_limit": st.integers(16, 65_536),
    "env": st.lists(names, max_size=3),
    "request_schema": st.sampled_from(sorted(FILES)),
    "response_schema": st.sampled_from(sorted(FILES)),
    "requires": st.dictionaries(st.sampled_from(["node", "git"]), st.sampled_from([">=22.22.3", "== 2", ">1,<3"])),
    "x-free": st.integers() | lines,
}
runtimes = some({"protocol": protocols, "entrypoint": ids}, **additions) | some(
    {"protocol": protocols, "python_module": st.sampled_from(["sample", "sample.provider"])}, **additions
)
texts = dict.fromkeys(("kind", "title", "status", "user_value", "next_real_step"), padded)
anchors = {"real_world_anchor": padded, "entry_command": padded}
capabilities = some({"id": ids, **texts, **anchors, "visibility": st.just("public")}) | some(
    {"id": ids, **texts, "visibility": st.just("internal")}, **anchors
)
descriptions = some(
    {"source_root": folders, "site_root": folders, "canonical": pages},
    aliases=st.lists(pages, unique=True, max_size=3),
)
surfaces = some(
    {
        "id": ids,
        "kind": st.just("board"),
        "title": st.just("Board"),
        "view_schema": protocols,
        "view_validator": st.just("sample.views:check"),
        "visibility": st.sampled_from(["public-safe", "owner-only"]),
        "empty_state_title": st.just("Nothing yet"),
        "empty_state_detail": st.just("Publish some."),
    }
)


@st.composite
def manifests(draw: st.DrawFn) -> Document:
    """Draw a manifest that keeps every rule."""
    document: Document = {
        "schema_version": "loopx_extension_manifest_v0",
        "id": draw(ids),
        "version": draw(printable),
        "requires_loopx_api": draw(apis),
    }
    if draw(st.booleans()):
        document["permissions"] = draw(st.lists(tokens, max_size=3))
    provided = draw(st.lists(capabilities, max_size=2, unique_by=lambda row: row["id"]))
    if provided:
        document["provides"] = provided
    if not provided or draw(st.booleans()):
        runtime = draw(runtimes)
        declared = document.get("permissions", [])
        if declared and draw(st.booleans()):
            runtime["required_permissions"] = draw(st.lists(st.sampled_from(declared), max_size=2))
        document["runtime"] = runtime
        if draw(st.booleans()):
            document["implements"] = [{"capability_id": draw(ids), "protocol": runtime["protocol"]}]
        if draw(st.booleans()):
            document["presentation_surfaces"] = [draw(surfaces)]
    if draw(st.booleans()):
        document["documentation"] = draw(descriptions)
    return document


def read(text: str | bytes, files: dict[str, bytes] = FILES) -> Manifest:
    return load(MemoryFolder({NAME: text.encode() if isinstance(text, str) else text, **files}), NAME)


@given(manifests())
def test_a_valid_manifest_loads_to_its_normal_form_and_revision(document: Document) -> None:
    manifest = read(to_toml(document))

    assert manifest.form == expected_form(document, FILES)
    assert manifest.revision == revision_of(manifest.form)


def shuffled(draw: st.DrawFn, document: Document) -> Document:
    items = draw(st.permutations(list(document.items())))
    return {
        key: shuffled(draw, value)
        if isinstance(value, dict)
        else [shuffled(draw, row) if isinstance(row, dict) else row for row in value]
        if isinstance(value, list)
        else value
        for key, value in items
    }


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, str]:
    """Draw two texts of one manifest: as written, and with other order, blanks, comments and line ends."""
    document = draw(manifests())
    written = to_toml(document)
    other = []
    for line in to_toml(shuffled(draw, document)).removesuffix("\n").split("\n"):
        comment = draw(st.sampled_from(["", "", " # note", '\t# """ [x] \'y\'']))
        indent = draw(st.sampled_from(["", "", "  ", "\t", "\n# [[provides]]\n"]))
        end = draw(st.sampled_from(["\n", "\r\n"]))
        other.append(f"{indent}{line}{comment}{end}")
    return written, "".join(other)


@given(spellings())
def test_order_blanks_comments_and_line_ends_do_not_change_the_normal_form(pair: tuple[str, str]) -> None:
    one, other = (read(text) for text in pair)

    assert one.form == other.form
    assert one.revision == other.revision


@given(manifests())
def test_a_manifest_in_inline_tables_is_the_same_manifest(document: Document) -> None:
    inline = "".join(f"{key_text(key)} = {value_text(value)}\n" for key, value in document.items())

    assert read(inline).revision == read(to_toml(document)).revision


@given(manifests())
def test_the_snapshot_holds_exactly_the_files_the_normal_form_names(document: Document) -> None:
    manifest = read(to_toml(document))

    runtime: Any = manifest.form["runtime"] or {}
    named = {runtime[key]["sha256"] for key in ("request_schema", "response_schema") if key in runtime}
    assert set(manifest.snapshot) == named


# --- damaged manifests -----------------------------------------------------------------------------------


def outcome(data: bytes, files: dict[str, bytes] = FILES) -> str:
    """Return `loaded` or the code of the refusal, whose document is checked; anything else is an error."""
    try:
        manifest = read(data, files)
    except Refused as refused:
        document = refused.document
    else:
        assert all(problem.code in PROBLEM_CODES for problem in manifest.warnings)
        return "loaded"
    assert document["code"] in CODES
    rows = document.get("problems", [])
    assert isinstance(rows, list)
    assert all(row["code"] in PROBLEM_CODES for row in rows)
    text = data.decode("utf-8", "replace")
    assert all(row["line"] is None or 1 <= row["line"] <= text.count("\n") + 1 for row in rows)
    shown = {unicodedata.category(char) for row in rows for char in f"{row['summary']}{row['pointer']}"}
    assert shown.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})
    json.dumps(document).encode("ascii")
    return str(document["code"])


odd_scalars = st.one_of(
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    st.sampled_from(["", " ", "\0", "../x", "/", "x" * 2000, "\u202e", "http://a", 10**30, -1]),
)
odd = st.recursive(
    odd_scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(lines, inner, max_size=3), max_leaves=6
)


def nodes(value: Any) -> list[Any]:
    """Return every table and array of `value`, itself included."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    below = [node for child in children for node in nodes(child)]
    return [value, *below] if isinstance(value, (dict, list)) else below


@st.composite
def damaged(draw: st.DrawFn) -> Document:
    """Draw a manifest with up to three keys deleted, retyped, renamed or added anywhere."""
    document = copy.deepcopy(draw(manifests()))
    for _ in range(draw(st.integers(1, 3))):
        node = draw(st.sampled_from(nodes(document)))
        if not node:
            continue
        at = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        match draw(st.sampled_from(["delete", "replace", "rename", "add"])):
            case "delete":
                del node[at]
            case "replace":
                node[at] = draw(odd)
            case "rename" if isinstance(node, dict):
                node[draw(lines)] = node.pop(at)
            case _ if isinstance(node, dict):
                node[draw(lines | st.just(f"{at}s"))] = draw(odd)
            case _:
                node.append(draw(odd))
    return document


@given(damaged())
def test_a_damaged_manifest_loads_or_is_refused_by_a_known_code(document: Document) -> None:
    code = outcome(to_toml(document).encode())

    assert code in {"loaded", "manifest_invalid", "api_incompatible", "manifest_too_deep"}


@given(damaged(), st.lists(st.tuples(st.integers(0, 2000), st.binary(max_size=3), st.integers(0, 4)), max_size=4))
@example(minimal(), [(0, b"\xef\xbb\xbf", 0)])
@example(minimal(), [(3, b"\xff", 0)])
@example(minimal(), [(0, b"a = 0x" + b"f" * 9000 + b"\n", 0)])
@example(minimal(), [(0, b"a = 1979-05-27T00:60:00\n", 0)])
@example(minimal(), [(0, b'"\\u0000\\n" = nan\n', 0)])
def test_raw_noise_in_a_manifest_loads_or_is_refused_by_a_known_code(
    document: Document, noise: list[tuple[int, bytes, int]]
) -> None:
    data = bytearray(to_toml(document).encode())
    for position, inserted, dropped in noise:
        at = position % (len(data) + 1)
        data[at : at + dropped] = inserted

    assert outcome(bytes(data)) in {"loaded", *CODES}


@given(st.binary(max_size=80) | st.text("abx-_.=[]{}\"'#\n\\u0189", max_size=80).map(str.encode))
def test_noise_is_refused_by_a_known_code(data: bytes) -> None:
    assert outcome(data) in CODES


@given(st.binary(max_size=60) | odd.map(lambda value: json.dumps({"$ref": value}).encode()))
@example(b'{"$ref": "a\\u0000b"}')
@example(b'{"$ref": "' + b"a/" * 900 + b'b"}')
def test_any_schema_file_loads_or_is_refused_by_a_known_code(data: bytes) -> None:
    text = to_toml(minimal(request_schema="a.json"))

    assert outcome(text.encode(), {"a.json": data}) in {"loaded", "manifest_invalid"}
