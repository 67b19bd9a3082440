r"""Whether a JSON value holds private material or a path of somebody's home; the one classifier.

It finds what is there by accident. Text that was encoded on purpose passes, so it is a net and no proof.

By name, in any spelling (``apiKey``, ``api_key``, ``API-Key``), unless the value is null, a boolean or empty:

- a name that ends in password, passwd, passphrase, secret, token, cookie, authorization, api key, access key or
  secret key, or that speaks of a credential or a private key: `credential-name`. Counts are not names of secrets:
  ``tokens``, ``token_count`` and ``max_tokens`` pass, and so do the plurals of the others over a number;
- a name that ends in response body or raw body: `raw-body-name`.

By value, in texts and in names themselves:

- the credential shapes that are also redacted from standard error (`core.text.credential_shapes`), each under its
  own kind: private keys in PEM, URLs with a password, JSON web tokens, keys of well-known services, authorization
  headers, and a secret named beside its value. Those last two occur in prose (``basic knowledge``, ``token: any``)
  and count only when the value looks like a secret: it is assigned with ``=`` or quoted, or it mixes letters and
  digits over at least seven characters. A placeholder (``$NAME``, ``<name>``, ``***``, ``none``, one that was
  redacted) is no secret, and neither is a number beside the word token;
- a path in a home directory (``/home/x``, ``/Users/x``, ``/root/x``, ``C:\Users\x``, ``~/x``): `home-path`;
- a ``file://`` address: `file-url`.

What cannot be looked at is not passed over: `too-deep`, `too-large`, `not-json`.
"""

from __future__ import annotations

import re

from loopx_host.core.limits import DEPTH
from loopx_host.core.text import credential_shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Match, Pattern

    Finding = dict[str, str]

CREDENTIAL_NAME, RAW_BODY_NAME = "credential-name", "raw-body-name"
HOME_PATH, FILE_URL = "home-path", "file-url"
TOO_DEEP, TOO_LARGE, NOT_JSON = "too-deep", "too-large", "not-json"
PATH_KINDS = frozenset({HOME_PATH, FILE_URL})

CREDENTIAL_NAMES = (
    *("password", "passwd", "passphrase", "passwordhash", "secret", "token", "cookie", "authorization"),
    *("authorizationheader", "apikey", "accesskey", "secretkey", "credential", "credentials", "privatekey"),
)
CREDENTIAL_PLURALS = ("passwords", "secrets", "cookies", "apikeys", "accesstokens")
CREDENTIAL_PARTS = ("credential", "privatekey")
RAW_BODY_NAMES = (("response", "body"), ("responsebody",), ("raw", "body"), ("rawbody",))
PATH_SHAPES = (
    (
        HOME_PATH,
        (
            r"(?<![\w.~/\\-])(?:/(?:home|Users|root|mnt/[a-z]/Users)/|~/)[^\s/\\]"
            r"|(?<!\w)[A-Za-z]:[\\/]{1,4}(?i:Users|Documents and Settings)[\\/]{1,4}[^\s\\/]"
        ),
    ),
    (FILE_URL, r"(?i:\bfile://)[^\s]"),
)

_NODES, _CHARACTERS, _ROWS = 200_000, 4_000_000, 100
_DECOYS = 200  # how often one text may look like a secret and be none; then it is not looked at any longer
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[0-9]+")
_SHOWN = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PLACEHOLDER = re.compile(
    r"\$\{?[A-Za-z_]{1,64}\}?|<[^<>]{0,80}>?|[*.x…•]{3,}|‹redacted:[a-z-]{1,20}›"
    r"|(?i:none|null|nil|true|false|required|optional|redacted|hidden|unset|undefined|missing)"
)
_HEADER = re.compile(r"authorization[\"']?\s{0,4}:\s{0,4}[\"']?$", re.IGNORECASE)
_IN_PROSE = ("secret", "authorization")  # kinds of shapes that ordinary sentences have too
_OPAQUE_LENGTH, _LONG = 7, 16

_paths: list[tuple[str, Pattern[str]]] = []


