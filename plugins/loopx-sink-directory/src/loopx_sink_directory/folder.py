"""Reports as files of one directory: written whole or not at all, never over another one, and read back."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from loopx_periodic_report.sink import BODY_BYTES, Delivery, Named, observation, read_delivery, read_probe, receipt

from loopx_host import OperationFailed

REFERENCE = "reports"
TARGET = f"report:folder/{REFERENCE}"
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EACCES}

if TYPE_CHECKING:
    from loopx_periodic_report.sink import EffectReceipt, ProbeObservation


def deliver(given: Mapping[str, object], references: dict[str, str]) -> EffectReceipt:
    """Write the report unless it is there, and return the effect receipt. Raises OperationFailed."""
    delivery = read_delivery(given)
    with _directory(delivery, references) as directory:
        found = _digest(directory, delivery.file_name)
        if found is None:
            _write(directory, delivery)
        elif found != delivery.body_sha256:
            raise _exists(delivery)
    evidence = {"file": delivery.file_name, "bytes": len(delivery.body), "already_there": found is not None}
    return receipt(delivery, "readable", evidence)


def probe(given: Mapping[str, object], references: dict[str, str]) -> ProbeObservation:
    """Return whether the file with that digest is there. Raises OperationFailed."""
    named = read_probe(given)
    with _directory(named, references) as directory:
        found = _digest(directory, named.file_name)
    present = found == named.body_sha256
    return observation(named, present=present, other=found is not None and not present)


@contextmanager
def _directory(named: Named, references: dict[str, str]) -> Iterator[int]:
    if named.target_key != TARGET:
        raise OperationFailed("target_invalid", f"target_key is not {TARGET}")
    path = references.get(REFERENCE)
    if path is None:
        raise OperationFailed("reference_missing", f"the request names no context reference {REFERENCE}")
    try:
        opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _unusable(error) from None
    try:
        yield opened
    finally:
        os.close(opened)


def _digest(directory: int, name: str) -> str | None:
    """Return the digest of a report that is there, or None. What is there but no report is refused."""
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(error) from None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OperationFailed("target_unusable", "what has the name of the report is not a regular file")
        with open(opened, "rb", closefd=False) as file:
            data = file.read(BODY_BYTES + 1)
    except OSError as error:
        raise _unusable(error) from None
    finally:
        os.close(opened)
    return hashlib.sha256(data).hexdigest() if len(data) <= BODY_BYTES else ""


def _write(directory: int, delivery: Delivery) -> None:
    """Write a draft, then give it its name; a draft that this effect left behind earlier is replaced."""
    mark = hashlib.sha256(delivery.idempotency_key.encode()).hexdigest()[:16]
    draft = f".{delivery.file_name}.{mark}.part"
    try:
        _remove(directory, draft)
        _draft(directory, draft, delivery.body)
        named = _name(directory, draft, delivery.file_name)
    except OSError as error:
        with suppress(OSError):
            _remove(directory, draft)
        raise _unusable(error) from None
    if not named and _digest(directory, delivery.file_name) != delivery.body_sha256:
        raise _exists(delivery)
    with suppress(OSError):
        os.fsync(directory)  # not every file system can, and the file has its name already


def _draft(directory: int, draft: str, body: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(draft, flags, 0o644, dir_fd=directory), "wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def _name(directory: int, draft: str, name: str) -> bool:
    """Give the draft its name unless another file has it, and return whether it was given."""
    try:
        os.link(draft, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError:
        _remove(directory, draft)
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.rename(draft, name, src_dir_fd=directory, dst_dir_fd=directory)  # a file system without hard links
        return True
    with suppress(OSError):
        _remove(directory, draft)
    return True


def _remove(directory: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)


def _exists(delivery: Delivery) -> OperationFailed:
    return OperationFailed(
        "report_exists", f"{delivery.file_name} is there with another content; it was left as it is"
    )


def _unusable(error: OSError) -> OperationFailed:
    reason = errno.errorcode.get(error.errno or 0, "unknown")
    return OperationFailed("target_unusable", f"the directory of the reports cannot be used ({reason})")
