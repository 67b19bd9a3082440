"""The identity of a runtime from its content: five groups, what they cover, and what they do not.

The groups are those of extension-formats (*State additions*, *Ready*). Everything that decides a group is noted
in a `Watch`, so that later one stat per file answers whether the identity can have changed.
"""

from __future__ import annotations

import os

from loopx_host.adapters.files import bounded
from loopx_host.adapters.packages import distributions, launchers, needed_files, search_path, source_trees
from loopx_host.adapters.packages.fingerprints import Watch
from loopx_host.adapters.packages.owners import find_owner
from loopx_host.core.canonical import canonical_digest
from loopx_host.core.digest import sha256_hex
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopx_host.adapters.packages.distributions import Installed
    from loopx_host.lifecycle.extensions.identity import IdentityDetails, Launcher, Needs

_SETTINGS_BYTES = 64 * 1024
NOT_COVERED = (
    "the standard library and shared libraries",
    "files of dependencies that were edited by hand (their RECORD is covered)",
    "sitecustomize and usercustomize",
    "programs that a shell wrapper executes further on",
    "writes through a memory mapping that move no time stamp",
)
UNOWNED_NOT_COVERED = "anything behind the launcher: no installed distribution carries it"


def compute(launcher: Launcher, watch: Watch) -> IdentityDetails | None:
    """Return the groups, the launcher's digest and the details of an identity; None when it cannot be executed."""
    digest = watch.digest(launcher.path)
    if digest is None or not launchers.is_program(launcher.path):
        return None
    chain = [launcher.path] if launcher.module else launchers.interpreters(launcher.path)
    environment = environment_places([launcher.path, *chain], watch)
    places = list(dict.fromkeys([*environment, *search_path.directories()]))
    for place in places:
        watch.glance(place)
    owner = find_owner(launcher, places)
    files = _distribution_files(owner, launcher, places, watch)
    closure = _closure(owner, places, watch) if owner else {}
    groups = {
        "launcher": canonical_digest([launcher.kind, launcher.module, digest, _neighbours(launcher, watch)]),
        "interpreter": canonical_digest([_interpreter(path, watch) for path in chain]),
        "distribution": canonical_digest([owner.label if owner else None, files]),
        "closure": canonical_digest(closure),
        "pth": canonical_digest(_path_files(environment, watch)),
    }
    return {
        "groups": groups,
        "launcher_sha256": digest,
        "owner": owner.label if owner else None,
        "files": files,
        "closure": closure,
        "needs": _needs(
            launcher, chain, environment, owner, [name for name, installed in closure.items() if installed], places
        ),
        "interpreter": os.path.basename(chain[-1]) if chain else None,
        "not_covered": [*NOT_COVERED, *(() if owner or files else (UNOWNED_NOT_COVERED,))],
    }


def _needs(
    launcher: Launcher,
    chain: list[str],
    environment: list[str],
    owner: Installed | None,
    required: list[str],
    places: list[str],
) -> Needs:
    """Return what running this launcher needs."""
    reads = [*needed_files.of_programs([launcher.path, *chain]), *environment]
    lists: list[str] = []
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


def _neighbours(launcher: Launcher, watch: Watch) -> dict[str, str | None]:
    """Return name → digest of what a launcher that is a Python script would import from its own folder first."""
    if launcher.module is not None or not launchers.is_python_script(launcher.path):
        return {}
    watch.glance(os.path.dirname(launcher.path))
    found: dict[str, str | None] = {}
    for path in source_trees.neighbours(launcher.path):
        found.update(
            _tree(path, watch) if os.path.isdir(path) else {visible(os.path.basename(path)): watch.digest(path)}
        )
    return found


def environment_places(programs: list[str], watch: Watch) -> list[str]:
    """Return the site directories that the interpreter behind a launcher adds to its path.

    A virtual environment has its own; with ``include-system-site-packages`` those of its base come too.
    """
    found: list[str] = []
    for program in programs:
        settings = _venv_settings(program, watch)
        found += search_path.site_directories(program)
        if settings is None or "include-system-site-packages = true" in settings.lower():
            found += search_path.site_directories(os.path.realpath(program))
            found += search_path.user_site_directories()
    return list(dict.fromkeys(found))


