"""From the id an installed package offers to the one manifest behind it."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line
from loopx_host.documents.discovery_index import AMBIGUOUS, AVAILABLE, SHADOWED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.discovery_index import Offer
    from loopx_host.lifecycle.extensions.ports import Discovery


def offered_manifest(extension_id: str, verb: str, discovery: Discovery) -> str:
    """Return the manifest path of the one offer of an id; to trust it, the packages are asked and not an index.

    Raises Refused as `only_offer` does.
    """
    rows, _ = discovery.offers(rebuild=True)
    return only_offer(extension_id, verb, rows)


def only_offer(extension_id: str, verb: str, rows: list[Offer]) -> str:
    """Return the manifest path of the one usable offer of an id among `rows`.

    A caller that names the carrier gives only its rows: what is ambiguous in the environment is one offer there.
    Raises Refused: `extension_not_offered`, `extension_ambiguous` naming every carrier, `extension_broken`.
    """
    own = [row for row in rows if row["id"] == extension_id]
    offers = [row for row in own if row["state"] != SHADOWED] or own[:1]
    shown, discover = one_line(extension_id, 60), ("extension", "discover")
    if not offers:
        raise refusal(
            "extension_not_offered",
            shown,
            f"no installed package offers an extension `{shown}`",
            hint="see what is offered; a manifest that no package advertises is named with --manifest",
            next_command=discover,
        )
    if len(offers) > 1:
        named = [row for row in offers if row["manifest_path"]]
        raise refusal(
            "extension_ambiguous",
            shown,
            "; ".join(dict.fromkeys(str(row["reason"]) for row in (*named, *offers))),
            hint="uninstall one of the packages, or name the manifest to trust with --manifest",
            next_command=("extension", verb, "--manifest", str(named[0]["manifest_path"])) if named else discover,
        )
    if offers[0]["state"] not in (AVAILABLE, AMBIGUOUS):
        raise refusal(
            "extension_broken",
            shown,
            f"the offer of `{shown}` is unusable [{offers[0]['code']}]: {offers[0]['reason']}",
            hint="repair the package",
            next_command=discover,
        )
    return str(offers[0]["manifest_path"])
