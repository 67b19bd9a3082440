"""The operation `inspect`: what git knows about one repository, as one bounded observation."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loopx_host import OperationFailed
from loopx_repo_health import moments, names
from loopx_repo_health.essentials import ESSENTIALS, kinds_of
from loopx_repo_health.git import Repository
from loopx_repo_health.private import is_private
from loopx_repo_health.request import LARGE_FILE_KB, LARGE_FILE_KB_MAX, REFERENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loopx_repo_health.git import Answer
    from loopx_repo_health.observation import (
        Activity,
        Branch,
        Commits,
        Head,
        LargeFiles,
        Layout,
        Observation,
        Todo,
    )

OBSERVATION_SCHEMA = "repository_health_v0"
COMMITS = 10_000
BRANCHES_READ = 1_000
BRANCHES_SHOWN = 100
FILES = 100_000
LARGE_FILES_SHOWN = 50
TODO_FILES_SHOWN = 20
COMMIT_DIGITS = 12

_TODO_RECORD = re.compile(rb"([^\0]+)\0([0-9]+)\n")
_GITLINK = b"160000"
_WITHHELD = "(name withheld)"
_NONE_MATCHED = 1  # git grep's status for "no line"


@dataclass(frozen=True, slots=True)
class Request:
    """The input of `inspect`, checked."""

    now: int
    large_file_bytes: int


@dataclass(slots=True)
class Files:
    """The tracked files: paths with the object that holds each, or the size where git gave it at once."""

    source: str
    objects: list[tuple[bytes, bytes]] = field(default_factory=list)
    sizes: dict[bytes, int] | None = None
    count: int = 0
    complete: bool = True


def inspect(
    request: Mapping[str, object], references: dict[str, str], *, withhold: Callable[[str], bool] = is_private
) -> list[Observation]:
    """Return one observation about the repository that the reference `repo` names. Raises OperationFailed.

    `withhold` says of a name whether the caller may not see it; such a name is counted and not copied.
    """
    asked = read_request(request)
    if REFERENCE not in references:
        raise OperationFailed("reference_missing", f"name the repository as the context reference `{REFERENCE}`")
    repository = Repository(references[REFERENCE])

    withheld: list[bytes] = []

    def shown(name: bytes) -> str:
        text = names.shown(name)
        if not withhold(text):
            return text
        withheld.append(name)
        return _WITHHELD

    layout = _layout(repository)
    head, head_time = _head(repository, shown)
    branches = _branches(repository, asked.now, shown)
    times = [seconds for seconds, _ in branches] + [head_time]
    files = _files(repository, unborn=head["commit"] is None)
    found, missing = _essentials(files, shown)
    large_files = _large_files(repository, files, asked.large_file_bytes, shown)
    todo = _todo(repository, files, shown)
    return [
        {
            "schema_version": OBSERVATION_SCHEMA,
            "reference": REFERENCE,
            "now": moments.shown(asked.now),
            **layout,
            "head": head,
            "commits": _commits(repository, unborn=head["commit"] is None),
            "last_activity": _activity(times, asked.now),
            "branches": {
                "items": [row for _, row in branches[:BRANCHES_SHOWN]],
                "truncated": max(0, len(branches) - BRANCHES_SHOWN),
                "complete": len(branches) < BRANCHES_READ,
            },
            "files": {"source": files.source, "count": files.count, "complete": files.complete},
            "large_files": large_files,
            "found": found,
            "missing": missing,
            "todo": todo,
            "withheld": len(set(withheld)),
        }
    ]


def read_request(request: Mapping[str, object]) -> Request:
    """Return the input, checked. Raises OperationFailed with code `invalid_input`."""
    unknown = sorted(set(request) - {"now", "large_file_kb"})
    if unknown:
        raise OperationFailed("invalid_input", "the input has a field other than now and large_file_kb")
    kilobytes = request.get("large_file_kb", LARGE_FILE_KB)
    if type(kilobytes) is not int or not 1 <= kilobytes <= LARGE_FILE_KB_MAX:
        raise OperationFailed("invalid_input", f"large_file_kb must be a whole number, 1 to {LARGE_FILE_KB_MAX}")
    now = moments.read(request["now"]) if "now" in request else int(time.time())
    return Request(now, kilobytes * 1024)


def _layout(repository: Repository) -> Layout:
    """Ask the one question that every repository git can open answers."""
    answer = repository.call("rev-parse", "--is-shallow-repository", "--git-dir", "--git-common-dir")
    lines = answer.output.split(b"\n")
    if answer.late:
        raise OperationFailed("git_timeout", "git did not answer in time; the repository may lie on a slow disk")
    if not answer.succeeded:
        raise OperationFailed(
            "repository_unreadable",
            "git cannot open the repository; it is damaged, too new for this git, "
            "or its data lies outside of the directory that was named",
        )
    return {
        "bare": not repository.has_work_tree,
        "shallow": lines[0] == b"true",
        "linked_worktree": repository.has_work_tree and lines[1] != lines[2],
    }


def _head(repository: Repository, shown: Callable[[bytes], str]) -> tuple[Head, int | None]:
    symbolic = repository.call("symbolic-ref", "--quiet", "HEAD")
    branch = symbolic.output.removesuffix(b"\n").removeprefix(b"refs/heads/") if symbolic.succeeded else None
    tip = repository.call("rev-list", "--max-count=1", "--timestamp", "HEAD", "--")
    stamp, _, commit = tip.output.strip().partition(b" ") if tip.succeeded else (b"", b"", b"")
    state = "unborn" if not commit else "branch" if branch is not None else "detached"
    head: Head = {
        "state": state,
        "branch": None if branch is None else shown(branch),
        "commit": commit.decode("ascii")[:COMMIT_DIGITS] or None,
    }
    return head, _seconds(stamp)


def _commits(repository: Repository, *, unborn: bool) -> Commits | None:
    if unborn:
        return {"count": 0, "complete": True}
    answer = repository.call("rev-list", "--count", f"--max-count={COMMITS + 1}", "HEAD", "--")
    if not answer.succeeded:
        return None
    count = int(answer.output)
    return {"count": min(count, COMMITS), "complete": count <= COMMITS}


def _branches(repository: Repository, now: int, shown: Callable[[bytes], str]) -> list[tuple[int | None, Branch]]:
    """Return the newest BRANCHES_READ branches with their times, newest first."""
    answer = repository.call(
        "for-each-ref",
        f"--count={BRANCHES_READ}",
        "--sort=-committerdate",
        "--format=%(committerdate:unix)%00%(HEAD)%00%(refname)",
        "refs/heads",
    )
    if not answer.succeeded:
        raise OperationFailed("repository_unreadable", "git cannot read the branches of the repository")
    rows: list[tuple[int | None, Branch]] = []
    for line in answer.output.splitlines():
        stamp, mark, name = line.split(b"\0")
        seconds = _seconds(stamp)
        row: Branch = {
            "name": shown(name.removeprefix(b"refs/heads/")),
            "current": mark == b"*",
            "last_commit_at": None if seconds is None else moments.shown(seconds),
            "age_days": None if seconds is None else moments.age_days(seconds, now),
        }
        rows.append((seconds, row))
    rows.sort(key=lambda row: (-(row[0] or 0), row[1]["name"]))
    return rows


def _activity(seen: list[int | None], now: int) -> Activity | None:
    times = [seconds for seconds in seen if seconds is not None]
    if not times:
        return None
    newest = max(times)
    return {"at": moments.shown(newest), "age_days": moments.age_days(newest, now)}


def _files(repository: Repository, *, unborn: bool) -> Files:
    """Return the files of the index; those of HEAD where there is no index, as in a bare repository."""
    if repository.has_work_tree:
        files = _indexed(repository)
        if files.count or unborn:
            return files
    if unborn:
        return Files("head")
    return _committed(repository)


def _indexed(repository: Repository) -> Files:
    files = Files("index")
    answer = repository.call("ls-files", "-z", "--stage")
    previous = None
    for record in _records(answer, files):
        fields, _, path = record.partition(b"\t")
        mode, identity, _ = fields.split(b" ")
        if path == previous:
            continue  # the sides of a conflict: one file
        previous = path
        files.count += 1
        if mode != _GITLINK:
            files.objects.append((path, identity))
    return files


def _committed(repository: Repository) -> Files:
    files = Files("head", sizes={})
    answer = repository.call("ls-tree", "-r", "-z", "-l", "--full-tree", "HEAD")
    for record in _records(answer, files):
        fields, _, path = record.partition(b"\t")
        mode, _, identity, size = fields.split()
        files.count += 1
        if mode != _GITLINK:
            files.objects.append((path, identity))
            if files.sizes is not None and size.isdigit():
                files.sizes[identity] = int(size)
    return files


def _records(answer: Answer, files: Files) -> Iterator[bytes]:
    """Yield the whole records of a listing, at most FILES of them; a listing that failed is an incomplete one."""
    *records, _ = answer.output.split(b"\0")
    files.complete = answer.succeeded and len(records) <= FILES
    yield from records[:FILES]


def _essentials(files: Files, shown: Callable[[bytes], str]) -> tuple[dict[str, str], list[str] | None]:
    """Return one file per essential, and the essentials without one; None when not every file was seen."""
    found: dict[str, bytes] = {}
    for path, _ in files.objects:
        for kind in kinds_of(path.decode("utf-8", "replace")):
            found[kind] = min(path, found.get(kind, path), key=lambda name: (name.count(b"/"), name))
    missing = [kind for kind in ESSENTIALS if kind not in found]
    return {kind: shown(found[kind]) for kind in ESSENTIALS if kind in found}, (
        missing if files.complete or not missing else None
    )


def _large_files(
    repository: Repository, files: Files, threshold: int, shown: Callable[[bytes], str]
) -> LargeFiles | None:
    sizes = files.sizes if files.sizes is not None else _sizes(repository, files)
    if sizes is None:
        return None
    large = [(sizes[identity], path) for path, identity in files.objects if sizes.get(identity, 0) > threshold]
    large.sort(key=lambda row: (-row[0], row[1]))
    return {
        "threshold_bytes": threshold,
        "items": [{"path": shown(path), "size_bytes": size} for size, path in large[:LARGE_FILES_SHOWN]],
        "truncated": max(0, len(large) - LARGE_FILES_SHOWN),
        "not_sized": sum(identity not in sizes for _, identity in files.objects),
    }


def _sizes(repository: Repository, files: Files) -> dict[bytes, int] | None:
    """Return the size of each object that is there."""
    wanted = b"".join(identity + b"\n" for identity in dict.fromkeys(identity for _, identity in files.objects))
    if not wanted:
        return {}
    answer = repository.call("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=wanted)
    if not answer.succeeded:
        return None
    rows = (line.partition(b" ") for line in answer.output.splitlines())
    return {identity: int(size) for identity, _, size in rows if size.isdigit()}


def _todo(repository: Repository, files: Files, shown: Callable[[bytes], str]) -> Todo | None:
    """Count the lines with the word TODO or FIXME in tracked text files."""
    if not files.count:
        return {"lines": 0, "files": 0, "items": [], "truncated": 0, "complete": True}
    where = ["--cached"] if files.source == "index" else ["HEAD"]
    options = ["-c", "-z", "-I", "-w", "-F", "--full-name", "--no-color", "--no-textconv", "--no-recurse-submodules"]
    answer = repository.call("grep", *options, "-e", "TODO", "-e", "FIXME", *where, "--")
    if answer.late or answer.cut or answer.status not in {0, _NONE_MATCHED}:
        return None
    counts: Counter[bytes] = Counter()
    for path, lines in _TODO_RECORD.findall(answer.output):
        counts[path if files.source == "index" else path.removeprefix(b"HEAD:")] += int(lines)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return {
        "lines": sum(counts.values()),
        "files": len(rows),
        "items": [{"path": shown(path), "lines": lines} for path, lines in rows[:TODO_FILES_SHOWN]],
        "truncated": max(0, len(rows) - TODO_FILES_SHOWN),
        "complete": not answer.complained,
    }


def _seconds(stamp: bytes) -> int | None:
    """Return a time git printed; None for what is none or lies outside of any calendar."""
    try:
        seconds = int(stamp)
    except ValueError:
        return None
    return seconds if moments.shown(seconds) is not None else None
