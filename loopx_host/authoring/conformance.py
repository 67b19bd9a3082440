"""The conformance engine: one provider, every rule, one report.

Each rule is a few bounded runs through the same process port as any other, judged from the outside, so that a
provider in any language can be held to it. `rules_friendly` holds what an honest provider may get wrong,
`rules_hostile` what a hostile one or a hostile caller does.
"""

from __future__ import annotations

from loopx_host.authoring import rules_friendly, rules_hostile
from loopx_host.authoring.subject import Skip, Subject
from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import Refused
from loopx_host.documents import conformance as document
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.preconditions import runtime_to_prove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.authoring.ports import HasPackageSources, HasTemporaryHomes
    from loopx_host.authoring.rules_friendly import Rule
    from loopx_host.documents.conformance import Conformance, RuleRow
    from loopx_host.lifecycle.dispatch.ports import HasJudging
    from loopx_host.lifecycle.extensions.ports import HasPackages, HasProcesses
    from loopx_host.lifecycle.extensions.source import Source

    class ConformancePorts(HasPackageSources, HasPackages, HasProcesses, HasJudging, HasTemporaryHomes, Protocol):
        """What holding a provider to the rules needs."""


GROUPS: dict[str, tuple[Rule, ...]] = {"friendly": rules_friendly.RULES, "hostile": rules_hostile.RULES}
RULES: tuple[Rule, ...] = tuple(rule for rules in GROUPS.values() for rule in rules)


class ConformanceRequest:
    """Hold the provider of a manifest, or of the package in a folder, to every rule, or say which there are."""

    __slots__ = ("execute", "path", "plan")

    def __init__(self, path: str, *, execute: bool, plan: str | None = None) -> None:
        self.path = path
        self.execute = execute
        self.plan = plan


def hold_to_rules(request: ConformanceRequest, ports: ConformancePorts) -> Conformance:
    """Return the report of the suite; a preview starts nothing.

    Raises Refused: `doctor_not_configured`, `plan_changed`, `entrypoint_missing`, or that of a prerequisite.
    """
    source, example = ports.package_sources.package(request.path)
    preview_command = ("extension", "conformance", source.path)
    packages, manifest = ports.packages, source.manifest
    candidate = Candidate.resolve(runtime_to_prove(manifest), source.folder, packages)
    data = example[1] if example else None
    reads = {"example_sha256": sha256_hex(data) if data is not None else None}
    plan = plan_digest("conformance", manifest.id, None, to=manifest, candidate=candidate, reads=reads)
    hold_to_plan(plan, request.plan, manifest.id, preview_command)
    if not request.execute:
        return document.planned(preview(source), plan)
    program = candidate.startable(manifest, packages, (*preview_command, "--execute"), may_start=True)
    if isinstance(program, Refused):
        raise program
    subject = Subject(
        source,
        program,
        data,
        packages=packages,
        processes=ports.processes,
        judging=ports.judging,
        temporary_homes=ports.temporary_homes,
    )
    return document.planned(conformance(subject), plan)


def conformance(subject: Subject) -> Conformance:
    """Hold the subject to every rule and return the report; ``ok`` is false when one failed."""
    return _report(subject.source, [_row(group, rule, subject) for group, rule in _rules()], executed=True)


def preview(source: Source) -> Conformance:
    """Return the report of a suite that was not run: the rules it would hold the provider to."""
    return _report(source, [_entry(group, rule, document.NOT_RUN, None) for group, rule in _rules()], executed=False)


def promise(rule: Rule) -> str:
    """Return what a rule promises to whoever relies on the provider."""
    return (rule.__doc__ or "").strip()


def _rules() -> list[tuple[str, Rule]]:
    return [(group, rule) for group, rules in GROUPS.items() for rule in rules]


def _row(group: str, rule: Rule, subject: Subject) -> RuleRow:
    try:
        reason = rule(subject)
        status = document.PASSED if reason is None else document.FAILED
    except Skip as skip:
        status, reason = document.SKIPPED, str(skip)
    return _entry(group, rule, status, reason)


def _entry(group: str, rule: Rule, status: str, reason: str | None) -> RuleRow:
    return document.rule_row(rule.__name__, group, promise(rule), status, reason)


def _report(source: Source, rows: list[RuleRow], *, executed: bool) -> Conformance:
    manifest = source.manifest
    return document.conformance(
        rows,
        extension_id=manifest.id,
        version=manifest.version,
        revision=manifest.revision,
        executed=executed,
    )
