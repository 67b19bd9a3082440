"""The hooks a package can implement. Each docstring is its manual page; docs/reference/hooks.md is made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from loopx_host.hookspecs.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.documents.governed_request import GovernedRequest
    from loopx_host.documents.invocation import Invocation
    from loopx_host.documents.publish_receipt import PublishReceipt


class CommandHost(Protocol):
    """What a package's command may ask of the host; every call is refused as it is from the command line.

    Unless the caller gave ``--execute``, every call is a preview: it starts nothing and writes nothing.
    """

    def invoke(
        self,
        capability_id: str,
        operation: str,
        input: Mapping[str, object],  # noqa: A002 (the word of the request)
        *,
        goal_id: str,
        references: Mapping[str, str] | None = None,
    ) -> Invocation:
        """Run one bound, read-only operation as `loopx capability invoke` would. Raises Refused.

        `references` maps the names that the operation's permission opens to paths. The result of a call that
        succeeded is in `provider_result` of the receipt; a preview has none, and `executed` is false.
        """
        ...

    def publish(
        self,
        extension_id: str,
        surface: str,
        input: Mapping[str, object],  # noqa: A002 (the word of the request)
        *,
        goal_id: str | None = None,
        references: Mapping[str, str] | None = None,
    ) -> PublishReceipt:
        """Publish one view on a presentation surface of an extension. Raises Refused.

        References are opened for a bound goal only: `goal_id` is bound to an operation that opens them.
        """
        ...


@hookspec
def loopx_capability_contracts() -> list[Mapping[str, object]]:
    """Name the provider-neutral contracts that the package brings.

    **When.** Once per `loopx capability bind` of a capability that the package declares or implements. Never while
    an operation is invoked.

    **With.** Nothing.

    **Answer.** A list of contracts. Each has an `id`, a `title` and `operations`; each operation has an `id`, an
    `effect_class` (`read_only` or `external_write`), a `request_schema`, a `result_schema` and, for an external
    write, a `todo_contract`. `None` means that the package brings no contract.

    **A raise.** The binding is refused with `plugin_hook_failed`; nothing is written.

    **Example.**

        @hookimpl
        def loopx_capability_contracts():
            inspect = {
                "id": "inspect",
                "effect_class": "read_only",
                "request_schema": {"type": "object"},
                "result_schema": {"type": "object"},
            }
            return [{"id": "repo-health", "title": "Repository health", "operations": [inspect]}]
    """
    raise NotImplementedError


@hookspec
def loopx_check_invocation(request: GovernedRequest) -> Mapping[str, object] | None:
    """Judge a request of the package's own capability before anything is bound to it or started.

    **When.** Once per `loopx capability invoke`, after the request was validated and before its envelope is made.
    Also once per view that is published for a goal: its request has a `surface`, and as `input` the publish request.

    **With.** `request`: a copy of the invocation request without `execution_envelope`. Changing it changes nothing.

    **Answer.** `None` means no opinion. `{"deny": "sentence"}` denies, and the sentence is shown.
    `{"timeout_seconds": n}` shortens the time the provider gets. A verdict may only narrow: any other key, and a time
    longer than the provider's own, is refused with `plugin_hook_failed`.

    **A raise.** The invocation is refused with `plugin_hook_failed`: a judge that fails has not agreed.

    **Example.**

        @hookimpl
        def loopx_check_invocation(request):
            if request["input"].get("depth", 0) > 100:
                return {"deny": "the history is read to a depth of 100 at most"}
            return None
    """
    raise NotImplementedError


@hookspec
def loopx_view_schemas() -> Mapping[str, Mapping[str, object]]:
    """Give the schemas of the views that the package publishes.

    **When.** Once per view that is published on a presentation surface of the package's extension.

    **With.** Nothing.

    **Answer.** View schema id → JSON Schema. `None` means that the package brings none.

    **A raise.** The view is refused with `plugin_hook_failed`; what was published before stays.

    **Example.**

        @hookimpl
        def loopx_view_schemas():
            return {"repository_health_v0": {"type": "object", "required": ["branches"]}}
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def loopx_run_command(arguments: list[str], host: CommandHost) -> Mapping[str, object]:
    """Run one command of the package: the function that an entry point of `loopx.commands` names.

    **When.** Once per `loopx NAME …`. It has no time limit of its own; Ctrl-C ends it and all it started.

    **With.** `arguments`: the words after the name. `host`, a `loopx_host.CommandHost`:
    `host.invoke(capability_id, operation, input, goal_id=..., references=None)` runs a bound operation,
    `host.publish(extension_id, surface, input, goal_id=None, references=None)` publishes a view. Both return a
    receipt and raise `Refused`; a command need not catch it. `--execute` is read by the host, wherever it stands
    before `--`: without it every call is a preview that starts and writes nothing; its receipt has `executed` false.

    **Answer.** One JSON object with `ok` and `schema_version`, which the host prints with `dry_run` and `executed`:
    whether `--execute` was given, and whether the command was executed, unless it says itself that it was not.
    `None` is no answer and refused with `plugin_hook_failed`.

    **A raise.** A `Refused` is the command's refusal as it is; anything else, `SystemExit` included, is
    `plugin_hook_failed`. Printed text does not reach the caller's terminal; the end of it is shown with the refusal.

    **Example.**

        @hookimpl(specname="loopx_run_command")
        def repo_health(arguments, host):
            goal, *paths = arguments
            references = {"repo": paths[0] if paths else "."}
            return host.invoke("repo-health", "inspect", {}, goal_id=goal, references=references)
    """
    raise NotImplementedError
