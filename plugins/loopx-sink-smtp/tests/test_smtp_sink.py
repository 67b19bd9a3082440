"""The SMTP sink against a real server on this machine: the suite of the contract, and what may have left."""
# ruff: noqa: ARG001, ARG002 (the server and the mapping dictate these signatures)

from __future__ import annotations

import email
import hashlib
import json
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from loopx_periodic_report.canonical import encoded
from loopx_periodic_report.sink import read_delivery
from loopx_periodic_report.testing import ProcessSink, ReportSinkContract, Sink
from loopx_sink_smtp import mail

from loopx_host import OperationFailed, governed_request

Json = dict[str, object]

DATA = Path(str(resources.files("loopx_sink_smtp")))
PROFILE = json.loads((DATA / "profile.json").read_text(encoding="utf-8"))
ARGV = [sys.executable, "-m", "loopx_sink_smtp.cli"]
TARGET = "report:mailto/ops@example.org"
SENDER = "loopx@example.net"
LOGIN, PHRASE = "reporter", "correct horse"


class Inbox:
    """What the server took; `refuse` is the reply it gives instead at one step."""

    def __init__(self, **refuse: str) -> None:
        self.refuse = refuse
        self.envelopes: list[Envelope] = []

    async def handle_MAIL(  # noqa: N802 (the server calls it so)
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        return self.refuse.get("mail", "250 OK")

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.rcpt_tos.append(address)
        return self.refuse.get("rcpt", "250 OK")

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if "data" not in self.refuse:
            self.envelopes.append(envelope)
        return self.refuse.get("data", "250 OK")

    @property
    def messages(self) -> list[EmailMessage]:
        return [
            email.message_from_bytes(envelope.content or b"", EmailMessage, policy=SMTP_POLICY)  # type: ignore[arg-type]
            for envelope in self.envelopes
        ]

    def bodies(self) -> list[bytes]:
        found: list[bytes] = []
        for message in self.messages:
            (part,) = message.iter_attachments()
            body = part.get_payload(decode=True)
            assert isinstance(body, bytes)
            found.append(body)
        return found


@contextmanager
def running(inbox: Inbox, **more: Any) -> Iterator[dict[str, str]]:
    """Yield the environment that names a server with this inbox."""
    server = Controller(inbox, hostname="127.0.0.1", port=free_port(), data_size_limit=2_000_000, **more)
    server.start()
    try:
        yield {
            "LOOPX_SMTP_HOST": "127.0.0.1",
            "LOOPX_SMTP_PORT": str(server.port),
            "LOOPX_SMTP_SENDER": SENDER,
            "LOOPX_SMTP_TLS": "none",
        }
    finally:
        server.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class TestSmtpSink(ReportSinkContract):
    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        self.inbox = Inbox()
        with running(self.inbox) as self.environment:
            yield

    def make_sink(self, folder: Path) -> Sink:
        return ProcessSink(
            extension_id="loopx-sink-smtp",
            target_key=TARGET,
            profile=PROFILE,
            argv=ARGV,
            look=self.inbox.bodies,
            environment={"HOME": str(folder), **self.environment},
        )


def delivery(text: str = "ok", **changes: object) -> Json:
    return {
        "report_id": "weekly-2026-45",
        "content_type": "text/html",
        "text": text,
        "body_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "target_key": TARGET,
        "idempotency_key": "op-0123456789",
        **changes,
    }


def refused(given: Json, environment: dict[str, str]) -> OperationFailed:
    with pytest.raises(OperationFailed) as refusal:
        mail.deliver(given, environment)
    return refusal.value


def test_the_mail_goes_to_the_one_address_that_the_target_names() -> None:
    inbox = Inbox()
    with running(inbox) as environment:
        made = mail.deliver(delivery(), environment)

    (envelope,), (message,) = inbox.envelopes, inbox.messages
    assert (envelope.mail_from, envelope.rcpt_tos) == (SENDER, ["ops@example.org"])
    assert (message["From"], message["To"]) == (SENDER, "ops@example.org")
    assert made["evidence"] == {"message_id": message["Message-ID"], "reply_code": 250}


def test_the_attachment_has_the_name_the_kind_and_the_bytes_of_the_report() -> None:
    inbox, text = Inbox(), "<p>é</p>\r\n.\r\nbare\nlast"
    with running(inbox) as environment:
        mail.deliver(delivery(text), environment)

    (part,) = inbox.messages[0].iter_attachments()
    assert (part.get_filename(), part.get_content_type()) == ("weekly-2026-45.html", "text/html")
    assert part.get_payload(decode=True) == text.encode()


def test_the_message_id_is_made_of_the_idempotency_key_alone_and_does_not_show_it() -> None:
    first, same, other = (
        mail.message_id(read_delivery(delivery(text, idempotency_key=key)), SENDER)
        for text, key in (("a", "op-0123456789"), ("b", "op-0123456789"), ("a", "op-0123456780"))
    )

    assert first == same != other
    assert first.endswith("@example.net>")
    assert "0123456789" not in first


def test_the_same_delivery_at_the_same_time_is_the_same_message_but_for_its_boundary() -> None:
    server = mail.Server("localhost", 25, SENDER, starttls=False, username=None, password=None)
    now = datetime(2026, 11, 9, tzinfo=UTC)

    headers = [dict(mail.compose(read_delivery(delivery()), server, now)) for _ in range(2)]

    for fields in headers:
        fields.pop("Content-Type")
    assert headers[0] == headers[1]
    assert headers[0]["Date"] == "Mon, 09 Nov 2026 00:00:00 +0000"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ops",
        "ops@",
        "@example.org",
        "a@example.org,b@example.org",
        "a@example.org;b@example.org",
        "<a@example.org>",
        '"a b"@example.org',
        "a@[127.0.0.1]",
        "a@example.org?cc=b@example.org",
        "a..b@example.org",
        "a@exa_mple.org",
        "a@example.org>",
        "x" * 250 + "@example.org",
        "é@example.org",
    ],
)
def test_a_target_that_is_not_one_plain_address_is_refused(address: str) -> None:
    refusal = refused(delivery(target_key=f"report:mailto/{address}"), {})

    assert (refusal.code, refusal.effect) == ("target_invalid", "none")


