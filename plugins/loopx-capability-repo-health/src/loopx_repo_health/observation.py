"""The shape of one observation of a repository; for the type checker, nothing here is imported by the provider."""

from __future__ import annotations

from typing import TypedDict


class Layout(TypedDict):
    """What kind of a repository it is."""

    bare: bool
    shallow: bool
    linked_worktree: bool


class Head(TypedDict):
    """Where HEAD is: `state` is `unborn`, `branch` or `detached`."""

    state: str
    branch: str | None
    commit: str | None


class Commits(TypedDict):
    """How many commits HEAD has; at least so many when not `complete`."""

    count: int
    complete: bool


class Activity(TypedDict):
    """The newest commit of any branch."""

    at: str | None
    age_days: int


class Branch(TypedDict):
    """One branch; its time is None where git gave none that a calendar has."""

    name: str
    current: bool
    last_commit_at: str | None
    age_days: int | None


class Branches(TypedDict):
    """The newest branches first, and how many more were read."""

    items: list[Branch]
    truncated: int
    complete: bool


class TrackedFiles(TypedDict):
    """The tracked files of `index` or `head`."""

    source: str
    count: int
    complete: bool


class LargeFile(TypedDict):
    """A tracked file above the threshold."""

    path: str
    size_bytes: int


class LargeFiles(TypedDict):
    """The largest tracked files; `not_sized` are those whose object is not here."""

    threshold_bytes: int
    items: list[LargeFile]
    truncated: int
    not_sized: int


class TodoFile(TypedDict):
    """How many lines of a file hold TODO or FIXME."""

    path: str
    lines: int


class Todo(TypedDict):
    """Lines with TODO or FIXME in all tracked files."""

    lines: int
    files: int
    items: list[TodoFile]
    truncated: int
    complete: bool


class Observation(Layout):
    """What git knows about one repository; None stands for what it could not tell."""

    schema_version: str
    reference: str
    now: str | None
    head: Head
    commits: Commits | None
    last_activity: Activity | None
    branches: Branches
    files: TrackedFiles
    large_files: LargeFiles | None
    found: dict[str, str]
    missing: list[str] | None
    todo: Todo | None
    withheld: int


class Item(TypedDict):
    """One labelled value of a view."""

    label: str
    value: str


class Section(TypedDict):
    """One section of a view."""

    id: str
    title: str
    status: str
    items: list[Item]


class View(TypedDict):
    """The presentation view `repository_health_view_v0`."""

    schema_version: str
    title: str
    generated_at: str | None
    sections: list[Section]
