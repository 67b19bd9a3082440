"""The manifest as a value: a normal form, the revision over it, and typed views of what it says."""

from __future__ import annotations

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.limits import OPEN_FILES_DEFAULT, TIMEOUT_DEFAULT_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.diagnostics import Problem
    from loopx_host.documents import normal_form
    from loopx_host.documents.normal_form import Capability, Implementation, NormalForm

REVISION_DIGITS = 16


class Runtime:
    """The `[runtime]` table: which program runs, with which arguments, and its bounds."""

    __slots__ = ("form",)

    def __init__(self, form: normal_form.Runtime) -> None:
        self.form = form

    @property
    def protocol(self) -> str:
        """The name of the request protocol the provider speaks."""
        return str(self.form["protocol"])

    @property
    def entrypoint(self) -> str | None:
        """A command name or path; None when the provider is a Python module."""
        return self.form.get("entrypoint")

    @property
    def python_module(self) -> str | None:
        """A dotted module run with ``-m``; None when the provider is a command."""
        return self.form.get("python_module")

    @property
    def target(self) -> str:
        """What the manifest names: the entry point or the module."""
        return str(self.entrypoint or self.python_module)

    @property
    def args(self) -> list[str]:
        """Arguments of a run, verbatim."""
        return list(self.form["args"])

    @property
    def doctor_args(self) -> list[str]:
        """Arguments of a probe, verbatim; empty when the manifest configures none."""
        return list(self.form["doctor_args"])

    @property
    def required_permissions(self) -> list[str]:
        """Tokens the provider cannot work without."""
        return list(self.form["required_permissions"])

    @property
    def timeout_seconds(self) -> int:
        """The bound of a run, 1…120 seconds."""
        return int(self.form.get("timeout_seconds", TIMEOUT_DEFAULT_SECONDS))

    @property
    def doctor_timeout_seconds(self) -> int:
        """The bound of a probe, 1…120 seconds; that of a run when the manifest names none."""
        return int(self.form.get("doctor_timeout_seconds", self.timeout_seconds))

    @property
    def requires(self) -> dict[str, str]:
        """Prerequisites by name, with the versions that will do."""
        return dict(self.form.get("requires", {}))

    @property
    def env(self) -> list[str]:
        """Names of variables the provider gets from the caller."""
        return list(self.form.get("env", ()))

    @property
    def memory_limit_mb(self) -> int | None:
        """Bound on the provider's address space in MiB, or None."""
        return self.form.get("memory_limit_mb")

    @property
    def open_files_limit(self) -> int:
        """Bound on open file descriptors."""
        return int(self.form.get("open_files_limit", OPEN_FILES_DEFAULT))


class Manifest:
    """One checked manifest. `form` is the normal form, `snapshot` the schema files it names by SHA-256."""

    __slots__ = ("digest", "form", "snapshot", "warnings")

    def __init__(
        self,
        form: NormalForm,
        *,
        snapshot: dict[str, bytes] | None = None,
        warnings: tuple[Problem, ...] = (),
    ) -> None:
        self.form = form
        self.snapshot = snapshot or {}
        self.warnings = warnings
        self.digest = canonical_digest(form)

    @property
    def revision(self) -> str:
        """The first 16 hex digits of the digest (contract section 2, *Revision*)."""
        return self.digest[:REVISION_DIGITS]

    @property
    def id(self) -> str:
        """The extension id."""
        return str(self.form["provider"]["id"])

    @property
    def version(self) -> str:
        """The version the author gave, as shown."""
        return str(self.form["provider"]["version"])

    @property
    def permissions(self) -> list[str]:
        """Tokens the manifest declares."""
        return list(self.form["provider"]["permissions"])

    @property
    def requires_loopx_api(self) -> str:
        """The API expression, as written."""
        return str(self.form["provider"]["requires_loopx_api"])

    @property
    def files(self) -> list[str]:
        """The files beside the manifest that it names, relative to it: schemas with siblings, profiles."""
        runtime = self.form["runtime"]
        named = (runtime.get("request_schema"), runtime.get("response_schema")) if runtime else ()
        schemas = [schema for schema in named if schema is not None]
        profiles = [row.get("integration_profile") for row in (*self.capabilities, *self.implementations)]
        siblings = [name for schema in schemas for name in schema["siblings"]]
        paths = [schema["path"] for schema in schemas]
        return [*paths, *(profile["path"] for profile in profiles if profile is not None), *siblings]

    @property
    def runtime(self) -> Runtime | None:
        """The runtime, or None when the manifest has no `[runtime]`."""
        form = self.form["runtime"]
        return None if form is None else Runtime(form)

    @property
    def capabilities(self) -> list[Capability]:
        """The capabilities it provides, in file order."""
        return list(self.form["capabilities"])

    @property
    def implementations(self) -> list[Implementation]:
        """The capabilities of others it implements, in file order."""
        return list(self.form["implementations"])
