"""Capability packages as a person gets them: wheels in a real environment, trusted, bound, called, published.

Contract sections 5, 7 and 8. One throw-away environment holds the wheels of the host and of repo-health; recall comes
later. Every provider runs at the level that is the default.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.lifecycle import ROOT, build_wheel, make_venv, pip

pytestmark = pytest.mark.timeout(300)

HEALTH, RECALL = "loopx-capability-repo-health", "loopx-capability-recall"
GOAL = ("--goal-id", "demo")
NOW = "2026-11-29T12:00:00Z"
SECRET = "ghp_" + "a1" * 18


class Host(Loopx):
    """The host installed from its wheel in an environment of its own, at its default containment."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.scripts = make_venv(root / "venv")
        self.project = root / "project"
        self.notes = root / "notes"

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        return [str(self.scripts / "loopx"), *super().command(*words, options=options)[1:]]

    def add(self, *sources: Path) -> None:
        """Build the wheel of each source and install all of them."""
        wheels = [str(build_wheel(source, self.root / "dist")) for source in sources]
        pip("--python", str(self.scripts / "python"), "install", *wheels)

    def uninstall(self, distribution: str) -> None:
        pip("--python", str(self.scripts / "python"), "uninstall", "--yes", distribution)

    def trust(self, extension_id: str, capability_id: str, operation: str) -> None:
        """Install an extension and bind the goal to one operation of its capability."""
        bound = ("capability", "bind", capability_id, *GOAL, "--operation", operation, "--execute")
        for answer in (self("extension", "install", extension_id, "--execute"), self(*bound)):
            assert answer.status == 0, answer

    def invoke(self, capability_id: str, operation: str, given: object, reference: str) -> Answer:
        words = ("capability", "invoke", capability_id, *GOAL, "--operation", operation, "--input-json", "-")
        return self(*words, "--ref", reference, "--execute", stdin=json.dumps(given).encode())

    def surface(self) -> dict[str, Any]:
        """The row of the surface that repo-health publishes."""
        (row,) = self("capability", "list").document["presentation_surfaces"]
        assert isinstance(row, dict)
        return row


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    made = Host(tmp_path_factory.mktemp("host"))
    made.add(ROOT, ROOT / "plugins" / HEALTH)
    write(made.project, {"app.py": "# TODO later\n", "LICENSE": "x\n", "logo.bin": "0" * 3000})
    write(made.notes, {"ops/latency.md": "# Latency\n\nThe cache is cold after each release.\n"})
    write(made.notes, {"keys.md": f"# Keys\n\nrelease with {SECRET}\n"})
    git(made.project, "init", "--quiet", "--initial-branch=main")
    git(made.project, "add", "--all")
    git(made.project, "commit", "--quiet", "--message", "work")
    git(made.project, "branch", SECRET)
    return made


@pytest.fixture(scope="module")
def health(host: Host) -> Host:
    """The host that trusts repo-health."""
    host.trust(HEALTH, "repo-health", "inspect")
    return host


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def git(folder: Path, *arguments: str) -> None:
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false")
    subprocess.run(["git", *person, *arguments], cwd=folder, check=True, capture_output=True)


def request(**more: object) -> bytes:
    body = {"schema_version": "loopx_repo_health_publish_request_v0", "publish": "repository-health", "now": NOW}
    return json.dumps({**body, **more}).encode()


def publish(host: Host, stdin: bytes, *words: str) -> Answer:
    return host(
        "extension", "publish-projection", HEALTH, "repository-health", "--input-json", "-", *words, stdin=stdin
    )


@pytest.mark.req("X15")
def test_a_package_that_is_only_installed_by_pip_has_no_command_yet(host: Host, tmp_path: Path) -> None:
    host.state_file, trusted = tmp_path / "state.json", host.state_file

    answer = host("repo-health", str(host.project), *GOAL)

    host.state_file = trusted
    assert (answer.status, answer.code) == (2, "command_not_activated")


def test_a_trusted_package_is_listed_with_its_capability_and_surface(health: Host) -> None:
    rows = health("capability", "list").document["capabilities"]

    (capability,) = [row for row in rows if row["id"] == "repo-health"]
    (extension,) = health.rows()
    assert (extension["id"], extension["version"], extension["ready"]) == (HEALTH, "0.1.0", True)
    assert (capability["provider_id"], capability["provider_state"]["ready"]) == (HEALTH, True)
    assert health.surface()["surface_id"] == "repository-health"


def test_a_call_is_answered_with_what_is_in_the_repository_from_inside_the_sandbox(health: Host) -> None:
    receipt = health.invoke("repo-health", "inspect", {"now": NOW, "large_file_kb": 1}, f"repo={health.project}")

    document = receipt.document
    (seen,) = document["provider_result"]["observations"]
    assert (receipt.status, document["status"], document["containment"]["rung"]) == (0, "succeeded", "contained")
    assert (seen["now"], seen["found"], seen["missing"]) == (NOW, {"licence": "LICENSE"}, ["readme", "ci"])
    assert [row["path"] for row in seen["large_files"]["items"]] == ["logo.bin"]
    assert seen["todo"]["items"] == [{"path": "app.py", "lines": 1}]


