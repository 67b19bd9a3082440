"""One short function per command: take parsed arguments, call one operation, return its receipt."""

from __future__ import annotations

from loopx_host.cli.common import usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from loopx_host.assembly.operations import Operations

    Receipt = Any


def extension_install(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension install`."""
    return host.install(*_chosen(args, "install"), execute=args.execute, plan=args.plan)


def extension_upgrade(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension upgrade`."""
    return host.upgrade(
        *_chosen(args, "upgrade"),
        execute=args.execute,
        plan=args.plan,
        accept_permissions=args.accept_permissions,
    )


def extension_init(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension init`."""
    return host.init(
        args.id, destination=args.destination, version=args.version, execute=args.execute, plan=args.plan
    )


def extension_validate(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension validate`."""
    return host.validate(args.path, strict=args.strict)


def extension_conformance(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension conformance`."""
    return host.conformance(args.path, execute=args.execute)


def extension_schema(_host: Operations, args: Namespace) -> Receipt:
    """`loopx extension schema`; the schema itself is the answer."""
    from loopx_host.authoring.documents import schema

    return schema(args.name)


def completions(_host: Operations, args: Namespace) -> Receipt:
    """`loopx completions`."""
    from loopx_host.cli.completions import script

    return {"ok": True, "schema_version": "loopx_completions_v0", "shell": args.shell, "text": script(args.shell)}


def performance_diagnosis(host: Operations, args: Namespace) -> Receipt:
    """`loopx performance-diagnosis`."""
    if not 1 <= args.pairs <= _PAIRS_MOST:
        raise usage(f"--pairs is from 1 to {_PAIRS_MOST}", ("performance-diagnosis",))
    return host.performance_diagnosis(pairs=args.pairs)


_PAIRS_MOST = 1000


def extension_discover(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension discover`."""
    return host.discover(rebuild=args.rebuild)


def capability_list(host: Operations, args: Namespace) -> Receipt:
    """`loopx capability list`."""
    return host.list_capabilities(args.extension_manifest)


def capability_show(host: Operations, args: Namespace) -> Receipt:
    """`loopx capability show`."""
    return host.show_capability(args.id, args.extension_manifest)


def capability_bind(host: Operations, args: Namespace) -> Receipt:
    """`loopx capability bind`."""
    return host.bind(
        args.id,
        goal_id=args.goal_id,
        operations=args.operation,
        provider_id=args.provider,
        execute=args.execute,
        plan=args.plan,
    )


def capability_unbind(host: Operations, args: Namespace) -> Receipt:
    """`loopx capability unbind`."""
    return host.unbind(args.id, goal_id=args.goal_id, execute=args.execute, plan=args.plan)


def capability_invoke(host: Operations, args: Namespace) -> Receipt:
    """`loopx capability invoke`."""
    return host.invoke(
        args.id,
        host.read_request(args.input_json),
        goal_id=args.goal_id,
        operation=args.operation,
        references=_references(args, ("capability", "invoke")),
        execute=args.execute,
    )


def extension_publish_projection(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension publish-projection`."""
    return host.publish_projection(
        args.id,
        args.surface,
        host.read_request(args.input_json),
        execute=args.execute,
        references=_references(args, ("extension", "publish-projection")),
    )


def _references(args: Namespace, route: tuple[str, ...]) -> dict[str, str]:
    """Return name → path of ``--ref NAME=PATH``. Raises Refused `usage_error`."""
    found: dict[str, str] = {}
    for given in args.ref or []:
        name, mark, path = given.partition("=")
        if not (name and mark and path) or name in found:
            raise usage("--ref is NAME=PATH, each name once", route)
        found[name] = path
    return found


def doctor(host: Operations, _args: Namespace) -> Receipt:
    """`loopx doctor`."""
    return host.host_doctor()


def _chosen(args: Namespace, verb: str) -> tuple[str | None, str | None]:
    """Return (id, manifest path), exactly one of them given. Raises Refused `usage_error`."""
    if (args.id is None) == (args.manifest is None):
        raise usage("give either an ID or --manifest PATH", ("extension", verb))
    return args.id, args.manifest


def extension_rollback(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension rollback`."""
    return host.rollback(args.id, execute=args.execute, plan=args.plan, to=args.to)


def extension_uninstall(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension uninstall`."""
    return host.uninstall(args.id, execute=args.execute, plan=args.plan)


def extension_list(host: Operations, _args: Namespace) -> Receipt:
    """`loopx extension list`."""
    return host.list()


def extension_show(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension show`."""
    return host.show(args.id)


def extension_history(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension history`."""
    return host.history(args.id)


def extension_doctor(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension doctor`."""
    return host.doctor(args.id, execute=args.execute, plan=args.plan)


def extension_enable(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension enable`."""
    return host.enable(args.id, execute=args.execute, plan=args.plan)


def extension_disable(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension disable`."""
    return host.disable(args.id, execute=args.execute, plan=args.plan)


def extension_run(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension run`; the request is read, within its bound, before anything else is looked at."""
    request = host.read_request(args.input_json)
    return host.run(args.id, request, execute=args.execute)


def extension_export(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension export`; without ``--output`` the document itself is the answer."""
    from loopx_host.cli.render import to_json

    document = host.export()
    if args.output is None:
        return document
    if args.execute:
        host.write_export(args.output, to_json(document, indent=True))
    return {
        "ok": True,
        "schema_version": "loopx_extension_operation_v0",
        "operation": "export",
        "dry_run": not args.execute,
        "changed": args.execute,
        "output": args.output,
        "extensions": [row["id"] for row in document["extensions"]],
        "skipped": document["skipped"],
    }


def extension_restore(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension restore`."""
    return host.restore(args.path, execute=args.execute, plan=args.plan)


def extension_repair(host: Operations, args: Namespace) -> Receipt:
    """`loopx extension repair`."""
    return host.repair(execute=args.execute, plan=args.plan)