@pytest.mark.parametrize(
    "inserted", ["\r\nBcc: all@example.org", "\nBcc: all@example.org", "\r\n\r\nbody", "\x00", "\x0b"]
)
@pytest.mark.parametrize("field", ["report_id", "target_key", "idempotency_key", "content_type"])
def test_no_field_of_the_request_can_add_a_header(field: str, inserted: str) -> None:
    given = delivery()

    refusal = refused({**given, field: f"{given[field]}{inserted}"}, {})

    assert (refusal.code, refusal.effect) == ("target_invalid" if field == "target_key" else "input_invalid", "none")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"LOOPX_SMTP_HOST": ""}, "not_configured"),
        ({"LOOPX_SMTP_HOST": "a b"}, "not_configured"),
        ({"LOOPX_SMTP_HOST": "a\r\nb"}, "not_configured"),
        ({"LOOPX_SMTP_PORT": "x"}, "not_configured"),
        ({"LOOPX_SMTP_PORT": "0"}, "not_configured"),
        ({"LOOPX_SMTP_PORT": "65536"}, "not_configured"),
        ({"LOOPX_SMTP_PORT": "9" * 5000}, "not_configured"),
        ({"LOOPX_SMTP_SENDER": "a@example.net\r\nBcc: b@example.org"}, "not_configured"),
        ({"LOOPX_SMTP_SENDER": ""}, "not_configured"),
        ({"LOOPX_SMTP_TLS": "maybe"}, "not_configured"),
        ({"LOOPX_SMTP_USERNAME": LOGIN}, "not_configured"),
        ({"LOOPX_SMTP_USERNAME": LOGIN, "LOOPX_SMTP_PASSWORD": PHRASE}, "credentials_need_tls"),
    ],
)
def test_variables_that_name_no_usable_server_are_refused_before_connecting(
    change: dict[str, str], code: str
) -> None:
    good = {"LOOPX_SMTP_HOST": "mail.example.org", "LOOPX_SMTP_SENDER": SENDER, "LOOPX_SMTP_TLS": "none"}

    refusal = refused(delivery(), {**good, **change})

    assert (refusal.code, refusal.effect) == (code, "none")


