"""`loopx extension validate`."""

from __future__ import annotations

from loopx_host.cli.arguments import PACKAGE
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.validation import Validation

    class Arguments(Protocol):
        path: str
        strict: bool


STRICT = Argument("--strict", action="store_true", help="refuse what is only a warning at install")
ROUTE = Route("extension validate", (PACKAGE, STRICT), "./acme-word-count --strict")


def serve(container: Container, arguments: Arguments) -> Validation:
    from loopx_host.authoring.validate import ValidateRequest, validate

    return validate(ValidateRequest(arguments.path, strict=arguments.strict), container)
