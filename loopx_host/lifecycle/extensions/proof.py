"""The proof of an executed doctor as the state file keeps it, and the history beside it."""

from __future__ import annotations

from loopx_host.core.digest import sha256_hex
from loopx_host.core.limits import HISTORY_ENTRIES, HOST_API

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.state import Entry, Event, Failure, Proof, Revision
    from loopx_host.lifecycle.extensions.probe import Probe


def with_probe(raw: Entry, probed: Probe, platform: str, at: str) -> Entry:
    """Return the entry with the probe of its active revision recorded: the proof, or the failure that cleared it.

    The two v0 fields and the proof are always written together. No provider output is stored; of a failed
    probe's standard error only the digest.
    """
    identity, revision = probed.identity, raw["active_revision"]
    proof: Proof = {
        "revision": revision,
        "identity": identity.digest if identity else None,
        "groups": identity.groups if identity else {},
        "host_api": HOST_API,
        "platform": platform,
        "verified_at": at if identity else None,
        "failure": None if identity else _failure(probed, at),
    }
    return {
        **raw,
        "revisions": [_with_identity(kept, revision, probed) for kept in raw["revisions"]],
        "proof": proof,
        "doctor_verified_revision": revision if identity else None,
        "doctor_verified_entrypoint_identity": identity.digest if identity else None,
    }


def _with_identity(kept: Revision, revision: str, probed: Probe) -> Revision:
    """Remember with the revision what was proved for it, so that a rollback can tell that the code changed."""
    if probed.identity is None or kept["revision"] != revision:
        return kept
    proved: Revision = {**kept, "proved_identity": probed.identity.digest}
    if "owner" in probed.identity.details:
        proved["proved_distribution"] = probed.identity.details["owner"]
    return proved


def _failure(probed: Probe, at: str) -> Failure:
    ended = probed.ended
    return {
        "kind": str(probed.failure_kind),
        "at": at,
        "exit_code": ended.exit_code if ended else None,
        "signal": ended.signal if ended else None,
        "stderr_sha256": sha256_hex(ended.stderr) if ended else None,
    }


def with_event(raw: Entry, event: Event) -> Entry:
    """Return the entry with `event` at the top of its history (newest first, bounded)."""
    history = raw.get("history")
    earlier = history if isinstance(history, list) else []
    return {**raw, "history": [event, *earlier][:HISTORY_ENTRIES]}
