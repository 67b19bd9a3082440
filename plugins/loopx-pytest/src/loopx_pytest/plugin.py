"""The pytest plugin: `--loopx-conformance PATH` adds one test per rule, `run_extension` runs one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loopx_host import Refused, conformance, run_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    RunExtension = Callable[[str, Mapping[str, object]], Mapping[str, object]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option; it may be given for several packages."""
    group = parser.getgroup("loopx")
    group.addoption(
        "--loopx-conformance",
        action="append",
        default=[],
        metavar="PATH",
        help="hold the extension in this package or manifest to the rules of the contract",
    )


@pytest.fixture
def run_extension() -> RunExtension:
    """Return a function of (manifest path, request) that runs one request and returns the receipt.

    Nothing of the activation state of whoever runs the tests is read or written.
    """
    return run_manifest


@pytest.hookimpl(tryfirst=True)  # before -k and --deselect choose
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the rules of each package as tests of their own. Raises UsageError for a path without a package."""
    for path in config.getoption("--loopx-conformance"):
        suite = Suite(path)
        try:
            rows = conformance(path, execute=False)["rules"]
        except Refused as refused:
            raise pytest.UsageError(f"--loopx-conformance {path}: {_sentence(refused)}") from None
        items += [
            RuleItem.from_parent(
                session, name=f"{path}::{row['rule']}", suite=suite, rule=row["rule"], group=row["group"]
            )
            for row in rows
        ]


class Suite:
    """The conformance suite of one package, run once for all its rules."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rows: dict[str, Mapping[str, object]] = {}
        self._refused: str | None = None

    def row(self, rule: str) -> Mapping[str, object]:
        """Return the row of one rule. Raises BrokenRuleError when the provider could not be run at all."""
        if not self._rows and self._refused is None:
            try:
                self._rows = {row["rule"]: row for row in conformance(self._path)["rules"]}
            except Refused as refused:
                self._refused = _sentence(refused)
        if self._refused is not None:
            raise BrokenRuleError(self._refused)
        return self._rows[rule]


def _sentence(refused: Refused) -> str:
    return f"[{refused.code}] {refused.document['error']}"


class BrokenRuleError(Exception):
    """A provider broke a rule, or could not be run; the message is the rule and what was seen, or the refusal."""


class RuleItem(pytest.Item):
    """One rule of the contract as a test; ``-k`` knows its group, `friendly` or `hostile`."""

    def __init__(self, *, suite: Suite, rule: str, group: str, **settings: Any) -> None:  # noqa: ANN401 (pytest's own)
        super().__init__(**settings)
        self.extra_keyword_matches.add(group)
        self._suite = suite
        self._rule = rule

    def runtest(self) -> None:
        """Run the suite if no other rule has, and look at this one's row."""
        row = self._suite.row(self._rule)
        if row["status"] == "skipped":
            pytest.skip(str(row["reason"]))
        if row["status"] != "passed":
            raise BrokenRuleError(f"{row['promise']} Seen: {row['reason']}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401
        """Show a broken rule as one sentence, without a traceback."""
        if isinstance(excinfo.value, BrokenRuleError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)
