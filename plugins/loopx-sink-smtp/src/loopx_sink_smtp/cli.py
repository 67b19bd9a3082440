"""The provider process of the SMTP sink."""

from __future__ import annotations

import os
from collections.abc import Mapping

from loopx_periodic_report import process
from loopx_periodic_report.sink import read_delivery

from loopx_host import Effect
from loopx_sink_smtp import mail

MANIFEST_ID = "loopx-sink-smtp"
DOCTOR_DELIVERY = {
    "report_id": "doctor",
    "content_type": "text/plain",
    "text": "ok",
    "body_sha256": "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df",
    "target_key": "report:mailto/doctor@example.invalid",
    "idempotency_key": "doctor-0",
}


def main() -> int:
    """Serve one call."""
    return process.main({"deliver": delivered}, MANIFEST_ID, doctor)


def delivered(given: Mapping[str, object], _references: dict[str, str]) -> Effect:
    """Send one report through the server that the environment names, and return its receipt."""
    return Effect(mail.deliver(given, os.environ))


def doctor() -> str | None:
    """Compose a known message; return what is wrong, or None. Connects to nothing and reads no credential."""
    from datetime import UTC, datetime

    server = mail.Server("localhost", 25, "loopx@example.invalid", starttls=True, username=None, password=None)
    composed = mail.compose(read_delivery(DOCTOR_DELIVERY), server, datetime(2026, 1, 5, tzinfo=UTC))
    kept = [part.get_payload(decode=True) for part in composed.iter_attachments()]
    return None if kept == [b"ok"] else "the report did not survive in the message"


if __name__ == "__main__":
    raise SystemExit(main())
