"""Markers name rows that exist, and the report of unproved rows counts as it says."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.project_files import ROOT, syntax
from tests.support.requirements import PAGE, report, rows, unproved

pytest_plugins = ["pytester"]

SMALL_PAGE = """\
# Rows

| id | source | requirement | test |
| --- | --- | --- | --- |
| X1 | chapter | one | see |
| M002 | §1 | two, see M001 | see |
| E059 | §2 | three | see |
"""


def marked_rows(source: ast.AST) -> Iterator[object]:
    """Yield the arguments of every `pytest.mark.req(...)` in a Python source."""
    for node in ast.walk(source):
        if isinstance(node, ast.Call) and _is_mark(node.func):
            yield from (argument.value if isinstance(argument, ast.Constant) else None for argument in node.args)


def _is_mark(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "req" and ast.unparse(node) == "pytest.mark.req"


def test_rows_are_read_in_page_order() -> None:
    assert rows(SMALL_PAGE) == ["X1", "M002", "E059"]


def test_an_id_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="X1"):
        rows(SMALL_PAGE + "| X1 | again | four | see |\n")


def test_the_page_holds_every_family_of_rows() -> None:
    families = {row[0] for row in rows(PAGE.read_text("utf-8"))}

    assert families == {"X", "M", "S", "E", "B"}


def test_a_row_without_a_passing_test_is_not_proved() -> None:
    assert unproved(["X1", "X2"], proved={"X1"}, failing=set()) == ["X2"]


def test_a_row_with_a_failing_test_is_not_proved_by_another_that_passes() -> None:
    assert unproved(["X1"], proved={"X1"}, failing={"X1"}) == ["X1"]


def test_the_report_names_every_unproved_row() -> None:
    said = report(["X1", "X2", "M001"], proved={"X1"}, failing=set())

    assert said[-1].split(": ")[1] == "X2 M001"


def test_every_marked_row_is_on_the_page() -> None:
    known = set(rows(PAGE.read_text("utf-8")))
    tests = [path for folder in ("tests", "examples", "plugins") for path in (ROOT / folder).rglob("test_*.py")]

    marked = {row for path in tests for row in marked_rows(syntax(path))}

    assert marked - known == set()


def test_the_option_prints_rows_without_a_passing_test(pytester: pytest.Pytester) -> None:
    conftest = (ROOT / "tests" / "conftest.py").read_text("utf-8")
    pytester.makeconftest(conftest)
    pytester.makeini(f"[pytest]\nmarkers =\n    req(*ids): rows\npythonpath = {ROOT}\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.req("X1", "M004")
        def test_good() -> None:
            assert True

        @pytest.mark.req("X2")
        def test_bad() -> None:
            assert False

        @pytest.mark.skip
        @pytest.mark.req("X3")
        def test_skipped() -> None:
            assert True
        """
    )

    ended = pytester.runpytest_inprocess("--requirements", "-p", "no:cacheprovider")

    missing = ended.outlines[next(i for i, line in enumerate(ended.outlines) if line.startswith("not proved: "))]
    assert {"X2", "X3"} <= set(missing.split())
    assert not {"X1", "M004"} & set(missing.split())


@pytest.mark.parametrize("row", ["X14", "B11"])
@pytest.mark.parametrize(("ci", "outcome"), [("true", "failed"), ("", "skipped")], ids=["CI", "elsewhere"])
def test_a_skip_of_a_row_that_ci_has_to_prove_fails_there(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, row: str, ci: str, outcome: str
) -> None:
    monkeypatch.setenv("CI", ci)
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text("utf-8"))
    pytester.makeini(f"[pytest]\nmarkers =\n    req(*ids): rows\npythonpath = {ROOT}\n")
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture
        def tool() -> None:
            pytest.skip("there is no such tool")

        @pytest.mark.req("{row}")
        @pytest.mark.skipif(True, reason="not here")
        def test_marked() -> None: ...

        @pytest.mark.req("X1", "{row}")
        def test_found_out_later(tool: None) -> None: ...

        @pytest.mark.req("X1")
        def test_of_another_row(tool: None) -> None: ...
        """
    )

    ended = pytester.runpytest_inprocess("-p", "no:cacheprovider")

    counts = ended.parseoutcomes()
    failed = counts.get("failed", 0) + counts.get("errors", 0)
    assert (failed, counts.get("skipped", 0)) == ((2, 1) if outcome == "failed" else (0, 3))
