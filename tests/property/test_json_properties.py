"""Laws of strict JSON for documents nobody thought of."""

from __future__ import annotations

import json
import math

from hypothesis import example, given
from hypothesis import strategies as st

from loopx_host.core.canonical import canonical_bytes, canonical_digest
from loopx_host.core.strict_json import JsonViolation, parse_object
from tests.support.manifests import canonical, sha256

KINDS = {
    "empty",
    "byte_order_mark",
    "encoding",
    "syntax",
    "duplicate_key",
    "not_finite",
    "integer_too_long",
    "too_deep",
    "lone_surrogate",
    "not_an_object",
}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=20
)
objects = st.dictionaries(texts, values, max_size=5)


def strict(data: bytes) -> dict[str, object] | None:
    """Return the object in `data`, or None when it is a violation of a known kind."""
    kind, message = None, ""
    try:
        return parse_object(data)
    except JsonViolation as violation:
        kind, message = violation.kind, str(violation)
    assert kind in KINDS
    assert "\n" not in message
    return None


@given(objects, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_a_valid_object_comes_back_as_it_went(
    value: dict[str, object], escaped: bool, indent: int | str | None
) -> None:
    data = json.dumps(value, ensure_ascii=escaped, indent=indent).encode()

    read = parse_object(data)

    assert canonical(read) == canonical(value)


@given(objects)
def test_canonical_bytes_parse_to_the_same_canonical_bytes(value: dict[str, object]) -> None:
    data = canonical_bytes(value)

    assert data == canonical(value)
    assert canonical_bytes(parse_object(data)) == data
    assert canonical_digest(value) == sha256(data)


@given(objects)
def test_the_order_of_keys_does_not_change_the_digest(value: dict[str, object]) -> None:
    assert canonical_digest(dict(reversed(value.items()))) == canonical_digest(value)


@given(objects, st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=3), st.integers(0, 3)), max_size=4))
@example({"a": "é"}, [(6, b"\xff", 1)])
@example({"a": 1}, [(0, b"\xef\xbb\xbf", 0)])
@example({"\ud83d\ude00": 1}, [])
def test_damaged_bytes_are_a_violation_or_strict_json(
    value: dict[str, object], damage: list[tuple[int, bytes, int]]
) -> None:
    data = bytearray(json.dumps(value).encode() if len(value) % 2 else canonical(value))
    for position, noise, dropped in damage:
        at = position % (len(data) + 1)
        data[at : at + dropped] = noise

    read = strict(bytes(data))

    assert read is None or strict(canonical_bytes(read)) is not None


@given(st.binary(max_size=60) | st.text('{}[]":,\\ud8019e-.ntr \n', max_size=60).map(str.encode))
def test_noise_is_a_violation_or_strict_json(data: bytes) -> None:
    read = strict(data)

    assert read is None or strict(canonical_bytes(read)) is not None


@given(objects, texts, values)
def test_a_repeated_key_is_refused_wherever_it_stands(value: dict[str, object], key: str, other: object) -> None:
    twice = f"{{{json.dumps(key)}: 1, {json.dumps(key, ensure_ascii=False)}: {json.dumps(other)}}}"
    data = json.dumps([value]).replace("[", f'{{"outer": [{twice}, ', 1) + "}"

    try:
        parse_object(data.encode())
    except JsonViolation as violation:
        kind = violation.kind
    else:
        kind = "none"

    assert kind == "duplicate_key"


@given(st.integers(1, 130), st.data())
def test_depth_is_refused_exactly_above_64(levels: int, data: st.DataObject) -> None:
    text = "1"
    for _ in range(levels - 1):
        text = (
            f"[{text}, 2]"
            if data.draw(st.booleans())
            else f'{{"a": [], "b": {text}}}'
            if levels < 64
            else f"[{text}]"
        )

    read = strict(f'{{"a": {text}}}'.encode())

    assert (read is not None) == (levels <= 64)


@given(st.floats())
def test_only_finite_numbers_have_a_canonical_form(number: float) -> None:
    try:
        data = canonical_bytes({"a": number})
    except ValueError:
        data = b""

    assert bool(data) == math.isfinite(number)
