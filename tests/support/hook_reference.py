"""docs/reference/hooks.md, written from the docstrings of the hooks.

``python -m tests.support.hook_reference`` writes the page anew; a test compares the two.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from loopx_host.core.limits import (
    PLUGIN_ANSWER_BYTES,
    PLUGIN_HOOK_SECONDS,
    PLUGIN_LOAD_SECONDS,
    PLUGIN_OUTPUT_BYTES,
    STDERR_TAIL_BYTES,
)
from loopx_host.hookspecs import API_VERSION, specs
from loopx_host.hookspecs.markers import PROJECT

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "hooks.md"
_TOP = f"""\
# Hooks

Written by `python -m tests.support.hook_reference` from the docstrings of the hooks; do not edit it by hand.

What a package may do inside the host: say something about its own capabilities, and bring a command. Work is done by
its provider, in a subprocess of its own. This is version {API_VERSION} of the hooks, which is what
`requires_loopx_api` of a manifest means.

A module with implementations is named by the entry-point group `loopx.plugins` (name: the id of the extension), the
function of a command by `loopx.commands` (name: the command, value: `module:function`):

```toml
[project.entry-points."loopx.plugins"]
repo-health = "loopx_repo_health.hooks"

[project.entry-points."loopx.commands"]
repo-health = "loopx_repo_health.hooks:repo_health"
```

Nothing of it is imported before the extension is installed, enabled and proved, and only while names, values and the
package's version are those that were recorded then; otherwise the answer is `activation_changed`.

| bound | value |
|---|---|
| loading | {PLUGIN_LOAD_SECONDS:g} s |
| one hook | {PLUGIN_HOOK_SECONDS:g} s; a command has none |
| answer | {PLUGIN_ANSWER_BYTES} bytes of strict JSON |
| output | {PLUGIN_OUTPUT_BYTES} bytes are kept, the last {STDERR_TAIL_BYTES} are shown with a refusal |

It runs in a process of its own, with nothing on standard input. When it has answered, the process and all it started
are ended. A package that leaves a process or a thread (daemon threads excepted) running is refused with
`plugin_hook_failed`; so is one that exits. One that cannot be loaded is `plugin_load_failed`. An implementation
takes any arguments of its hook, by position and without a default; anything else is `plugin_signature`, before any
hook is called.
"""


def hook_names() -> list[str]:
    """Return the names of the hooks in the order in which they are defined."""
    return [name for name, value in vars(specs).items() if hasattr(value, f"{PROJECT}_spec")]


def page() -> str:
    """Return the whole page."""
    return "".join(_lines())


def _lines() -> Iterator[str]:
    yield _TOP
    for name in hook_names():
        function = getattr(specs, name)
        yield f"\n## `{name}({', '.join(inspect.signature(function).parameters)})`\n\n"
        yield _fenced(inspect.getdoc(function) or "") + "\n"


def _fenced(text: str) -> str:
    """Return a docstring with its indented example as a block of Python."""
    words, mark, example = text.partition("**Example.**\n\n")
    code = re.sub(r"^ {4}", "", example, flags=re.MULTILINE).rstrip()
    return f"{words}{mark}```python\n{code}\n```"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
