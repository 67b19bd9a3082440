"""The catalogue of the release train: what could be installed beside the core, with its capabilities and commands.

Written by ``python -m tests.support.train_catalogue`` from `plugins/`; do not edit it by hand. It is what lets a
core without packages say what is missing and how to get it (requirement M124).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TRAIN: tuple[dict[str, Any], ...] = (
    {
        "commands": [
            "periodic-report",
        ],
        "declares": {
            "capabilities": [
                {
                    "capability_kind": "report",
                    "entry_command": "loopx capability invoke periodic-report --operation render",
                    "id": "periodic-report",
                    "kind": "report",
                    "next_real_step": "Render a report document and hand the bytes to a report sink",
                    "origin": "extension",
                    "provider_id": "loopx-capability-periodic-report",
                    "provider_version": "0.1.0",
                    "real_world_anchor": "A weekly report of a project, read by people who were not there",
                    "status": "available",
                    "title": "Periodic report",
                    "user_value": "One page, or one JSON document, that says what a day, a week or a month brought",
                    "visibility": "public",
                },
                {
                    "capability_kind": "delivery",
                    "entry_command": "loopx capability show report-sink",
                    "id": "report-sink",
                    "kind": "delivery",
                    "next_real_step": "Install an extension that implements it",
                    "origin": "extension",
                    "provider_id": "loopx-capability-periodic-report",
                    "provider_version": "0.1.0",
                    "real_world_anchor": "The place where the readers of a report look for it",
                    "status": "contract",
                    "title": "Report sink",
                    "user_value": "A rendered report reaches the place that its todo names, and the receipt says so",
                    "visibility": "public",
                },
            ],
            "implementations": [],
            "permissions": [
                "report.render",
                "report.deliver",
            ],
            "requires_loopx_api": ">=1,<2",
        },
        "distribution": "loopx-capability-periodic-report",
        "extension_id": "loopx-capability-periodic-report",
        "version": "0.1.0",
    },
    {
        "commands": [],
        "declares": {
            "capabilities": [
                {
                    "capability_kind": "note_search",
                    "entry_command": "loopx capability invoke recall --operation search",
                    "id": "recall",
                    "kind": "note_search",
                    "next_real_step": "Bind it to a goal and name a folder of notes as the context reference notes.",
                    "origin": "extension",
                    "provider_id": "loopx-capability-recall",
                    "provider_version": "0.1.0",
                    "real_world_anchor": "one folder of Markdown and text notes on this machine",
                    "status": "active",
                    "title": "Recall",
                    "user_value": "Find the notes of a folder that hold all words of a question, best first.",
                    "visibility": "public",
                },
            ],
            "implementations": [],
            "permissions": [
                "fs.read:notes",
            ],
            "requires_loopx_api": ">=1,<2",
        },
        "distribution": "loopx-capability-recall",
        "extension_id": "loopx-capability-recall",
        "version": "0.1.0",
    },
    {
        "commands": [
            "repo-health",
        ],
        "declares": {
            "capabilities": [
                {
                    "capability_kind": "repository_health",
                    "entry_command": "loopx repo-health",
                    "id": "repo-health",
                    "kind": "repository_health",
                    "next_real_step": "Bind it to a goal and name a repository as the context reference repo.",
                    "origin": "extension",
                    "provider_id": "loopx-capability-repo-health",
                    "provider_version": "0.1.0",
                    "real_world_anchor": "one git repository on this machine",
                    "status": "active",
                    "title": "Repository health",
                    "user_value": "See branches and their age, large files, missing licence, readme or CI, and open TODO lines of a repository.",
                    "visibility": "public",
                },
            ],
            "implementations": [],
            "permissions": [
                "fs.read:repo",
            ],
            "requires_loopx_api": ">=1,<2",
        },
        "distribution": "loopx-capability-repo-health",
        "extension_id": "loopx-capability-repo-health",
        "version": "0.1.0",
    },
    {
        "commands": [],
        "declares": {
            "capabilities": [],
            "implementations": [
                {
                    "capability_id": "report-sink",
                    "protocol": "loopx_report_sink_v0",
                    "provider_id": "loopx-sink-directory",
                    "provider_version": "0.1.0",
                },
            ],
            "permissions": [
                "fs.write:reports",
            ],
            "requires_loopx_api": ">=1,<2",
        },
        "distribution": "loopx-sink-directory",
        "extension_id": "loopx-sink-directory",
        "version": "0.1.0",
    },
    {
        "commands": [],
        "declares": {
            "capabilities": [],
            "implementations": [
                {
                    "capability_id": "report-sink",
                    "protocol": "loopx_report_sink_v0",
                    "provider_id": "loopx-sink-smtp",
                    "provider_version": "0.1.0",
                },
            ],
            "permissions": [
                "net.connect",
            ],
            "requires_loopx_api": ">=1,<2",
        },
        "distribution": "loopx-sink-smtp",
        "extension_id": "loopx-sink-smtp",
        "version": "0.1.0",
    },
)
