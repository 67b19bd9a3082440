"""SHA-256 without the price of hashlib (3 ms of OpenSSL on every start); the same digests."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Hash(Protocol):
        """What a hash object of any of the three modules can do."""

        def update(self, data: bytes, /) -> None:
            """Take more bytes."""

        def hexdigest(self) -> str:
            """Return the digest so far."""
            ...


_sha256: Callable[[], Hash] | None = None


def new() -> Hash:
    """Return an empty SHA-256 of the cheapest module this interpreter has."""
    global _sha256  # noqa: PLW0603 (looking a module up that is not there costs 0.2 ms every time)
    if _sha256 is None:
        _sha256 = _cheapest()
    return _sha256()


def _cheapest() -> Callable[[], Hash]:
    try:
        from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]  # 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore,no-redef]  # 3.11
        except ImportError:
            from hashlib import sha256
    made: Callable[[], Hash] = sha256
    return made


def sha256_hex(data: bytes) -> str:
    """Return the 64 lower-case hex digits of SHA-256 over `data`."""
    hashed = new()
    hashed.update(data)
    return hashed.hexdigest()
