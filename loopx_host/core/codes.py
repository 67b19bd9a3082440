"""The one table of diagnostic codes: exit status, error status and what `next_command` is.

A code is never renamed or reused; docs/reference/diagnostics.md has a heading for each and a test
compares the two. The third column says where the next command comes from: the refusal gives one, the same command
is to be repeated, or no command could help.
"""

from __future__ import annotations

GIVEN, RETRY, NONE = "given", "retry", "none"

EXIT_PROVIDER_FAILED = 1
EXIT_INTERNAL = 70
EXIT_OUTPUT = 74

# code: (exit status, `status` of the error document, source of next_command)
CODES: dict[str, tuple[int, str, str]] = {
    # the command line and its streams
    "usage_error": (2, "invalid_request", GIVEN),
    "unknown_command": (2, "invalid_request", GIVEN),
    "unsupported_platform": (2, "invalid_request", NONE),
    "output_unwritable": (74, "try_again", NONE),
    "interrupted": (130, "interrupted", RETRY),
    "start_up_failed": (2, "invalid_request", NONE),
    "no_processes": (75, "try_again", RETRY),
    "kernel_refused": (2, "invalid_request", NONE),
    "interpreter_not_found": (2, "invalid_request", GIVEN),
    "internal_error": (70, "internal_error", NONE),
    # the request
    "directory_gone": (2, "invalid_request", NONE),
    "input_unreadable": (2, "invalid_request", NONE),
    "request_too_large": (2, "invalid_request", NONE),
    "request_invalid": (2, "invalid_request", NONE),
    # the manifest
    "manifest_unreadable": (2, "invalid_request", NONE),
    "manifest_too_large": (2, "invalid_request", NONE),
    "manifest_encoding": (2, "invalid_request", NONE),
    "manifest_syntax": (2, "invalid_request", NONE),
    "manifest_too_deep": (2, "invalid_request", NONE),
    "manifest_invalid": (2, "invalid_request", NONE),
    "api_incompatible": (2, "invalid_request", NONE),
    # the lifecycle
    "already_installed": (2, "invalid_request", GIVEN),
    "extension_not_installed": (2, "invalid_request", GIVEN),
    "extension_disabled": (2, "invalid_request", GIVEN),
    "capability_duplicate": (2, "invalid_request", GIVEN),
    "capability_unknown": (2, "invalid_request", NONE),
    "doctor_not_configured": (2, "invalid_request", NONE),
    "doctor_failed": (2, "invalid_request", GIVEN),
    "doctor_required": (2, "invalid_request", GIVEN),
    "readiness_stale": (2, "invalid_request", GIVEN),
    "changed_during_run": (2, "invalid_request", GIVEN),
    "containment_unavailable": (2, "invalid_request", GIVEN),
    "containment_unknown": (2, "invalid_request", NONE),
    "same_revision": (2, "invalid_request", GIVEN),
    "revision_unknown": (2, "invalid_request", GIVEN),
    "rollback_unavailable": (2, "invalid_request", GIVEN),
    "permissions_grow": (2, "invalid_request", GIVEN),
    "plan_changed": (2, "invalid_request", GIVEN),
    "manifest_changed": (2, "invalid_request", NONE),
    "extension_not_offered": (2, "invalid_request", GIVEN),
    "extension_ambiguous": (2, "invalid_request", GIVEN),
    "extension_broken": (2, "invalid_request", GIVEN),
    "capability_not_found": (2, "invalid_request", GIVEN),
    # packages in the host
    "plugin_load_failed": (2, "invalid_request", GIVEN),
    "plugin_signature": (2, "invalid_request", GIVEN),
    "plugin_hook_failed": (2, "invalid_request", GIVEN),
    "entry_point_foreign": (2, "invalid_request", GIVEN),
    "activation_changed": (2, "invalid_request", GIVEN),
    "command_not_activated": (2, "invalid_request", GIVEN),
    "package_not_installed": (69, "invalid_request", NONE),
    "extensions_off": (2, "invalid_request", NONE),
    # governed calls
    "capability_unavailable": (2, "invalid_request", GIVEN),
    "capability_ambiguous": (2, "invalid_request", GIVEN),
    "goal_invalid": (2, "invalid_request", NONE),
    "provider_unowned": (2, "invalid_request", NONE),
    "operation_unknown": (2, "invalid_request", GIVEN),
    "contract_mismatch": (2, "invalid_request", NONE),
    "binding_missing": (2, "invalid_request", GIVEN),
    "binding_drift": (2, "invalid_request", GIVEN),
    "bindings_damaged": (2, "invalid_request", NONE),
    "operation_not_bound": (2, "invalid_request", GIVEN),
    "operations_unavailable": (2, "invalid_request", NONE),
    "effect_contradicted": (2, "invalid_request", GIVEN),
    "goal_required": (2, "invalid_request", GIVEN),
    "reference_invalid": (2, "invalid_request", NONE),
    "domain_check_denied": (2, "invalid_request", NONE),
    "envelope_invalid": (2, "invalid_request", NONE),
    # presentation surfaces
    "surface_unknown": (2, "invalid_request", GIVEN),
    "view_schema_unknown": (2, "invalid_request", GIVEN),
    "view_invalid": (2, "invalid_request", NONE),
    "private_material": (2, "invalid_request", NONE),
    "node_unavailable": (69, "invalid_request", NONE),
    "prerequisite_unavailable": (69, "invalid_request", NONE),
    "request_schema": (2, "invalid_request", NONE),
    "schema_missing": (2, "invalid_request", GIVEN),
    "name_unusable": (2, "invalid_request", NONE),
    "version_unusable": (2, "invalid_request", NONE),
    "destination_exists": (2, "invalid_request", NONE),
    "example_invalid": (2, "invalid_request", NONE),
    "schema_unknown": (2, "invalid_request", NONE),
    "export_invalid": (2, "invalid_request", NONE),
    "entrypoint_missing": (2, "invalid_request", GIVEN),
    "entrypoint_path": (2, "invalid_request", NONE),
    "runtime_missing": (2, "invalid_request", NONE),
    "capability_provider": (2, "invalid_request", GIVEN),
    "permissions_declared": (2, "invalid_request", GIVEN),
    # the state file
    "state_damaged": (2, "invalid_request", GIVEN),
    "state_entry_invalid": (2, "invalid_request", GIVEN),
    "state_integrity": (2, "invalid_request", GIVEN),
    "state_unsafe": (2, "invalid_request", NONE),
    "state_unreadable": (74, "try_again", NONE),
    "state_unwritable": (74, "try_again", NONE),
    "lock_busy": (75, "try_again", RETRY),
    "state_moved": (75, "try_again", RETRY),
}