def findings(value: object, *, allow_paths: bool = False) -> list[Finding]:
    """Return rows of JSON pointer and kind, in the order of the pointers; empty when nothing was found.

    No row repeats what it found: a name that is not a plain one is written ``‹name›``. `allow_paths` leaves out the
    kinds in `PATH_KINDS`. A value too large to be looked at is one row of its own; of many rows the first hundred
    are returned.
    """
    found: set[tuple[str, str]] = set()
    waiting: list[tuple[str, object, int]] = [("", value, 0)]
    nodes = characters = 0
    while waiting:
        pointer, node, depth = waiting.pop()
        nodes += 1
        if isinstance(node, str):
            characters += len(node)
            found |= {(pointer, kind) for kind in kinds_of_text(node)}
        elif isinstance(node, (dict, list)):
            nodes += len(node)
            if depth == DEPTH and node:
                found.add((pointer, TOO_DEEP))
            elif isinstance(node, dict):
                for name, child in node.items():
                    characters += len(str(name))
                    below, kinds = _member(pointer, name, child)
                    found |= {(below, kind) for kind in kinds}
                    waiting.append((below, child, depth + 1))
            else:
                waiting += [(f"{pointer}/{index}", child, depth + 1) for index, child in enumerate(node)]
        elif node is not None and not isinstance(node, (bool, int, float)):
            found.add((pointer, NOT_JSON))
        if nodes > _NODES or characters > _CHARACTERS:
            return [{"pointer": "", "kind": TOO_LARGE}]
    kept = sorted(row for row in found if not allow_paths or row[1] not in PATH_KINDS)
    return [{"pointer": pointer, "kind": kind} for pointer, kind in kept[:_ROWS]]


def kinds_of_text(text: str) -> set[str]:
    """Return the kinds of private material in one text."""
    kinds = {kind for kind, shape in credential_shapes() if _holds(text, kind, shape)}
    return kinds | {kind for kind, shape in _path_shapes() if shape.search(text)}


def kind_of_name(name: str) -> str | None:
    """Return the kind of private material that a value of this name is, or None."""
    words = [word.lower() for word in _WORDS.findall(name)]
    whole = "".join(words)
    if whole.endswith((*CREDENTIAL_NAMES, *CREDENTIAL_PLURALS)) or any(part in whole for part in CREDENTIAL_PARTS):
        return CREDENTIAL_NAME
    if any(tuple(words[-len(ending) :]) == ending for ending in RAW_BODY_NAMES):
        return RAW_BODY_NAME
    return None


def _member(pointer: str, name: object, value: object) -> tuple[str, set[str]]:
    """Return the pointer of a member, which never repeats a name that may be private itself, and its kinds."""
    if not isinstance(name, str):
        return f"{pointer}/‹name›", {NOT_JSON}
    kinds = kinds_of_text(name)
    shown = name if _SHOWN.fullmatch(name) and not kinds else "‹name›"
    kind = kind_of_name(name)
    if kind is not None and _is_content(value) and not (_is_number(value) and _is_plural(name)):
        kinds.add(kind)
    return f"{pointer}/{shown}", kinds


def _is_content(value: object) -> bool:
    return value is not None and not isinstance(value, bool) and value not in ("", [], {})


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _is_plural(name: str) -> bool:
    return "".join(_WORDS.findall(name)).lower().endswith(CREDENTIAL_PLURALS)


def _holds(text: str, kind: str, shape: Pattern[str]) -> bool:
    """Whether `text` holds a secret of this shape. A match that is none hides no other one inside itself."""
    at, decoys = 0, 0
    while (match := shape.search(text, at)) is not None:
        if _is_secret(text, kind, match) or decoys == _DECOYS:
            return True
        decoys += 1
        at = match.end("label")
    return False


def _is_secret(text: str, kind: str, match: Match[str]) -> bool:
    if "label" not in match.re.groupindex:
        return True
    label = match["label"]
    end = match.start("rest") if "rest" in match.re.groupindex else match.end()
    secret = text[match.end("label") : min(end, match.end("label") + 256)]
    if _PLACEHOLDER.fullmatch(secret):
        return False
    if kind not in _IN_PROSE:
        return True
    bare = secret.rstrip(".,;:!?)]}")
    if kind == "secret":
        if "token" in label.lower() and bare.replace(",", "").replace(".", "").isdigit():
            return False
        return "=" in label or label.endswith(('"', "'")) or _is_opaque(bare)
    named = _HEADER.search(text[max(0, match.start() - 40) : match.start()]) is not None
    return named or _is_opaque(bare) or bare.endswith("=") or _is_mixed(bare)


def _is_opaque(text: str) -> bool:
    """Whether a word mixes letters and digits as no word does; one that begins with a digit may be a measure."""
    mixes = any(char.isdigit() for char in text) and any(char.isalpha() for char in text)
    return mixes and (len(text) >= _LONG or (len(text) >= _OPAQUE_LENGTH and text[0].isalpha()))


def _is_mixed(text: str) -> bool:
    """Whether capitals stand inside a word that has small letters."""
    return any(char.isupper() for char in text[1:]) and any(char.islower() for char in text)


def _path_shapes() -> list[tuple[str, Pattern[str]]]:
    if not _paths:
        _paths[:] = [(kind, re.compile(shape)) for kind, shape in PATH_SHAPES]
    return _paths
