"""The rules of contract section 2: a TOML document → the normal form, or every problem in it."""

from __future__ import annotations

from loopx_host.core import limits
from loopx_host.documents.manifest import BOUNDED_INTEGERS, ID, PROVIDES_PUBLIC, PROVIDES_TEXTS
from loopx_host.registry import api, grammar, report
from loopx_host.registry.toml_source import step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from loopx_host.documents.normal_form import (
        Capability,
        Documentation,
        Implementation,
        NormalForm,
        Profile,
        Provider,
        Runtime,
        SchemaFile,
        Surface,
    )
    from loopx_host.registry.attachments import Attachments
    from loopx_host.registry.report import Report, Table

    class MayHave(TypedDict, total=False):
        """What a capability need not have; an internal one has no texts about the real world."""

        real_world_anchor: str
        entry_command: str
        documentation: Documentation
        integration_profile: Profile


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


def normal_form(report: Report, document: Table, attachments: Attachments) -> NormalForm:
    """Return the normal form of `document`; worth something only when `report` then holds no error."""
    report_keys(report, document, TOP_KEYS)
    _schema_version(report, document)
    provider = _provider(report, document)
    documentation = _documentation(report, document)
    runtime = _runtime(report, document, provider["permissions"], attachments)
    form: NormalForm = {
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


def _provider(found: Report, document: Table) -> Provider:
    expression = report.text(found, document, "requires_loopx_api", "", _api_grammar)
    if expression and not api.admits(expression):
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


def _runtime(found: Report, document: Table, permissions: list[str], attachments: Attachments) -> Runtime | None:
    if "runtime" not in document:
        return None
    table, at = document["runtime"], "runtime."
    if not isinstance(table, dict):
        found.wrong_type("runtime", "a table", table)
        return None
    report_keys(found, table, RUNTIME_KEYS, at, closed=True)
    form: Runtime = {
        "args": report.arguments(found, table, "args", at),
        "doctor_args": report.arguments(found, table, "doctor_args", at),
        "protocol": report.text(found, table, "protocol", at, grammar.protocol),
        "required_permissions": _required_permissions(found, table, permissions),
        "timeout_seconds": report.integer(found, table, "timeout_seconds", at, 1, limits.TIMEOUT_MAX_SECONDS)
        or limits.TIMEOUT_DEFAULT_SECONDS,
    }
    _launcher(found, table, form)
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


def _launcher(found: Report, table: Table, form: Runtime) -> None:
    """Enter what is run: a program, or a Python module."""
    named = [key for key in ("entrypoint", "python_module") if key in table]
    if len(named) != 1:
        how = "both" if named else "neither"
        found.error(
            "manifest_conflict",
            "runtime.entrypoint",
            f"runtime needs exactly one of entrypoint and python_module; {how} is given",
        )
    elif "entrypoint" in table:
        form["entrypoint"] = report.text(found, table, "entrypoint", "runtime.", grammar.entrypoint)
    else:
        form["python_module"] = report.text(found, table, "python_module", "runtime.", grammar.python_module)


def _additions(found: Report, table: Table, form: Runtime, attachments: Attachments) -> None:
    """Enter the keys beyond v0 into the normal form, only where a manifest uses them."""
    if "doctor_timeout_seconds" in table:
        form["doctor_timeout_seconds"] = _bounded(found, table, "doctor_timeout_seconds")
    if "memory_limit_mb" in table:
        form["memory_limit_mb"] = _bounded(found, table, "memory_limit_mb")
    if "open_files_limit" in table:
        form["open_files_limit"] = _bounded(found, table, "open_files_limit")
    if "env" in table:
        form["env"] = report.texts(found, table, "env", "runtime.", grammar.variable)
    if "requires" in table:
        form["requires"] = _requires(found, table["requires"])
    request, response = (_schema(found, table, key, attachments) for key in ("request_schema", "response_schema"))
    if request is not None:
        form["request_schema"] = request
    if response is not None:
        form["response_schema"] = response


def _bounded(found: Report, table: Table, key: str) -> int:
    return report.integer(found, table, key, "runtime.", *BOUNDED_INTEGERS[key]) or 0


def _schema(found: Report, table: Table, key: str, attachments: Attachments) -> SchemaFile | None:
    path = report.optional_text(found, table, key, "runtime.", grammar.relative_path)
    return None if path is None else attachments.schema(found, f"runtime.{key}", path)


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
        if wanted and not wrong:
            kept[name] = wanted
    return kept


def _documentation(found: Report, document: Table) -> Documentation | None:
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
    provider: Provider,
    documentation: Documentation | None,
    attachments: Attachments,
) -> list[Capability]:
    made = [
        _capability(found, table, f"{pointer}.", provider, documentation, attachments)
        for pointer, table in report.tables(found, document, "provides")
    ]
    _unique(found, "provides", [entry["id"] for entry in made if entry["id"]])
    return made


