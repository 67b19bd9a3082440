"""The public surface of loopx: a name → module table, loaded on first touch (PEP 562)."""

__version__ = "0.1.0"

HOME = {
    "Host": "loopx_host.assembly.host",
    "Refused": "loopx_host.core.errors",
    "conformance": "loopx_host.assembly.authors",
    "run_manifest": "loopx_host.assembly.authors",
}

__all__ = ["Host", "Refused", "__version__", "conformance", "run_manifest"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.assembly.authors import conformance, run_manifest
    from loopx_host.assembly.host import Host
    from loopx_host.core.errors import Refused


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
