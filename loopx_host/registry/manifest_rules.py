"""The rules of contract section 2: a TOML document → the normal form, or every problem in it."""

from __future__ import annotations

from loopx_host.core import limits
from loopx_host.documents.manifest import BOUNDED_INTEGERS, ID, PROVIDES_PUBLIC, PROVIDES_TEXTS
from loopx_host.registry import api, grammar, report
from loopx_host.registry.toml_source import step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.registry.attachments import Attachments
    from loopx_host.registry.report import Report, Table

TOP_KEYS = (
    "schema_version",
    "id",
    "version",
    "requires_loopx_api",
    "permissions",
    "runtime",
    "provides",
    "implements",
    "presentation_surfaces",
    "documentation",
)
RUNTIME_KEYS = (
    "protocol",
    "entrypoint",
    "python_module",
    "args",
    "doctor_args",
    "required_permissions",
    "timeout_seconds",
    "request_schema",
    "response_schema",
    "env",
    "doctor_timeout_seconds",
    "memory_limit_mb",
    "open_files_limit",
    "requires",
)
PROVIDES_KEYS = (*PROVIDES_TEXTS, *PROVIDES_PUBLIC, "integration_profile")
IMPLEMENTS_KEYS = ("capability_id", "protocol", "integration_profile")
DOCUMENTATION_KEYS = ("source_root", "site_root", "canonical", "aliases")


def normal_form(report: Report, document: Table, attachments: Attachments) -> dict[str, Any]:
    """Return the normal form of `document`; worth something only when `report` then holds no error."""
    report_keys(report, document, TOP_KEYS)
    _schema_version(report, document)
    provider = _provider(report, document)
    documentation = _documentation(report, document)
    runtime = _runtime(report, document, provider["permissions"], attachments)
    form = {
        "capabilities": _capabilities(report, document, provider, documentation, attachments),
        "documentation": documentation,
        "implementations": _implementations(report, document, provider, runtime, attachments),
        "presentation_surfaces": _surfaces(report, document),
        "provider": provider,
        "runtime": runtime,
    }
    if "runtime" not in document and document.get("provides", []) == document.get("implements", []) == []:
        report.error(
            "manifest_missing_key",
            "runtime",
            "declares none of runtime, provides and implements: nothing to use",
        )
    return form


def report_keys(found: Report, table: Table, valid: tuple[str, ...], at: str = "", *, closed: bool = False) -> None:
    """Report unknown keys of one table."""
    report.known_keys(found, table, at, valid, closed=closed)


def _schema_version(found: Report, document: Table) -> None:
    if "schema_version" not in document:
        found.missing("schema_version")
    elif document["schema_version"] != ID:
        seen = report.kind_of(document["schema_version"])
        found.bad("schema_version", f"must be exactly `{ID}`, not {seen}")


def _provider(found: Report, document: Table) -> dict[str, Any]:
    expression = report.text(found, document, "requires_loopx_api", "", _api_grammar)
    if expression is not None and not api.admits(expression):
        found.error(
            "api_incompatible",
            "requires_loopx_api",
            f"requires_loopx_api asks for `{expression}`; this host speaks API {limits.HOST_API}",
        )
    return {
        "declared": True,
        "enabled": False,
        "id": report.text(found, document, "id", "", grammar.extension_id),
        "installed": False,
        "origin": "extension",
        "permissions": report.texts(found, document, "permissions", "", grammar.permission),
        "ready": False,
        "requires_loopx_api": expression,
        "version": report.text(found, document, "version", "", grammar.version),
    }


def _api_grammar(expression: str) -> str | None:
    fits = api.clauses(expression) is not None
    return None if fits else "must be clauses such as `>=1,<2`: an operator >= <= == > < and a whole number"


def _runtime(
    found: Report, document: Table, permissions: list[str], attachments: Attachments
) -> dict[str, Any] | None:
    if "runtime" not in document:
        return None
    table, at = document["runtime"], "runtime."
    if not isinstance(table, dict):
        found.wrong_type("runtime", "a table", table)
        return None
    report_keys(found, table, RUNTIME_KEYS, at, closed=True)
    form: dict[str, Any] = {
        "args": report.arguments(found, table, "args", at),
        "doctor_args": report.arguments(found, table, "doctor_args", at),
        "protocol": report.text(found, table, "protocol", at, grammar.protocol),
        "required_permissions": _required_permissions(found, table, permissions),
        "timeout_seconds": report.integer(found, table, "timeout_seconds", at, 1, limits.TIMEOUT_MAX_SECONDS)
        or limits.TIMEOUT_DEFAULT_SECONDS,
        **_target(found, table),
    }
    _additions(found, table, form, attachments)
    return form


def _required_permissions(found: Report, table: Table, declared: list[str]) -> list[str]:
    required = report.texts(found, table, "required_permissions", "runtime.", grammar.permission)
    known = set(declared)
    for token in required:
        if token not in known:
            found.error(
                "manifest_conflict",
                "runtime.required_permissions",
                f"runtime.required_permissions names `{token}`, which permissions does not declare",
            )
    return required


def _target(found: Report, table: Table) -> dict[str, str | None]:
    named = [key for key in ("entrypoint", "python_module") if key in table]
    if len(named) != 1:
        how = "both" if named else "neither"
        found.error(
            "manifest_conflict",
            "runtime.entrypoint",
            f"runtime needs exactly one of entrypoint and python_module; {how} is given",
        )
        return {}
    checks = {"entrypoint": grammar.entrypoint, "python_module": grammar.python_module}
    return {named[0]: report.text(found, table, named[0], "runtime.", checks[named[0]])}