def _capability(
    found: Report,
    table: Table,
    at: str,
    provider: Provider,
    documentation: Documentation | None,
    attachments: Attachments,
) -> Capability:
    report_keys(found, table, PROVIDES_KEYS, at)
    checks = {"id": grammar.capability_id, "visibility": grammar.one_of("public", "internal")}
    public = str(table.get("visibility")).strip() != "internal"
    texts = dict.fromkeys(PROVIDES_TEXTS, "")
    for key in (*PROVIDES_TEXTS, *PROVIDES_PUBLIC):
        required = public or key not in PROVIDES_PUBLIC
        if key not in table and required:
            found.error("manifest_incomplete", at + key, f"{at}{key} is missing; a capability is complete at install")
        elif key in table:
            texts[key] = report.text(found, table, key, at, checks.get(key))
    form: Capability = {
        "origin": "extension",
        "provider_id": provider["id"],
        "provider_version": provider["version"],
        "id": texts["id"],
        "kind": texts["kind"],
        "title": texts["title"],
        "status": texts["status"],
        "user_value": texts["user_value"],
        "next_real_step": texts["next_real_step"],
        "visibility": texts["visibility"],
        **_public_texts(texts),  # where v0 had them: receipts show the keys in this order
        "capability_kind": texts["kind"],
    }
    if documentation is not None:
        form["documentation"] = documentation
    profile = _profile(found, table, at, form["id"], provider, attachments)
    if profile is not None:
        form["integration_profile"] = profile
    return form


def _public_texts(texts: dict[str, str]) -> MayHave:
    public: MayHave = {}
    if "real_world_anchor" in texts:
        public["real_world_anchor"] = texts["real_world_anchor"]
    if "entry_command" in texts:
        public["entry_command"] = texts["entry_command"]
    return public


def _implementations(
    found: Report,
    document: Table,
    provider: Provider,
    runtime: Runtime | None,
    attachments: Attachments,
) -> list[Implementation]:
    made: list[Implementation] = []
    for pointer, table in report.tables(found, document, "implements"):
        at = f"{pointer}."
        report_keys(found, table, IMPLEMENTS_KEYS, at)
        spoken = report.text(found, table, "protocol", at, grammar.protocol)
        if spoken and (runtime is None or runtime["protocol"] != spoken):
            summary = f"{at}protocol `{spoken}` is not the protocol of the runtime"
            found.error("manifest_conflict", f"{at}protocol", summary)
        form: Implementation = {
            "capability_id": report.text(found, table, "capability_id", at, grammar.capability_id),
            "protocol": spoken,
            "provider_id": provider["id"],
            "provider_version": provider["version"],
        }
        profile = _profile(found, table, at, form["capability_id"], provider, attachments)
        if profile is not None:
            form["integration_profile"] = profile
        made.append(form)
    return made


def _profile(
    found: Report, table: Table, at: str, capability_id: str, provider: Provider, attachments: Attachments
) -> Profile | None:
    """Return the integration profile a table names, or None."""
    path = report.optional_text(found, table, "integration_profile", at, grammar.relative_path)
    if path is None:
        return None
    return attachments.profile(found, f"{at}integration_profile", path, capability_id, provider["permissions"])


def _surfaces(found: Report, document: Table) -> list[Surface]:
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
