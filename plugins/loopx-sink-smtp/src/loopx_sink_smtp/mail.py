"""A report as one mail: the message, and the conversation with the server, which knows what may have left."""

from __future__ import annotations

import hashlib
import re
import smtplib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import TYPE_CHECKING

from loopx_periodic_report.sink import Delivery, read_delivery, receipt

from loopx_host import OperationFailed

TARGET_PREFIX = "report:mailto/"
SOCKET_SECONDS = 20
PORT_MAX = 65_535
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}
TLS_MODES = ("starttls", "none")

# Dotted atoms on both sides: no quoting, no comment, no route, no list, no white space, and so no second header.
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9:.-]{1,253}", re.ASCII)
_ADDRESS_LENGTH = 254

if TYPE_CHECKING:
    from loopx_periodic_report.sink import EffectReceipt


@dataclass(frozen=True, slots=True)
class Server:
    """Where to send, from whom, and with which credentials; read from the declared variables only."""

    host: str
    port: int
    sender: str
    starttls: bool
    username: str | None
    password: str | None = field(repr=False)


def settings(environment: Mapping[str, str]) -> Server:
    """Return the server that the owner named in the environment. Raises OperationFailed."""
    host, sender = environment.get("LOOPX_SMTP_HOST", ""), environment.get("LOOPX_SMTP_SENDER", "")
    port = environment.get("LOOPX_SMTP_PORT", "587")
    tls = environment.get("LOOPX_SMTP_TLS", "starttls")
    username, password = environment.get("LOOPX_SMTP_USERNAME"), environment.get("LOOPX_SMTP_PASSWORD")
    if not _HOST.fullmatch(host):
        raise OperationFailed("not_configured", "LOOPX_SMTP_HOST names no host")
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) <= PORT_MAX):
        raise OperationFailed("not_configured", "LOOPX_SMTP_PORT is not a port")
    if not is_address(sender):
        raise OperationFailed("not_configured", "LOOPX_SMTP_SENDER is not one plain address")
    if tls not in TLS_MODES:
        raise OperationFailed("not_configured", f"LOOPX_SMTP_TLS is none of {', '.join(TLS_MODES)}")
    if (username is None) != (password is None):
        raise OperationFailed("not_configured", "LOOPX_SMTP_USERNAME and LOOPX_SMTP_PASSWORD go together")
    if username is not None and tls == "none" and host not in LOCAL_HOSTS:
        raise OperationFailed("credentials_need_tls", "credentials are not sent in the clear to another machine")
    return Server(host, int(port), sender, tls == "starttls", username, password)


def is_address(text: str) -> bool:
    """Say whether `text` is one plain ASCII address."""
    return len(text) <= _ADDRESS_LENGTH and _ADDRESS.fullmatch(text) is not None


def recipient(delivery: Delivery) -> str:
    """Return the address that the target names. Raises OperationFailed."""
    address = delivery.target_key.removeprefix(TARGET_PREFIX)
    if not delivery.target_key.startswith(TARGET_PREFIX) or not is_address(address):
        raise OperationFailed("target_invalid", f"target_key is not {TARGET_PREFIX} and one plain address")
    return address


def message_id(delivery: Delivery, sender: str) -> str:
    """Return the Message-ID of this one effect: the same key gives the same one, and nothing of it leaks."""
    mark = hashlib.sha256(delivery.idempotency_key.encode()).hexdigest()[:32]
    return f"<loopx-{mark}@{sender.partition('@')[2]}>"


def compose(delivery: Delivery, server: Server, now: datetime) -> EmailMessage:
    """Return the message: a line of text, and the report as an attachment with its very bytes."""
    message = EmailMessage(policy=SMTP)
    message["From"] = server.sender
    message["To"] = recipient(delivery)
    message["Subject"] = f"Report {delivery.report_id}"
    message["Date"] = format_datetime(now)
    message["Message-ID"] = message_id(delivery, server.sender)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(f"The report {delivery.report_id} is attached.\nSHA-256: {delivery.body_sha256}\n")
    main, _, sub = delivery.content_type.partition("/")
    message.add_attachment(delivery.body, maintype=main, subtype=sub, filename=delivery.file_name)
    return message


def deliver(
    given: Mapping[str, object], environment: Mapping[str, str], now: datetime | None = None
) -> EffectReceipt:
    """Send the report and return the effect receipt. Raises OperationFailed."""
    delivery = read_delivery(given)
    to = recipient(delivery)
    server = settings(environment)
    message = compose(delivery, server, now or datetime.now(UTC))
    code = send(server, to, message.as_bytes())
    evidence = {"message_id": message_id(delivery, server.sender), "reply_code": code}
    return receipt(delivery, "unsafe", evidence)


def send(server: Server, to: str, data: bytes) -> int:
    """Hand the message over and return the server's last reply code. Raises OperationFailed.

    Until the first byte of the message goes out nothing can have happened; from there on only a reply tells.
    """
    client = smtplib.SMTP(timeout=SOCKET_SECONDS)
    try:
        try:
            _prepare(client, server, to)
        except smtplib.SMTPNotSupportedError:
            raise OperationFailed("server_refused", "the server does not offer what is configured") from None
        except smtplib.SMTPAuthenticationError as error:
            raise OperationFailed("login_refused", f"the server refused the login ({error.smtp_code})") from None
        except smtplib.SMTPResponseException as error:
            raise OperationFailed("server_refused", f"the server refused ({error.smtp_code})") from None
        except ssl.SSLError:
            raise OperationFailed("tls_failed", "no TLS session with the server could be made") from None
        except (OSError, smtplib.SMTPException, ValueError):
            raise OperationFailed("server_unreachable", "the server could not be talked to") from None
        return _hand_over(client, data)
    finally:
        client.close()


def _prepare(client: smtplib.SMTP, server: Server, to: str) -> None:
    client._host = server.host  # type: ignore[attr-defined]  # noqa: SLF001 (starttls checks the certificate against it)
    _expect(client.connect(server.host, server.port), {220})
    client.ehlo_or_helo_if_needed()
    if server.starttls:
        client.starttls(context=ssl.create_default_context())
        client.ehlo_or_helo_if_needed()
    if server.username is not None and server.password is not None:
        client.login(server.username, server.password)
    _expect(client.mail(server.sender), {250})
    _expect(client.rcpt(to), {250, 251})


def _hand_over(client: smtplib.SMTP, data: bytes) -> int:
    try:
        code, _ = client.data(data)
    except smtplib.SMTPDataError as error:  # the server did not want to hear it
        raise OperationFailed("server_refused", f"the server refused ({error.smtp_code})") from None
    except (OSError, smtplib.SMTPException):
        raise OperationFailed(
            "outcome_unknown", "the connection ended before the server said what became of the mail", effect="unknown"
        ) from None
    if code != 250:  # noqa: PLR2004 (the one code of success)
        raise OperationFailed("server_refused", f"the server refused ({code})")
    return code


def _expect(reply: tuple[int, bytes], wanted: set[int]) -> None:
    if reply[0] not in wanted:
        raise smtplib.SMTPResponseException(reply[0], "")