def _venv_settings(program: str, watch: Watch) -> str | None:
    """Return the text of the `pyvenv.cfg` that makes `program` a virtual environment's, or None."""
    directory = os.path.dirname(program)
    for place in (directory, os.path.dirname(directory)):
        path = os.path.join(place, "pyvenv.cfg")
        if watch.digest(path) is not None:
            return bounded.read_regular(path, _SETTINGS_BYTES).decode("utf-8", "replace")
    return None


def _interpreter(path: str, watch: Watch) -> list[str | None]:
    """Return the digests of an interpreter and of the `pyvenv.cfg` that makes it a venv's."""
    directory = os.path.dirname(path)
    settings = [os.path.join(place, "pyvenv.cfg") for place in (directory, os.path.dirname(directory))]
    found = [watch.digest(place) for place in settings]
    return [watch.digest(path), next((digest for digest in found if digest), None)]


def _distribution_files(
    owner: Installed | None, launcher: Launcher, places: list[str], watch: Watch
) -> dict[str, str | None]:
    """Return name → digest of every file of the provider's distribution.

    Of an editable install, and of one without a RECORD, these are its sources, as far as they can be imported. A
    module that no distribution carries is covered by the tree it lies in.
    """
    if owner is None:
        return _module_tree(launcher, places, watch) if launcher.module else {}
    watch.glance(owner.path)
    for name in ("METADATA", "RECORD", "entry_points.txt", "direct_url.json", "top_level.txt"):
        watch.digest(os.path.join(owner.path, name))
    recorded = owner.record()
    if owner.editable_source() is None and recorded:
        return _recorded_files(owner, recorded, watch)
    covered: dict[str, str | None] = {}
    for pointer in (*source_trees.pointers(owner), *source_trees.source_roots(owner)):
        watch.glance(pointer)
    for path in source_trees.covered_sources(owner, _modules(owner), places):
        covered.update(_tree(path, watch))
    for name in recorded:
        covered[name] = watch.digest(os.path.normpath(os.path.join(owner.site, name)))
    return covered


def _recorded_files(owner: Installed, recorded: list[str], watch: Watch) -> dict[str, str | None]:
    """Return the digests of what RECORD lists, and of what was put beside it into the package's own folders."""
    paths = {name: os.path.normpath(os.path.join(owner.site, name)) for name in recorded}
    covered = {name: watch.digest(path) for name, path in paths.items()}
    inside = [path for path in paths.values() if os.path.dirname(path).startswith(owner.site + os.sep)]
    packaged = [path for path in inside if not os.path.dirname(path).endswith(distributions.ENDINGS)]
    more, directories = source_trees.beside(packaged)
    for directory in directories:
        watch.glance(directory)
    covered.update({visible(os.path.relpath(path, owner.site)): watch.digest(path) for path in more})
    return covered


def _modules(owner: Installed) -> list[str]:
    named = [entry.value.partition(":")[0].strip() for entry in owner.entry_points()]
    return [*named, *(owner.text("top_level.txt") or "").split()]


def _module_tree(launcher: Launcher, places: list[str], watch: Watch) -> dict[str, str | None]:
    paths = _module_paths(str(launcher.module), places)
    return _tree(paths[0], watch) if paths else {}


def _module_paths(module: str, places: list[str]) -> list[str]:
    """Return where the top-level package of a module lies: at most one path."""
    top = module.split(".", maxsplit=1)[0]
    candidates = (os.path.join(place, name) for place in places for name in (top, f"{top}.py"))
    return [path for path in candidates if os.path.exists(path)][:1]


def _tree(folder: str, watch: Watch) -> dict[str, str | None]:
    files, directories = source_trees.files_below(folder)
    for directory in directories:
        watch.glance(directory)
    base = os.path.dirname(folder)
    return {visible(os.path.relpath(path, base)): watch.digest(path) for path in files}


def _closure(owner: Installed, places: list[str], watch: Watch) -> dict[str, list[str] | None]:
    """Return name → [version, RECORD digest] of every distribution `owner` requires, transitively.

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
            watch.glance(found.path)
            for file in ("METADATA", "PKG-INFO", "RECORD", "requires.txt"):
                watch.digest(os.path.join(found.path, file))
            closure[name] = [found.version, sha256_hex((found.record_digest_text() or "").encode())]
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


def _path_files(places: list[str], watch: Watch) -> list[list[str | None]]:
    """Return (name, digest) of the ``.pth`` files that the environment executes or follows at start."""
    return [
        [visible(os.path.basename(path)), watch.digest(path)]
        for place in places
        for path in source_trees.path_files(place)
    ]
