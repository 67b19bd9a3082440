"""Why a file beside a manifest could not be read."""

from __future__ import annotations


class FolderError(Exception):
    """`kind` is `missing`, `not_regular`, `too_large`, `outside` or `unreadable`; the message is a clause."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
