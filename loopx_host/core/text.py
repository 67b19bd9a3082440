"""Make hostile text safe to show: escapes for what a terminal obeys, redaction of credential shapes."""

from __future__ import annotations

from loopx_host.core.limits import STDERR_TAIL_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern

# Separators that `str.isprintable` rejects although they are only white space to a reader.
_SPACES = frozenset(
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
_ONE_BYTE, _TWO_BYTES = 0xFF, 0xFFFF
_BYTE_ESCAPES = range(0xDC80, 0xDD00)  # how `surrogateescape` spells a byte that is not UTF-8

_credentials: list[tuple[str, Pattern[str]]] = []


def visible(text: str, keep: str = "", *, exact: bool = False) -> str:
    r"""Return `text` with controls, bidi overrides and lone surrogates written out as escapes.

    A byte that is not UTF-8 becomes ``\xNN``. Characters in `keep` (usually a line feed) stay. With `exact` no
    text looks like the escapes of another: a backslash is doubled, and spaces of other widths are written out too.
    """
    if exact:
        return "".join(_exact(char, keep) for char in text)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in _SPACES or char in keep else _escape(char) for char in text)


def _exact(char: str, keep: str) -> str:
    if char in keep:
        return char
    return "\\\\" if char == "\\" else char if char.isprintable() else _escape(char)


def _escape(char: str) -> str:
    point = ord(char)
    if point in _BYTE_ESCAPES:
        return f"\\x{point - 0xDC00:02x}"
    if point <= _ONE_BYTE:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= _TWO_BYTES else f"\\U{point:08x}"


def one_line(text: str, limit: int = 200) -> str:
    """Return `text` on one visible line of at most `limit` characters, for use inside a sentence."""
    shown = visible(text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def redact(text: str) -> str:
    """Replace what has the shape of a credential by ``‹redacted:kind›``."""
    for kind, pattern in credential_shapes():
        text = pattern.sub(_replacement(kind, pattern), text)
    return text


def _replacement(kind: str, pattern: Pattern[str]) -> str:
    """Return the template of a replacement, which keeps what the shape needs around the secret."""
    label, rest = (rf"\g<{name}>" if name in pattern.groupindex else "" for name in ("label", "rest"))
    return f"{label}‹redacted:{kind}›{rest}"


def credential_shapes() -> list[tuple[str, Pattern[str]]]:
    """Return the one table of credential shapes, compiled once and only when text is to be looked at.

    A group `label` is what stands before the secret, a group `rest` what follows it.

    Every repetition is bounded or over a class disjoint from what follows it, so that hostile text costs
    linear time.
    """
    if _credentials:
        return _credentials
    import re

    shapes = (
        (
            "private-key",
            (
                r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?=-----|\Z)"
                r"(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
            ),
        ),
        ("url-password", r"(?P<label>\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]{0,128}:)[^\s/@]{1,256}(?P<rest>@)"),
        ("authorization", r"(?i)(?P<label>\b(?:bearer|basic)\s{1,4})[a-z0-9._~+/-]{8,}={0,2}"),
        ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"),
        ("aws-key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
        ("slack-token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
        ("api-key", r"\bsk-[A-Za-z0-9_-]{16,}"),
        (
            "secret",
            (
                # Not the file /etc/passwd, nor to tokenize.
                r"(?i)(?P<label>(?<!/)(?:passw(?:or)?d|secret|token(?!i[sz])|(?:api|access)[_-]?key)"
                r"[a-z0-9_]{0,20}\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?)"
                r"(?:(?<=\")[^\"\r\n]++|(?<=')[^'\r\n]++|[^\s\"',;]{3,})"
            ),
        ),
    )
    _credentials[:] = [(kind, re.compile(shape)) for kind, shape in shapes]
    return _credentials


def stderr_tail(data: bytes) -> str | None:
    """Return the end of a provider's standard error, cleaned and at most 4 KiB of UTF-8, or None if empty.

    Credentials are redacted before the cut, so that a cut through one cannot hide its shape.
    """
    if not data:
        return None
    clean = redact(data.decode("utf-8", "replace"))
    return _last_bytes(visible(clean[-STDERR_TAIL_BYTES:], keep="\n\t"), STDERR_TAIL_BYTES)


def excerpt(data: bytes, limit: int = 160) -> str:
    """Return the beginning of a provider's output on one clean line, for a receipt's `error`."""
    return one_line(redact(data.decode("utf-8", "replace")), limit)


def _last_bytes(text: str, limit: int) -> str:
    encoded = text.encode("utf-8")
    return text if len(encoded) <= limit else encoded[-limit:].decode("utf-8", "ignore")
