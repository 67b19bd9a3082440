"""The verb `validate`: a manifest, the files it names and its example, before anyone installs it."""

from __future__ import annotations

from loopx_host.authoring.names import clashes
from loopx_host.core.errors import Refused, refusal
from loopx_host.core.limits import REQUEST_BYTES
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.documents.validation import validation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.authoring.ports import HasPackageSources, HasTakenNames
    from loopx_host.documents.parts import Violation
    from loopx_host.documents.validation import Validation
    from loopx_host.lifecycle.dispatch.ports import HasJudging, Judging
    from loopx_host.lifecycle.extensions.source import Source

    class ValidatePorts(HasPackageSources, HasTakenNames, HasJudging, Protocol):
        """What validating needs."""


class ValidateRequest:
    """Check a manifest, or the package in a folder; `strict` refuses what is only a warning at install."""

    __slots__ = ("path", "strict")

    def __init__(self, path: str, *, strict: bool) -> None:
        self.path = path
        self.strict = strict


def validate(request: ValidateRequest, ports: ValidatePorts) -> Validation:
    """Check what `registry.load` left to check: warnings under `strict`, the doctor, the example request.

    Names that somebody else holds here are advice, and refused under `strict`. Raises Refused: `manifest_invalid` or
    `example_invalid`, each with its rows, and `name_unusable`.
    """
    source, example = ports.package_sources.package(request.path)
    strict, manifest = request.strict, source.manifest
    warnings = source.manifest.warnings
    if strict and warnings:
        raise refusal(
            "manifest_invalid",
            source.path,
            f"{warnings[0].summary} (refused because of --strict)",
            hint=f"correct {source.path}",
            problems=[problem.row() for problem in warnings],
        )
    checked = ["manifest", *manifest.files]
    runtime = manifest.runtime
    names = ports.package_sources.names(source)
    advice = [f"its package {clause}" for clause in (clashes(names, ports.taken_names) if names else ())]
    if strict and advice:
        raise refusal(
            "name_unusable",
            manifest.id,
            f"{advice[0]} (refused because of --strict)",
            hint="choose names of its own; what is installed over another's name breaks it",
        )
    if runtime is not None and not runtime.doctor_args:
        advice.append("[runtime] has no doctor_args: nothing could prove this extension, and install refuses it")
    if example is not None:
        path, data = example
        _check_example(path, data, source, ports.judging)
        checked.append(path)
    elif runtime is not None:
        advice.append("there is no examples/request.json: readers and the conformance suite could use one")
    return validation(
        extension_id=manifest.id,
        version=manifest.version,
        revision=manifest.revision,
        manifest_path=source.path,
        checked=checked,
        warnings=[problem.row() for problem in warnings],
        advice=advice,
        strict=strict,
    )


def _check_example(path: str, data: bytes, source: Source, judging: Judging) -> None:
    if len(data) > REQUEST_BYTES:
        raise _example_invalid(path, f"it is larger than {REQUEST_BYTES} bytes", [])
    try:
        request = parse_object(data)
    except JsonViolation as violation:
        raise _example_invalid(path, str(violation), []) from None
    runtime = source.manifest.runtime
    named = runtime.form.get("request_schema") if runtime is not None else None
    if named is None:
        return
    from loopx_host.registry.schemas import Bundle

    rows = judging.violations(Bundle.of(named, source.manifest.snapshot), request)
    if rows is None:
        raise _example_invalid(path, "whether it follows the schema could not be told in time", [])
    if rows:
        raise _example_invalid(path, f"at {rows[0]['pointer'] or '/'}: {rows[0]['message']}", rows)


def _example_invalid(path: str, reason: str, rows: list[Violation]) -> Refused:
    summary = f"the example {path} is not a request this extension takes: {reason}"
    return refusal("example_invalid", path, summary, hint="correct the example or the schema", violations=rows)
