"""Third parties' schemas, applied to one call: the request before anything starts, the response after."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.strict_json import JsonViolation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.normal_form import SchemaFile
    from loopx_host.documents.parts import Violation
    from loopx_host.lifecycle.dispatch.ports import Judging, Verdict
    from loopx_host.lifecycle.extensions.ports import StateStore
    from loopx_host.registry.manifest import Runtime

    Rows = list[Violation]

_PROFILE = "profile.json"
UNDECIDED: Rows = [{"pointer": "", "message": "whether it follows the schema could not be told in time"}]


class RunSchemas:
    """The request and response schema of one runtime; a manifest without them admits everything."""

    def __init__(self, extension_id: str, runtime: Runtime, store: StateStore, judging: Judging) -> None:
        self._extension_id = extension_id
        self._form = runtime.form
        self._store = store
        self._judging = judging

    def refuse_request(self, request: dict[str, object]) -> None:
        """Refuse a request that breaks its schema. Raises Refused: `request_schema`, `schema_missing`."""
        rows = self._violations(self._form.get("request_schema"), request)
        if rows:
            where, what = rows[0]["pointer"] or "/", rows[0]["message"]
            raise refusal(
                "request_schema",
                self._extension_id,
                f"the request breaks the schema of `{self._extension_id}` at {where}: {what}",
                hint="correct the request",
                violations=rows,
            )

    def response(self, result: dict[str, object]) -> Rows:
        """Return how a response breaks its schema; empty when it does not."""
        return self._violations(self._form.get("response_schema"), result)

    def _violations(self, named: SchemaFile | None, instance: dict[str, object]) -> Rows:
        if named is None:
            return []
        verdict = self._judge(named, instance)
        return UNDECIDED if verdict is None else verdict

    def _judge(self, named: SchemaFile, instance: dict[str, object]) -> Verdict:
        from loopx_host.registry.schemas import Bundle

        digests = [named["sha256"], *named["siblings"].values()]
        snapshot = {digest: self._store.read_schema(digest) for digest in digests}
        whole = {digest: data for digest, data in snapshot.items() if data is not None}
        try:
            if len(whole) == len(snapshot):
                return self._judging.violations(Bundle.of(named, whole), instance)
        except JsonViolation:
            pass  # bytes with the right digest were checked at install; others are no schema
        raise refusal(
            "schema_missing",
            self._extension_id,
            f"a schema of `{self._extension_id}` is no longer kept beside the state file as it was trusted",
            hint="uninstall the extension and install it again",
            next_command=("extension", "uninstall", self._extension_id),
        )


def inline_violations(judging: Judging, schema: dict[str, object], instance: object) -> Rows:
    """Return how an instance breaks a schema that stands inside a profile and refers to nothing but itself.

    One row says so when that could not be told.
    """
    from loopx_host.registry.schemas import Bundle, SchemaError

    try:
        rows = judging.violations(Bundle(_PROFILE, schema, {}), instance)
    except SchemaError as error:
        return [{"pointer": "", "message": f"the schema of the profile cannot be used: {error}"}]
    return UNDECIDED if rows is None else rows
