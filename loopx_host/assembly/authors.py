"""What the testing kit of package authors is made of: the conformance suite, and one run without any state kept."""

from __future__ import annotations

from loopx_host.assembly.container import Container, Settings
from loopx_host.assembly.encoding import encode_request
from loopx_host.core.diagnostics import with_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.documents.conformance import Conformance
    from loopx_host.documents.run_receipt import RunReceipt


def conformance(path: str, *, execute: bool = True) -> Conformance:
    """Hold the provider of a manifest, or of the package in a folder, to the rules of the contract.

    Returns the document of ``loopx extension conformance``: ``rules`` with ``rule``, ``promise``, ``status`` and
    ``reason``. Without `execute` nothing is started and every status is ``not_run``. Raises Refused.
    """
    from loopx_host.adapters.process.warm import WarmSupervisors
    from loopx_host.authoring.conformance import ConformanceRequest, hold_to_rules

    supervisors = WarmSupervisors()
    try:
        container = Container(supervisors=supervisors)
        return with_commands(hold_to_rules(ConformanceRequest(path, execute=execute), container), ())
    finally:
        supervisors.close()


def run_manifest(path: str, request: Mapping[str, object]) -> RunReceipt:
    """Install a manifest into a state file of its own, run one request, forget it; return the run receipt.

    Nothing of the caller's activation state is read or written. Raises Refused, as install and run do.
    """
    import os
    from tempfile import TemporaryDirectory

    from loopx_host.adapters.process.warm import WarmSupervisors
    from loopx_host.lifecycle.dispatch.run import RunRequest, run
    from loopx_host.lifecycle.extensions.install import install
    from loopx_host.lifecycle.extensions.requests import TrustRequest

    supervisors = WarmSupervisors()
    try:
        with TemporaryDirectory(prefix="loopx-author-") as folder:
            container = Container(Settings(os.path.join(folder, "state.json")), supervisors)
            installed = install(TrustRequest(None, path, execute=True), container)
            wanted = RunRequest(str(installed["extension_id"]), encode_request(request), execute=True)
            return with_commands(run(wanted, container), ())
    finally:
        supervisors.close()
