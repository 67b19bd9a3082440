"""The table of all documents: the name that `loopx extension schema NAME` takes → the module of the document."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

MODULES = {
    # what an author, an operator or a provider writes, and what lies on disk
    "manifest": "manifest",
    "integration-profile": "integration_profile",
    "integration-profile-v0": "integration_profile_v0",
    "normal-form": "normal_form",
    "state": "state",
    "export": "export",
    "bindings": "bindings",
    "binding": "binding",
    "projection": "projection",
    "sections-view": "sections_view",
    "discovery-index": "discovery_index",
    # what a governed call hands to a provider and takes from it
    "governed-request": "governed_request",
    "governed-result": "governed_result",
    "governed-request-v0": "governed_request_v0",
    "governed-result-v0": "governed_result_v0",
    "execution-envelope": "execution_envelope",
    # what a command answers
    "error": "error",
    "list": "extension_list",
    "detail": "detail",
    "history": "history",
    "operation": "operation",
    "doctor": "doctor",
    "run-receipt": "run_receipt",
    "publish-receipt": "publish_receipt",
    "restore": "restore",
    "repair": "repair",
    "discovery": "discovery",
    "host-doctor": "host_doctor",
    "capability-catalog": "capability_catalog",
    "capability-detail": "capability_detail",
    "binding-receipt": "binding_receipt",
    "invocation": "invocation",
    "scaffold": "scaffold",
    "validation": "validation",
    "conformance": "conformance",
    "performance-diagnosis": "performance_diagnosis",
    "completions": "completions",
    "help": "help",
    "version": "version",
}


def document(name: str) -> ModuleType:
    """Return the module of a document. Raises KeyError for a name that is none."""
    module: ModuleType = __import__(f"loopx_host.documents.{MODULES[name]}", fromlist=["schema"])
    return module
