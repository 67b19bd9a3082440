"""README.zh-CN.md keeps step with README.md: the same headings, blocks and links, in the same order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ORIGINAL, TRANSLATION = ROOT / "README.md", ROOT / "README.zh-CN.md"
BLOCK = re.compile(r"^```[^\n]*\n.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) ", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def differences(original: str, translation: str) -> list[str]:
    """Return in what the translation does not keep step."""
    found: list[str] = []
    if BLOCK.findall(original) != BLOCK.findall(translation):
        found.append("blocks")
    prose, translated = BLOCK.sub("", original), BLOCK.sub("", translation)
    if HEADING.findall(prose) != HEADING.findall(translated):
        found.append("headings")
    if _links(prose) != _links(translated):
        found.append("links")
    return found


def _links(prose: str) -> list[str]:
    # Each page links to the other in its own place; that pair is the same link.
    return [re.sub(r"^README(\.zh-CN)?\.md$", "the other language", target) for target in LINK.findall(prose)]


def test_the_translation_keeps_step() -> None:
    assert differences(ORIGINAL.read_text("utf-8"), TRANSLATION.read_text("utf-8")) == []


def test_each_page_leads_to_the_other() -> None:
    assert TRANSLATION.name in LINK.findall(ORIGINAL.read_text("utf-8"))
    assert ORIGINAL.name in LINK.findall(TRANSLATION.read_text("utf-8"))


PAGE = "# A\n\n[b](c.md)\n\n```console\n$ true\n```\n\n## D\n"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (PAGE.replace("$ true", "$ false"), "blocks"),
        (PAGE.replace("```console\n$ true\n```\n", ""), "blocks"),
        (PAGE.replace("## D", "### D"), "headings"),
        (PAGE.replace("\n## D\n", ""), "headings"),
        (PAGE.replace("c.md", "e.md"), "links"),
        (PAGE + "[f](g.md)\n", "links"),
    ],
)
def test_a_page_out_of_step_is_seen(changed: str, named: str) -> None:
    assert differences(PAGE, changed) == [named]


def test_another_language_alone_is_no_difference() -> None:
    assert differences(PAGE, PAGE.replace("# A", "# 甲").replace("[b]", "[乙]")) == []
