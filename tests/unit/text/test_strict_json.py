"""Strict JSON: what two readers could read differently is refused, each violation by its kind."""

from __future__ import annotations

import json

import pytest

from loopx_host.core.strict_json import JsonViolation, parse_object


def kind_of(data: bytes) -> str:
    with pytest.raises(JsonViolation) as caught:
        parse_object(data)
    return caught.value.kind


def nested(levels: int, opening: str = "[", closing: str = "]") -> bytes:
    """Return an object whose deepest value is `levels` deep, the object itself included."""
    return f'{{"a":{opening * (levels - 1)}{closing * (levels - 1)}}}'.encode()


def test_one_object_is_returned_as_it_is() -> None:
    data = ' {"a": [1, -0.5, true, null, "é"], "": {}}\r\n\t'.encode()

    assert parse_object(data) == {"a": [1, -0.5, True, None, "é"], "": {}}


@pytest.mark.parametrize("data", [b"", b" ", b"\r\n\t "])
def test_nothing_is_no_document(data: bytes) -> None:
    """run_request_shape (case 88)"""
    assert kind_of(data) == "empty"


@pytest.mark.parametrize("data", [b"[]", b'[{"a": 1}]', b'"a"', b"1", b"1.5", b"true", b"null"])
def test_a_document_that_is_no_object_is_refused(data: bytes) -> None:
    """run_request_shape (case 88)"""
    assert kind_of(data) == "not_an_object"


@pytest.mark.parametrize(
    "data",
    [
        *(b'{"a": 1} x', b'{"a": 1}{"a": 1}', b'{"a": 1},', b"log line\n{}", b"{} // comment", b"{}\x00", b"{}\x0b"),
        *(b"{", b'{"a"}', b"{a: 1}", b"{'a': 1}", b'{"a": 1,}', b'{"a": 01}', b'{"a": .5}', b'{"a": +1}', b"}"),
        *(b'{"a": "\\x41"}', b'{"a": "\\ud80"}', b'{"a": tru}', b"\xc2\xa0{}", b"\xe2\x80\xa8{}"),
    ],
)
def test_text_that_is_not_one_json_document_is_refused(data: bytes) -> None:
    """run_request_shape (case 88): trailing text and the rest"""
    assert kind_of(data) == "syntax"


@pytest.mark.parametrize("control", range(0x20))
def test_a_raw_control_character_in_a_string_is_refused(control: int) -> None:
    """run_request_shape (case 88)"""
    assert kind_of(b'{"a": "' + bytes([control]) + b'"}') == "syntax"
    assert kind_of(b'{"a' + bytes([control]) + b'": 1}') == "syntax"


def test_a_byte_order_mark_is_refused() -> None:
    assert kind_of(b"\xef\xbb\xbf{}") == "byte_order_mark"


@pytest.mark.parametrize(
    "data",
    [
        *(b"\xff", b'{"a": "\xff"}', b'{"\xc3": 1}', b'{"a": "\xed\xa0\x80"}', b'{"a": "\xc0\xaf"}'),
        *('{"a": 1}'.encode(encoding) for encoding in ("utf-16", "utf-32", "utf-32-be")),
        b"\xfe\xff" + '{"a": 1}'.encode("utf-16-be"),
        b'{"a": "\xe9"}',
    ],
)
def test_bytes_that_are_not_utf_8_are_refused(data: bytes) -> None:
    """run_request_strict (case 89): UTF-16 and other encodings"""
    assert kind_of(data) in {"encoding", "syntax"}  # UTF-32 of ASCII without a mark is UTF-8 full of NUL


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_another_unicode_encoding_is_named_as_one(encoding: str) -> None:
    assert kind_of('{"a": 1}'.encode(encoding)) == "encoding"


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1, "a": 1}',
        b'{"a": 1, "b": 2, "\\u0061": 3}',
        b'{"x": [{"y": {"": 1, "": 2}}]}',
        b'{"x": ' + b"[" * 60 + b'{"a": 1, "a": 2}' + b"]" * 60 + b"}",
        b'{"x": {"a": 1, "a": 2}, "x": 1}',
    ],
)
def test_a_duplicate_key_is_refused_at_any_depth(data: bytes) -> None:
    """run_request_strict (case 89)"""
    assert kind_of(data) == "duplicate_key"