# Rows inside a `manifest_invalid` document and warnings in receipts; never the code of a document.
PROBLEM_CODES = (
    "manifest_missing_key",
    "manifest_unknown_key",
    "manifest_wrong_type",
    "manifest_bad_value",
    "manifest_out_of_range",
    "manifest_duplicate",
    "manifest_conflict",
    "manifest_incomplete",
    "manifest_file_unreadable",
    "api_incompatible",
    "schema_invalid",
    "schema_pattern_unsupported",
)

# Rows of `extension discover` and `loopx doctor`; never the code of a document.
FINDING_CODES = (
    "metadata_damaged",
    "leftover_install",
    "duplicate_distribution",
    "distribution_shadowed",
    "editable_unresolved",
    "package_missing",
    "id_mismatch",
    "unsupported_location",
    "pth_code",
    "entrypoint_version_differs",
    "entrypoint_unowned",
    "containment_below_default",
)

# `failure_kind` of run and doctor receipts (contract section 6; extension-formats, *Receipt values*).
FAILURE_KINDS = (
    "timeout",
    "response_too_large",
    "stderr_too_large",
    "exit_nonzero",
    "signalled",
    "start_failed",
    "response_not_json_object",
    "response_schema",
    "provider_reported_failure",
    "entrypoint_missing",
    "changed_during_probe",
)
