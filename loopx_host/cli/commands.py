"""One short function per command: take parsed arguments, call one operation, return its receipt."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from loopx_host.assembly.operations import Operations


def extension_install(host: Operations, args: Namespace) -> dict[str, Any]:
    """`loopx extension install`."""
    return host.install(args.manifest, execute=args.execute)


def extension_list(host: Operations, _args: Namespace) -> dict[str, Any]:
    """`loopx extension list`."""
    return host.list()


def extension_show(host: Operations, args: Namespace) -> dict[str, Any]:
    """`loopx extension show`."""
    return host.show(args.id)


def extension_doctor(host: Operations, args: Namespace) -> dict[str, Any]:
    """`loopx extension doctor`."""
    return host.doctor(args.id, execute=args.execute)


def extension_run(host: Operations, args: Namespace) -> dict[str, Any]:
    """`loopx extension run`; the request is read, within its bound, before anything else is looked at."""
    request = host.read_request(args.input_json)
    return host.run(args.id, request, execute=args.execute)