def test_keys_that_only_look_the_same_are_two() -> None:
    assert len(parse_object('{"e\u0301": 1, "é": 2, "E": 3, "e": 4}'.encode())) == 4


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400 + ".0"])
def test_a_number_that_is_not_finite_is_refused(number: str) -> None:
    """run_request_strict (case 89)"""
    assert kind_of(f'{{"a": {number}}}'.encode()) == "not_finite"
    assert kind_of(f'{{"a": [[{number}]]}}'.encode()) == "not_finite"


@pytest.mark.parametrize("number", ["1e308", "-1.7976931348623157e308", "1e-999", "0." + "1" * 5000])
def test_a_finite_number_passes(number: str) -> None:
    assert parse_object(f'{{"a": {number}}}'.encode()) == {"a": float(number)}


@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_of_4300_digits_passes_and_one_more_is_refused(sign: str) -> None:
    """run_request_strict (case 89): huge int"""
    longest = sign + "9" * 4300

    assert parse_object(f'{{"a": {longest}}}'.encode()) == {"a": int(longest)}
    assert kind_of(f'{{"a": {longest}9}}'.encode()) == "integer_too_long"


def test_digits_inside_a_string_are_no_number() -> None:
    assert parse_object(b'{"a": "' + b"9" * 4301 + b'"}') == {"a": "9" * 4301}


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"b":[', "]}]")])
def test_64_levels_pass_and_65_are_refused(opening: str, closing: str) -> None:
    """run_request_strict (case 89): deep nesting"""
    step = sum(opening.count(bracket) for bracket in "[{")
    passing = (f'{{"a":{opening * (63 // step)}' + "1" + f"{closing * (63 // step)}}}").encode()
    refused = (f'{{"a":{opening * (64 // step + 1)}' + "1" + f"{closing * (64 // step + 1)}}}").encode()

    assert parse_object(passing)["a"]
    assert kind_of(refused) == "too_deep"


def test_the_limit_of_depth_is_exact_for_empty_containers() -> None:
    assert "a" in parse_object(nested(64))
    assert kind_of(nested(65)) == "too_deep"


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert len(parse_object(b'{"a": [' + b"[],{}," * 1000 + b'1], "b": 1}')) == 2


def test_brackets_inside_a_string_are_no_levels() -> None:
    assert parse_object(b'{"a": "' + b"[{" * 1000 + b'"}') == {"a": "[{" * 1000}


@pytest.mark.parametrize(
    "data",
    [b"[" * 900_000, b'{"a":' * 180_000, b"[" * 450_000 + b"]" * 450_000, b'{"a":' + b"[" * 500 + b"]" * 500 + b"}"],
)
def test_hostile_depth_is_a_violation_and_no_crash(data: bytes) -> None:
    """run_request_strict (case 89): deep nesting"""
    assert kind_of(data) == "too_deep"


@pytest.mark.parametrize("escape", ["\\ud800", "\\udfff", "\\udc00\\ud800", "x\\uD83Dx", "\\ud83d\\ud83d\\ude00"])
def test_a_lone_surrogate_is_refused_in_values_and_keys_at_any_depth(escape: str) -> None:
    for text in ('{"a": "%s"}', '{"%s": 1}', '{"a": [{"b": ["%s"]}]}', '{"a": [{"b": {"%s": 1}}]}'):
        assert kind_of((text % escape).encode()) == "lone_surrogate"


def test_pairs_nul_and_escaped_backslashes_are_no_lone_surrogates() -> None:
    data = b'{"pair": "\\ud83d\\ude00", "nul": "\\u0000", "text": "\\\\ud800", "bell": "\\u0007\\b\\/"}'

    assert parse_object(data) == {"pair": "😀", "nul": "\0", "text": "\\ud800", "bell": "\x07\b/"}


def test_a_violation_is_a_value_error_with_one_clause() -> None:
    with pytest.raises(ValueError, match=r"^[^\n]{1,200}$"):
        parse_object(json.dumps({"a": 1}).encode() + b'{"' + b"k" * 10_000)


def test_a_long_duplicate_key_is_shortened_in_the_message() -> None:
    key = b'"' + b"k" * 100_000 + b'": 1'

    with pytest.raises(JsonViolation) as caught:
        parse_object(b"{" + key + b"," + key + b"}")

    assert len(str(caught.value)) < 200
