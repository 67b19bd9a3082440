"""Another source in the place of a module of the package, for one process."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tests.support.project_files import ROOT

Rewrite = Callable[[str, str], str | None]  # path in the project, source → the source to run, or None for this one


class _Loader(SourceFileLoader):
    rewritten: str

    def get_code(self, fullname: str) -> CodeType:
        """Compile the rewritten source; no byte code of it is kept."""
        return compile(self.rewritten, self.get_filename(fullname), "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, package: str, rewrite: Rewrite) -> None:
        self.package, self.rewrite = package, rewrite

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self.package:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        origin = Path(spec.origin)
        source = self.rewrite(origin.relative_to(ROOT).as_posix(), origin.read_text("utf-8"))
        if source is None:
            return None
        spec.loader = loader = _Loader(fullname, spec.origin)
        loader.rewritten = source
        return spec


def rewritten(package: str, rewrite: Rewrite) -> None:
    """Load the modules of `package` from rewritten sources from now on. Nothing of it may be loaded yet."""
    assert package not in sys.modules, f"{package} is loaded already"
    sys.meta_path.insert(0, _Finder(package, rewrite))
