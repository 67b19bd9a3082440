"""What `Host.open` imports, so that no run of an embedding program has to."""

from __future__ import annotations


def load_ahead() -> None:
    """Import what a run needs: a program that forks while a thread imports may leave the child a held lock."""
    import contextlib
    import csv  # noqa: F401
    import email.headerregistry
    import email.parser
    import email.policy  # noqa: F401
    import glob  # noqa: F401
    import json  # noqa: F401
    import pwd  # noqa: F401

    import importlib_metadata
    import jsonschema_rs  # noqa: F401
    import packaging.requirements  # noqa: F401

    import loopx_host.adapters.clock
    import loopx_host.adapters.files.state_store
    import loopx_host.adapters.packages.content
    import loopx_host.adapters.packages.installed
    import loopx_host.adapters.packages.owners
    import loopx_host.adapters.packages.programs
    import loopx_host.adapters.packages.wide_folders
    import loopx_host.adapters.process.confinement
    import loopx_host.adapters.process.descendants
    import loopx_host.adapters.process.environment
    import loopx_host.adapters.process.judge
    import loopx_host.adapters.process.run_spec
    import loopx_host.adapters.process.runner
    import loopx_host.adapters.process.supervisor
    import loopx_host.adapters.process.warm_judge
    import loopx_host.documents.parts
    import loopx_host.lifecycle.dispatch.run
    import loopx_host.lifecycle.dispatch.schemas
    import loopx_host.lifecycle.extensions.listing
    import loopx_host.registry.schemas  # noqa: F401
    from loopx_host.core.digest import new

    new()
    with contextlib.suppress(ImportError):  # what metadata are read with, today
        import importlib_metadata._adapters  # noqa: F401
