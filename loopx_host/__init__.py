"""The public surface of loopx: a name → module table, loaded on first touch (PEP 562)."""

__version__ = "0.1.0"

HOME = {
    "CommandHost": "loopx_host.hookspecs.specs",
    "Effect": "loopx_host.authoring.serving",
    "Host": "loopx_host.assembly.host",
    "OperationFailed": "loopx_host.authoring.serving",
    "Refused": "loopx_host.core.errors",
    "conformance": "loopx_host.assembly.authors",
    "governed_environment": "loopx_host.authoring.host_request",
    "governed_request": "loopx_host.authoring.host_request",
    "hookimpl": "loopx_host.hookspecs.markers",
    "run_manifest": "loopx_host.assembly.authors",
    "serve_operations": "loopx_host.assembly.provider_streams",
    "visible": "loopx_host.core.text",
}

__all__ = [
    "CommandHost",
    "Effect",
    "Host",
    "OperationFailed",
    "Refused",
    "__version__",
    "conformance",
    "governed_environment",
    "governed_request",
    "hookimpl",
    "run_manifest",
    "serve_operations",
    "visible",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.assembly.authors import conformance, run_manifest
    from loopx_host.assembly.host import Host
    from loopx_host.assembly.provider_streams import serve_operations
    from loopx_host.authoring.host_request import governed_environment, governed_request
    from loopx_host.authoring.serving import Effect, OperationFailed
    from loopx_host.core.errors import Refused
    from loopx_host.core.text import visible
    from loopx_host.hookspecs.markers import hookimpl
    from loopx_host.hookspecs.specs import CommandHost


def __getattr__(name: str) -> object:
    """Import the module behind a public name the first time it is used."""
    home = HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(__import__(home, fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