@pytest.mark.parametrize(
    "refuse",
    [
        {"mail": "550 no"},
        {"rcpt": "550 nobody"},
        {"rcpt": "450 later"},
        {"data": "554 no"},
        {"data": "452 full"},
    ],
)
def test_a_server_that_refuses_has_taken_nothing(refuse: dict[str, str]) -> None:
    inbox = Inbox(**refuse)
    with running(inbox) as environment:
        refusal = refused(delivery(), environment)

    assert (refusal.code, refusal.effect) == ("server_refused", "none")
    assert inbox.envelopes == []


def test_where_nothing_listens_nothing_has_left() -> None:
    environment = {
        "LOOPX_SMTP_HOST": "127.0.0.1",
        "LOOPX_SMTP_PORT": str(free_port()),
        "LOOPX_SMTP_SENDER": SENDER,
        "LOOPX_SMTP_TLS": "none",
    }

    refusal = refused(delivery(), environment)

    assert (refusal.code, refusal.effect) == ("server_unreachable", "none")


REPLIES = [b"220 hello\r\n", b"250 hello\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go on\r\n"]


@contextmanager
def hanging_up_after(replies: list[bytes]) -> Iterator[dict[str, str]]:
    """Yield the environment of a server that gives these replies, hears what follows, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as lines:
                for number, reply in enumerate(replies):
                    if number and not lines.readline():
                        return
                    connection.sendall(reply)
                ending = b".\r\n" if len(replies) == len(REPLIES) else b""
                for line in lines:
                    if not ending or line == ending:
                        return

        thread = threading.Thread(target=serve)
        thread.start()
        yield {
            "LOOPX_SMTP_HOST": "127.0.0.1",
            "LOOPX_SMTP_PORT": str(listening.getsockname()[1]),
            "LOOPX_SMTP_SENDER": SENDER,
            "LOOPX_SMTP_TLS": "none",
        }
        thread.join(30)


@pytest.mark.parametrize("heard", range(1, len(REPLIES) - 1))
def test_a_connection_that_ends_before_the_message_has_carried_nothing(heard: int) -> None:
    with hanging_up_after(REPLIES[:heard]) as environment:
        refusal = refused(delivery(), environment)

    assert (refusal.code, refusal.effect) == ("server_unreachable", "none")


def test_a_connection_that_ends_after_the_message_leaves_the_outcome_unknown() -> None:
    with hanging_up_after(REPLIES) as environment:
        refusal = refused(delivery(), environment)

    assert (refusal.code, refusal.effect) == ("outcome_unknown", "unknown")


def test_the_process_answers_an_unknown_outcome_as_unknown(tmp_path: Path) -> None:
    request = governed_request(
        "loopx-sink-smtp", "report-sink", "deliver", delivery(), protocol="loopx_report_sink_v0"
    )
    with hanging_up_after(REPLIES) as environment:
        sink = ProcessSink("loopx-sink-smtp", TARGET, PROFILE, ARGV, list, {"HOME": str(tmp_path), **environment})
        made = sink.call(encoded(request))

    assert (made["ok"], made["code"], made["effect"]) == (False, "outcome_unknown", "unknown")


def authenticate(server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: Any) -> AuthResult:
    right = (given.login, given.password) == (LOGIN.encode(), PHRASE.encode())
    return AuthResult(success=right, handled=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate for 127.0.0.1 that vouches for itself, and its key, made for this run."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not here to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    chain, key = folder / "chain.pem", folder / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    usage = ["-addext", "keyUsage=critical,keyCertSign,digitalSignature"]
    made = [
        openssl,
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        *subject,
        *usage,
    ]
    subprocess.run([*made, "-keyout", key, "-out", chain], check=True, capture_output=True)
    return chain, key


@contextmanager
def running_tls(inbox: Inbox, certificate: tuple[Path, Path], **more: Any) -> Iterator[dict[str, str]]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with running(inbox, tls_context=context, require_starttls=True, **more) as environment:
        yield {**environment, "LOOPX_SMTP_TLS": "starttls"}


def test_with_starttls_the_mail_arrives_and_the_credentials_are_used(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    inbox = Inbox()
    with running_tls(inbox, certificate, authenticator=authenticate, auth_required=True) as environment:
        mail.deliver(delivery(), {**environment, "LOOPX_SMTP_USERNAME": LOGIN, "LOOPX_SMTP_PASSWORD": PHRASE})

    assert inbox.bodies() == [b"ok"]


def test_wrong_credentials_are_refused_and_not_repeated_in_the_answer(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    inbox = Inbox()
    with running_tls(inbox, certificate, authenticator=authenticate, auth_required=True) as environment:
        refusal = refused(
            delivery(), {**environment, "LOOPX_SMTP_USERNAME": LOGIN, "LOOPX_SMTP_PASSWORD": "wrong phrase"}
        )

    assert (refusal.code, refusal.effect) == ("login_refused", "none")
    assert "wrong phrase" not in str(refusal)
    assert inbox.envelopes == []


def test_a_certificate_that_nobody_vouches_for_ends_the_session_before_the_mail(
    certificate: tuple[Path, Path],
) -> None:
    inbox = Inbox()
    with running_tls(inbox, certificate) as environment:
        refusal = refused(delivery(), environment)

    assert (refusal.code, refusal.effect) == ("tls_failed", "none")
    assert inbox.envelopes == []


def test_a_server_that_offers_no_tls_gets_no_mail_where_tls_is_asked_for() -> None:
    inbox = Inbox()
    with running(inbox) as environment:
        refusal = refused(delivery(), {**environment, "LOOPX_SMTP_TLS": "starttls"})

    assert (refusal.code, refusal.effect) == ("server_refused", "none")
    assert inbox.envelopes == []


def test_tls_is_asked_for_unless_the_owner_says_otherwise() -> None:
    server = mail.settings({"LOOPX_SMTP_HOST": "mail.example.org", "LOOPX_SMTP_SENDER": SENDER})

    assert (server.starttls, server.port, server.username) == (True, 587, None)


def test_credentials_are_not_shown_with_the_settings() -> None:
    server = mail.Server("localhost", 25, SENDER, starttls=True, username=LOGIN, password=PHRASE)

    assert PHRASE not in repr(server)


def test_every_variable_that_is_read_is_declared() -> None:
    class Watched(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            asked.add(key)
            return super().get(key, default)

    asked: set[str] = set()
    manifest = tomllib.loads((DATA / "extension.toml").read_text(encoding="utf-8"))
    environment = Watched(LOOPX_SMTP_HOST="mail.example.org", LOOPX_SMTP_SENDER=SENDER)

    mail.settings(environment)

    assert asked | {"SSL_CERT_FILE"} == set(manifest["runtime"]["env"])


def test_the_doctor_passes_without_a_server_and_without_settings(tmp_path: Path) -> None:
    ended = subprocess.run([*ARGV, "--doctor"], cwd=tmp_path, env={}, capture_output=True, check=False, timeout=60)

    assert ended.returncode == 0, ended.stderr


def test_the_manifest_asks_for_the_network_and_for_nothing_else() -> None:
    manifest = tomllib.loads((DATA / "extension.toml").read_text(encoding="utf-8"))

    assert manifest["permissions"] == manifest["runtime"]["required_permissions"] == ["net.connect"]
    assert manifest["implements"][0]["protocol"] == manifest["runtime"]["protocol"] == PROFILE["protocol"]
    assert {operation["required_permission"] for operation in PROFILE["operations"]} == {"net.connect"}
    assert (Path(__file__).parents[1] / "extension.toml").read_bytes() == (DATA / "extension.toml").read_bytes()