def _additions(found: Report, table: Table, form: dict[str, Any], attachments: Attachments) -> None:
    """Enter the keys beyond v0 into the normal form, only where a manifest uses them."""
    for key, (low, high) in BOUNDED_INTEGERS.items():
        if key in table:
            form[key] = report.integer(found, table, key, "runtime.", low, high)
    if "env" in table:
        form["env"] = report.texts(found, table, "env", "runtime.", grammar.variable)
    if "requires" in table:
        form["requires"] = _requires(found, table["requires"])
    for key in ("request_schema", "response_schema"):
        path = report.text(found, table, key, "runtime.", grammar.relative_path, required=False)
        if path is not None:
            form[key] = attachments.schema(found, f"runtime.{key}", path)


def _requires(found: Report, table: object) -> dict[str, str]:
    if not isinstance(table, dict):
        found.wrong_type("runtime.requires", "a table", table)
        return {}
    kept: dict[str, str] = {}
    for name, value in table.items():
        pointer = f"runtime.requires.{step(name)}"
        wrong = grammar.prerequisite(name)
        if wrong:
            found.bad(pointer, wrong)
        wanted = report.scalar(found, value, pointer, grammar.constraint)
        if wanted is not None and not wrong:
            kept[name] = wanted
    return kept


def _documentation(found: Report, document: Table) -> dict[str, Any] | None:
    if "documentation" not in document:
        return None
    table, at = document["documentation"], "documentation."
    if not isinstance(table, dict):
        found.wrong_type("documentation", "a table", table)
        return None
    report_keys(found, table, DOCUMENTATION_KEYS, at)
    aliases = report.texts(found, table, "aliases", at, grammar.markdown_path)
    _unique(found, "documentation.aliases", aliases)
    return {
        "aliases": aliases,
        "canonical": report.text(found, table, "canonical", at, grammar.markdown_path),
        "site_root": report.text(found, table, "site_root", at, grammar.relative_path),
        "source_root": report.text(found, table, "source_root", at, grammar.relative_path),
    }


def _capabilities(
    found: Report,
    document: Table,
    provider: dict[str, Any],
    documentation: dict[str, Any] | None,
    attachments: Attachments,
) -> list[dict[str, Any]]:
    made = [
        _capability(found, table, f"{pointer}.", provider, documentation, attachments)
        for pointer, table in report.tables(found, document, "provides")
    ]
    _unique(found, "provides", [entry["id"] for entry in made if entry.get("id")])
    return made


def _capability(
    found: Report,
    table: Table,
    at: str,
    provider: dict[str, Any],
    documentation: dict[str, Any] | None,
    attachments: Attachments,
) -> dict[str, Any]:
    report_keys(found, table, PROVIDES_KEYS, at)
    checks = {"id": grammar.capability_id, "visibility": grammar.one_of("public", "internal")}
    public = str(table.get("visibility")).strip() != "internal"
    form: dict[str, Any] = {
        "origin": "extension",
        "provider_id": provider["id"],
        "provider_version": provider["version"],
    }
    for key in (*PROVIDES_TEXTS, *PROVIDES_PUBLIC):
        required = public or key not in PROVIDES_PUBLIC
        if key not in table and required:
            found.error("manifest_incomplete", at + key, f"{at}{key} is missing; a capability is complete at install")
        elif key in table:
            form[key] = report.text(found, table, key, at, checks.get(key))
    if "kind" in form:
        form["capability_kind"] = form["kind"]
    if documentation is not None:
        form["documentation"] = documentation
    _with_profile(found, table, form, at, form.get("id"), provider, attachments)
    return form


def _implementations(
    found: Report,
    document: Table,
    provider: dict[str, Any],
    runtime: dict[str, Any] | None,
    attachments: Attachments,
) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for pointer, table in report.tables(found, document, "implements"):
        at = f"{pointer}."
        report_keys(found, table, IMPLEMENTS_KEYS, at)
        spoken = report.text(found, table, "protocol", at, grammar.protocol)
        if spoken is not None and (runtime is None or runtime["protocol"] != spoken):
            summary = f"{at}protocol `{spoken}` is not the protocol of the runtime"
            found.error("manifest_conflict", f"{at}protocol", summary)
        form: dict[str, Any] = {
            "capability_id": report.text(found, table, "capability_id", at, grammar.capability_id),
            "protocol": spoken,
            "provider_id": provider["id"],
            "provider_version": provider["version"],
        }
        _with_profile(found, table, form, at, form["capability_id"], provider, attachments)
        made.append(form)
    return made


def _with_profile(
    found: Report,
    table: Table,
    form: dict[str, Any],
    at: str,
    capability_id: object,
    provider: dict[str, Any],
    attachments: Attachments,
) -> None:
    """Put the integration profile a table names into its form; the key is left out where there is none."""
    path = report.text(found, table, "integration_profile", at, grammar.relative_path, required=False)
    if path is not None:
        pointer = f"{at}integration_profile"
        form["integration_profile"] = attachments.profile(
            found, pointer, path, capability_id, provider["permissions"]
        )


def _surfaces(found: Report, document: Table) -> list[dict[str, Any]]:
    if "presentation_surfaces" not in document:
        return []
    from loopx_host.registry import surface_rules

    made = surface_rules.surfaces(found, document)
    _unique(found, surface_rules.KEY, [surface["id"] for surface in made if surface["id"]])
    return made


def _unique(found: Report, pointer: str, names: list[str]) -> None:
    seen: set[str] = set()
    twice = {name for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
    for name in sorted(twice):
        found.error("manifest_duplicate", pointer, f"{pointer} names `{name}` more than once")
