"""The provider process of the directory sink."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

from loopx_periodic_report import process

from loopx_host import Effect
from loopx_sink_directory.folder import REFERENCE, TARGET, deliver, probe

if TYPE_CHECKING:
    from loopx_periodic_report.sink import ProbeObservation

MANIFEST_ID = "loopx-sink-directory"
DOCTOR_NAMED = {
    "report_id": "doctor",
    "content_type": "text/plain",
    "body_sha256": "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df",
    "target_key": TARGET,
}


def main() -> int:
    """Serve one call."""
    return process.main({"deliver": delivered, "probe": probed}, MANIFEST_ID, doctor)


def delivered(given: Mapping[str, object], references: dict[str, str]) -> Effect:
    """Write one report and return its receipt."""
    return Effect(deliver(given, references))


def probed(given: Mapping[str, object], references: dict[str, str]) -> list[ProbeObservation]:
    """Return the one observation of `probe`."""
    return [probe(given, references)]


def doctor() -> str | None:
    """Deliver a known report into a private directory and read it back; return what is wrong, or None."""
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:  # the one place a probe may write
        references = {REFERENCE: folder}
        before = probe(DOCTOR_NAMED, references)["present"]
        deliver({**DOCTOR_NAMED, "text": "ok", "idempotency_key": "doctor-0"}, references)
        after = probe(DOCTOR_NAMED, references)["present"]
    return None if (before, after) == (False, True) else "a delivered report was not read back"


if __name__ == "__main__":
    raise SystemExit(main())