@pytest.mark.req("M111")
def test_a_name_with_private_material_is_counted_and_does_not_cost_the_answer(health: Host) -> None:
    receipt = health.invoke("repo-health", "inspect", {"now": NOW}, f"repo={health.project}")

    (seen,) = receipt.document["provider_result"]["observations"]
    assert (seen["withheld"], len(seen["branches"]["items"])) == (1, 2)
    assert SECRET.encode() not in receipt.stdout


def test_the_domain_check_denies_what_the_schema_lets_through(health: Host) -> None:
    answer = health.invoke("repo-health", "inspect", {"now": "2026-02-30T00:00:00Z"}, f"repo={health.project}")

    assert answer.code == "domain_check_denied"


def test_the_command_reports_under_the_receipt_of_a_governed_call(health: Host) -> None:
    answer = health("repo-health", str(health.project), *GOAL, "--large-file-kb", "1", "--execute")

    document = answer.document
    assert (answer.status, document["schema_version"]) == (0, "loopx_repo_health_report_v0")
    assert document["observation"]["todo"]["lines"] == 1
    assert document["receipt"]["invocation_id"].startswith("capability-")
    assert document["receipt"]["request_digest"].startswith("sha256:")


def test_the_command_fails_where_there_is_no_repository(health: Host) -> None:
    answer = health("repo-health", str(health.notes), *GOAL, "--execute")

    assert (answer.status, answer.document["ok"], answer.document["observation"]) == (1, False, None)


@pytest.mark.req("X10")
def test_the_command_publishes_when_it_is_asked_to_and_told_to_do_it(health: Host) -> None:
    before = health.surface()
    preview = health("repo-health", str(health.project), *GOAL, "--publish").document
    untouched = health.surface()

    document = health("repo-health", str(health.project), *GOAL, "--publish", "--execute").document

    assert (preview["executed"], preview["observation"], untouched) == (False, None, before)
    assert document["publication"]["status"] == "published"
    assert health.surface()["payload_sha256"] == document["publication"]["payload_sha256"]


def test_a_view_is_published_of_the_repository_that_the_reference_names(health: Host) -> None:
    answer = publish(health, request(), *GOAL, "--ref", f"repo={health.project}", "--execute")

    document, row = answer.document, health.surface()
    assert (answer.status, document["status"], document["readback_verified"]) == (0, "published", True)
    assert document["containment"]["rung"] == "contained"
    assert (row["state"], row["visibility"], row["payload_sha256"]) == (
        "ready",
        "owner-only",
        document["payload_sha256"],
    )
    assert row["payload"]["generated_at"] == NOW
    assert SECRET not in json.dumps(row)


def test_without_a_reference_nothing_is_published_and_what_was_stays(health: Host) -> None:
    assert publish(health, request(), *GOAL, "--ref", f"repo={health.project}", "--execute").status == 0
    before = health.surface()

    answer = publish(health, request(), "--execute")

    assert (answer.status, answer.document["provider_result"]["code"]) == (1, "reference_missing")
    assert health.surface() == before


def test_a_reference_that_the_request_claims_and_nobody_granted_opens_nothing(health: Host) -> None:
    claimed = [{"name": "repo", "kind": "path", "path": str(health.project)}]

    answer = publish(health, request(context_refs=claimed), "--execute")

    assert (answer.status, answer.code) == (2, "request_schema")


def test_a_request_outside_its_schema_starts_nothing(health: Host) -> None:
    answer = publish(health, request(more=1), *GOAL, "--ref", f"repo={health.project}", "--execute")

    assert answer.code == "request_schema"


@pytest.mark.req("M124")
def test_a_capability_of_the_train_that_is_not_here_says_how_to_get_it(health: Host) -> None:
    answer = health("capability", "bind", "recall", *GOAL, "--operation", "search", "--execute")

    assert (answer.status, answer.code) == (69, "package_not_installed")
    assert RECALL in answer.document["install_package"]


@pytest.fixture(scope="module")
def recall(health: Host) -> Host:
    """The host that trusts recall as well; only the last test takes it away again."""
    health.add(ROOT / "plugins" / RECALL)
    health.trust(RECALL, "recall", "search")
    return health


def test_notes_are_found_from_inside_the_sandbox_and_no_secret_of_theirs_is_shown(recall: Host) -> None:
    answer = recall.invoke("recall", "search", {"query": "release"}, f"notes={recall.notes}")

    found = {row["note"]: row["withheld"] for row in answer.document["provider_result"]["observations"]}
    assert (found, answer.document["containment"]["rung"]) == ({"ops/latency.md": 0, "keys.md": 2}, "contained")
    assert SECRET.encode() not in answer.stdout


def test_a_package_that_pip_takes_away_stops_its_capability_and_no_other(recall: Host) -> None:
    recall.uninstall(RECALL)

    gone = recall.invoke("recall", "search", {"query": "release"}, f"notes={recall.notes}")
    beside = recall.invoke("repo-health", "inspect", {}, f"repo={recall.project}")

    assert gone.code == "entrypoint_missing"
    assert beside.document["status"] == "succeeded"
