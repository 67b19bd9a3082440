"""One observation as the presentation view `repository_health_view_v0`: sections of labels and values, plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_repo_health.observation import Observation, Section, View

VIEW_SCHEMA = "repository_health_view_v0"
OK, ATTENTION, UNKNOWN = STATUSES = ("ok", "attention", "unknown")
QUIET_DAYS = 180
STALE_BRANCH_DAYS = 90
TODO_LINES = 100
BRANCHES_SHOWN = 20
TEXT_LENGTH = 300
ITEMS = 120
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def repository_health_view(observation: Observation) -> View:
    """Return the view of what `inspect` observed; the same observation gives the same view."""
    return {
        "schema_version": VIEW_SCHEMA,
        "title": "Repository health",
        "generated_at": observation["now"],
        "sections": [make(observation) for make in SECTIONS],
    }


def check(view: object) -> list[str]:
    """Return what is wrong with a view, one sentence each; empty for one that can be shown."""
    if not isinstance(view, dict) or set(view) != {"schema_version", "title", "generated_at", "sections"}:
        return ["a view holds exactly schema_version, title, generated_at and sections"]
    wrong = [] if view["schema_version"] == VIEW_SCHEMA else [f"schema_version must be {VIEW_SCHEMA}"]
    wrong += [] if _plain(view["title"]) else ["title must be one plain line"]
    time = view["generated_at"]
    wrong += [] if isinstance(time, str) and _TIME.fullmatch(time) else ["generated_at must be a time in UTC"]
    sections = view["sections"]
    if not isinstance(sections, list):
        return [*wrong, "sections must be a list"]
    wrong += [sentence for number, section in enumerate(sections) for sentence in _section_faults(number, section)]
    names = [
        section["id"] for section in sections if isinstance(section, dict) and isinstance(section.get("id"), str)
    ]
    return wrong + (["sections must have ids of their own"] if len(set(names)) != len(names) else [])


def _section_faults(number: int, section: object) -> list[str]:
    at = f"sections[{number}]"
    if not isinstance(section, dict) or set(section) != {"id", "title", "status", "items"}:
        return [f"{at} must hold exactly id, title, status and items"]
    wrong = [f"{at}.{key} must be one plain line" for key in ("id", "title") if not _plain(section[key])]
    wrong += [] if section["status"] in STATUSES else [f"{at}.status must be one of {', '.join(STATUSES)}"]
    items = section["items"]
    if not isinstance(items, list) or len(items) > ITEMS:
        return [*wrong, f"{at}.items must be a list of at most {ITEMS}"]
    good = all(
        isinstance(item, dict) and set(item) == {"label", "value"} and all(map(_plain, item.values()))
        for item in items
    )
    return wrong + ([] if good else [f"{at}.items must hold a label and a value each, one plain line both"])


def _plain(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= TEXT_LENGTH and text.isprintable()


def _section(name: str, title: str, status: str, items: list[tuple[str, str]]) -> Section:
    return {
        "id": name,
        "title": title,
        "status": status,
        "items": [{"label": label, "value": value} for label, value in items],
    }


def _activity(seen: Observation) -> Section:
    last, head, commits = seen["last_activity"], seen["head"], seen["commits"]
    where = {"unborn": "no commit yet", "detached": f"detached at {head['commit']}"}
    items = [("Head", where.get(head["state"], head["branch"] or ""))]
    if head["state"] == "branch":  # a line of its own: a name and what stands beside it could look like a secret
        items.append(("Commit", head["commit"] or ""))
    if commits is not None:
        items.append(("Commits", _at_least(commits["count"], complete=commits["complete"])))
    if seen["shallow"]:
        items.append(("History", "shallow clone: older commits are not here"))
    if last is None:
        return _section("activity", "Activity", UNKNOWN, items)
    items.insert(0, ("Last commit", f"{last['at']} ({_days(last['age_days'])})"))
    return _section("activity", "Activity", _worse(last["age_days"] > QUIET_DAYS), items)


def _branches(seen: Observation) -> Section:
    rows, hidden = seen["branches"]["items"], seen["branches"]["truncated"]
    shown = rows[:BRANCHES_SHOWN]
    items = [(row["name"], "age unknown" if row["age_days"] is None else _days(row["age_days"])) for row in shown]
    items += _more(hidden + len(rows) - len(shown))
    stale = any((row["age_days"] or 0) > STALE_BRANCH_DAYS for row in rows)
    return _section("branches", "Branches", _worse(stale) if rows else UNKNOWN, items)


def _essentials(seen: Observation) -> Section:
    titles = {"licence": "Licence", "readme": "Readme", "ci": "Continuous integration"}
    found, missing = seen["found"], seen["missing"]
    absent = "not known" if missing is None else "missing"
    items = [(title, found.get(kind, absent)) for kind, title in titles.items()]
    return _section("essentials", "Expected files", UNKNOWN if missing is None else _worse(bool(missing)), items)


def _files(seen: Observation) -> Section:
    files, large = seen["files"], seen["large_files"]
    items = [("Tracked files", _at_least(files["count"], complete=files["complete"]))]
    if seen["withheld"]:
        items.append(("Names withheld", str(seen["withheld"])))
    if large is None:
        return _section("files", "Files", UNKNOWN, items)
    items += [(row["path"], f"{row['size_bytes'] // 1024} KiB") for row in large["items"]]
    items += _more(large["truncated"])
    if large["not_sized"]:
        items.append(("Files of unknown size", str(large["not_sized"])))
    is_sure = bool(large["items"]) or (files["complete"] and not large["not_sized"])
    return _section("files", "Files", _worse(bool(large["items"])) if is_sure else UNKNOWN, items)


def _todo(seen: Observation) -> Section:
    todo = seen["todo"]
    if todo is None:
        return _section("todo", "TODO and FIXME", UNKNOWN, [])
    lines = _at_least(todo["lines"], complete=todo["complete"])
    items = [("Lines", f"{lines} in {_counted(todo['files'], 'file')}")]
    items += [(row["path"], str(row["lines"])) for row in todo["items"]]
    items += _more(todo["truncated"])
    many = todo["lines"] > TODO_LINES
    return _section("todo", "TODO and FIXME", _worse(many) if many or todo["complete"] else UNKNOWN, items)


SECTIONS: tuple[Callable[[Observation], Section], ...] = (_activity, _branches, _essentials, _files, _todo)


def _worse(is_worse: bool) -> str:
    return ATTENTION if is_worse else OK


def _days(days: int) -> str:
    return "today" if days == 0 else f"{_counted(days, 'day')} ago"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _at_least(number: int, *, complete: bool) -> str:
    return str(number) if complete else f"at least {number}"


def _more(number: int) -> list[tuple[str, str]]:
    return [("Not listed", f"{number} more")] if number else []
