"""The identity of a runtime from its content: five groups, what they cover, and what they do not.

The groups are those of extension-formats (*State additions*, *Ready*). Everything that decides a group is noted
in a `Watch`, so that later one stat per file answers whether the identity can have changed.
"""

from __future__ import annotations

import os
import sys

from loopx_host.adapters.packages import (
    distributions,
    needed_files,
    python_paths,
    required_programs,
    search_path,
    shebang,
    source_trees,
    start_up,
)
from loopx_host.adapters.packages.coverage import Coverage
from loopx_host.adapters.packages.fingerprints import Watch
from loopx_host.adapters.packages.owners import find_owner
from loopx_host.adapters.packages.surroundings import Surroundings
from loopx_host.core.canonical import canonical_digest
from loopx_host.core.digest import sha256_hex
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopx_host.adapters.packages.distributions import Installed
    from loopx_host.lifecycle.extensions.identity import IdentityDetails, Launcher, Needs

_HOSTED = ("loopx.plugins", "loopx.commands")  # what of a package runs inside the host
_METADATA = ("METADATA", "PKG-INFO", "RECORD", "entry_points.txt", "direct_url.json", "top_level.txt", "requires.txt")
NOT_COVERED = (
    "the standard library and shared libraries",
    "what is imported under names that neither the package nor what it requires has",
    "programs that a shell wrapper executes further on",
    "what comes to lie in a place that code of a `.pth` file computes",
    "writes through a memory mapping that move no time stamp",
)
UNOWNED_NOT_COVERED = "anything behind the launcher: no installed distribution carries it"


def compute(launcher: Launcher, watch: Watch) -> IdentityDetails | None:
    """Return the groups, the launcher's digest and the details of an identity; None when it cannot be executed."""
    digest = watch.digest(launcher.path)
    if digest is None or not shebang.is_program(launcher.path):
        return None
    around = Surroundings(launcher, _chain(launcher, launcher.search_path, watch).programs, watch)
    environment = around.sites
    places = list(dict.fromkeys([*environment, *around.beside, *search_path.directories()]))
    for place in places:
        watch.glance(place)
    owner = find_owner(launcher, places)
    coverage = Coverage(watch, around.entries, reads_caches=around.reads_caches)
    first = _first(around, coverage, watch)
    files, closure = _behind(owner, launcher, places, watch, coverage)
    _add_hosted(owner, watch, files, closure)
    started = start_up.rows(environment, coverage, watch)
    path = required_programs.path_of_a_run(launcher, closure, places, watch)
    programs = required_programs.required(launcher, path, watch)
    found = _chain(launcher, path, watch)
    if not found.is_known:
        return None
    chain = found.programs
    groups = {
        "launcher": canonical_digest([launcher.kind, launcher.module, digest, first]),
        "interpreter": canonical_digest([_interpreter(program, found, watch) for program in chain]),
        "distribution": canonical_digest([owner.label if owner else None, files]),
        "closure": canonical_digest(closure),
        "pth": canonical_digest([what for what, _ in started]),
    }
    if programs:
        groups["programs"] = canonical_digest(required_programs.shown(programs))
    return {
        "groups": groups,
        "launcher_sha256": digest,
        "owner": owner.label if owner else None,
        "files": files,
        "closure": closure,
        "started": started,
        "programs": programs,
        "search_path": path,
        "needs": _with_programs(_needs(launcher, chain, environment, owner, closure, places), programs),
        "interpreter": os.path.basename(chain[-1]) if chain else None,
        "not_covered": [*NOT_COVERED, *(() if owner or files else (UNOWNED_NOT_COVERED,))],
    }


def _chain(launcher: Launcher, places: list[str], watch: Watch) -> shebang.Chain:
    """Return the programs that execute a launcher, names looked for in `places`."""
    found = shebang.Chain() if launcher.module else shebang.chain(launcher.path, places)
    found.programs += [launcher.path] if launcher.module else []
    for path in found.looked_at:
        watch.glance(path)
    return found


def _with_programs(needs: Needs, programs: dict[str, list[str | None] | None]) -> Needs:
    """Return what running a launcher needs together with the programs that it requires."""
    paths = [path for rows in programs.values() for path in (rows or [])[::2] if path]
    reads = [*needed_files.of_programs(paths), *(place for path in paths for place in needed_files.of_unowned(path))]
    return {**needs, "reads": list(dict.fromkeys([*needs["reads"], *reads]))}


def _needs(
    launcher: Launcher,
    chain: list[str],
    environment: list[str],
    owner: Installed | None,
    closure: dict[str, list[str] | None],
    places: list[str],
) -> Needs:
    """Return what running this launcher needs."""
    programs = [launcher.path, *chain]
    bases = (python_paths.base_of(program) for program in programs)
    reads = [*needed_files.of_programs([*programs, *filter(None, bases)]), *environment]
    lists: list[str] = []
    required = [name for name, installed in closure.items() if installed]
    for distribution in (owner, *(_lookup(name, places) for name in required)):
        if distribution is not None:
            sources, roots = needed_files.of_distribution(distribution, _modules(distribution), places)
            reads += sources
            lists += roots
    if owner is not None:
        reads += needed_files.of_record(owner, owner.record())
    elif launcher.module is None:
        reads += needed_files.of_unowned(launcher.path)
    else:
        reads += _module_paths(launcher.module, places)
    return {"reads": list(dict.fromkeys(reads)), "lists": list(dict.fromkeys(lists))}


def _first(around: Surroundings, coverage: Coverage, watch: Watch) -> dict[str, str | None]:
    """Return name → digest of what comes before the standard library on the search path, and could take its place.

    That is whatever could be imported from the folder of a script, and in the places of ``PYTHONPATH`` its names.
    """
    found = Coverage(watch, around.named).modules(sorted(sys.stdlib_module_names), []) if around.named else {}
    for folder in around.script_folders:
        found.update(coverage.all_in(folder))
    return found


def _interpreter(path: str, chain: shebang.Chain, watch: Watch) -> list[str | None]:
    """Return the digests of an interpreter and of the `pyvenv.cfg` that makes it a venv's.

    Of one that only a name leads to, its path too: the same bytes elsewhere have another standard library.
    """
    found = [watch.digest(place) for place in python_paths.settings_files(path)]
    named = [visible(path)] if path in chain.named else []
    return [watch.digest(path), next((digest for digest in found if digest), None), *named]


def _behind(
    owner: Installed | None, launcher: Launcher, places: list[str], watch: Watch, coverage: Coverage
) -> tuple[dict[str, str | None], dict[str, list[str] | None]]:
    """Return the files of the provider's distribution, and its closure.

    A module that no distribution carries is covered by the tree it lies in.
    """
    if owner is not None:
        return _files(owner, places, watch, coverage), _closure(owner, places, watch, coverage)
    if launcher.module is None:
        return {}, {}
    return coverage.modules([launcher.module], _module_paths(launcher.module, places)), {}


def _add_hosted(
    owner: Installed | None,
    watch: Watch,
    files: dict[str, str | None],
    closure: dict[str, list[str] | None],
) -> None:
    """Add what of the same package runs inside the host: the copy that loopx itself would import, and its closure."""
    places = search_path.directories()
    copy = _lookup(distributions.normalised(owner.name), places) if owner else None
    if owner is None or copy is None or not any(entry.group in _HOSTED for entry in copy.entry_points()):
        return
    coverage = Coverage(watch, search_path.search_path())
    is_same = os.path.realpath(copy.path) == os.path.realpath(owner.path)
    prefix = "" if is_same else f"{visible(copy.site)}/"
    files.update({f"{prefix}{name}": digest for name, digest in _files(copy, places, watch, coverage).items()})
    for name, row in _closure(copy, places, watch, coverage).items():
        if closure.get(name) != row:
            closure[f"{name} (where loopx runs)"] = row


def _files(owner: Installed, places: list[str], watch: Watch, coverage: Coverage) -> dict[str, str | None]:
    """Return name → digest of every file of a distribution, and of what could be imported under its names.

    Of an editable install, and of one without a RECORD, these are its sources, as far as they can be imported.
    """
    watch.glance(owner.path)
    for name in _METADATA:
        watch.digest(os.path.join(owner.path, name))
    modules, sources = _modules(owner), list[str]()
    if owner.editable_source() is not None or not owner.record():
        for pointer in (*source_trees.pointers(owner), *source_trees.source_roots(owner)):
            watch.glance(pointer)
        sources = source_trees.covered_sources(owner, modules, places)
        modules += source_trees.owned_modules(owner)
    return coverage.files(owner, modules, sources)


def _modules(owner: Installed) -> list[str]:
    named = [entry.value.partition(":")[0].strip() for entry in owner.entry_points()]
    return [*named, *(owner.text("top_level.txt") or "").split()]


def _module_paths(module: str, places: list[str]) -> list[str]:
    """Return where the top-level package of a module lies: at most one path."""
    top = module.split(".", maxsplit=1)[0]
    candidates = (os.path.join(place, name) for place in places for name in (top, f"{top}.py"))
    return [path for path in candidates if os.path.exists(path)][:1]


def _closure(owner: Installed, places: list[str], watch: Watch, coverage: Coverage) -> dict[str, list[str] | None]:
    """Return name → [version, RECORD digest, digest of files] of all distributions `owner` requires, transitively.

    None stands for a requirement that is not installed: that it appears later is a change too.
    """
    closure: dict[str, list[str] | None] = {}
    asked: set[tuple[str, frozenset[str]]] = set()
    own = distributions.normalised(owner.name)
    waiting = list(_required(owner, frozenset()))
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in asked:
            continue
        asked.add((name, extras))
        found = owner if name == own else _lookup(name, places)
        if found is None:
            closure[name] = None
            continue
        if name != own and name not in closure:
            record = sha256_hex((found.record_digest_text() or "").encode())
            closure[name] = [found.version, record, canonical_digest(_files(found, places, watch, coverage))]
        waiting += _required(found, extras)
    return closure


def _lookup(name: str, places: list[str]) -> Installed | None:
    for place in places:
        path = distributions.by_name(place).get(name)
        if path is not None:
            return distributions.Installed(path)
    return None


def _required(distribution: Installed, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Return (name, extras asked of it) for each distribution that another with these `extras` requires here."""
    from packaging.requirements import InvalidRequirement, Requirement

    for line in distribution.requires():
        try:
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                yield distributions.normalised(requirement.name), frozenset(requirement.extras)
        except (InvalidRequirement, ValueError):
            continue
