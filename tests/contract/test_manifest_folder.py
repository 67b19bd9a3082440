"""What every ManifestFolder promises, kept by the one in memory and the one on disk."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from loopx_host.adapters.files.manifest_folder import open_manifest
from loopx_host.core.errors import Refused
from loopx_host.core.limits import MANIFEST_BYTES
from loopx_host.registry.folder_error import FolderError
from loopx_host.registry.load import load
from loopx_host.registry.ports import ManifestFolder
from tests.support.manifests import NAME, MemoryFolder, minimal, to_toml

TEXT = to_toml(minimal()).encode()


def kind_of(folder: ManifestFolder, relative: str, limit: int = 100) -> str:
    with pytest.raises(FolderError) as caught:
        folder.read(relative, limit)
    return caught.value.kind


class ManifestFolderContract:
    """`folder` holds a.json (10 bytes), sub/b.json, empty; links to a.json, to nothing, and two that lead out."""

    @pytest.fixture
    def folder(self) -> ManifestFolder:
        raise NotImplementedError

    def test_the_location_is_absolute(self, folder: ManifestFolder) -> None:
        assert folder.location.startswith("/")

    @pytest.mark.parametrize("name", ["a.json", "./a.json", "sub/../a.json", "link.json"])
    def test_a_file_inside_is_read_by_any_spelling(self, folder: ManifestFolder, name: str) -> None:
        assert folder.read(name, 100) == b"0123456789"

    @pytest.mark.parametrize("name", ["sub/b.json", "sub/../sub/b.json"])
    def test_a_file_in_a_folder_inside_is_read(self, folder: ManifestFolder, name: str) -> None:
        assert folder.read(name, 100) == b"{}"

    def test_a_file_of_exactly_the_limit_is_read_and_one_byte_more_is_not(self, folder: ManifestFolder) -> None:
        assert len(folder.read("a.json", 10)) == 10
        assert kind_of(folder, "a.json", 9) == "too_large"

    def test_an_empty_file_is_read(self, folder: ManifestFolder) -> None:
        assert folder.read("empty", 0) == b""

    @pytest.mark.parametrize("name", ["none.json", "none/none.json", "dangling.json"])
    def test_a_missing_file_is_missing(self, folder: ManifestFolder, name: str) -> None:
        assert kind_of(folder, name) == "missing"

    @pytest.mark.parametrize("name", ["sub", "sub/", "."])
    def test_a_directory_is_not_regular(self, folder: ManifestFolder, name: str) -> None:
        assert kind_of(folder, name) == "not_regular"

    @pytest.mark.parametrize("name", ["../x", "/etc/passwd", "sub/../../x", "out.json", "sub/up.json", ".."])
    def test_what_leads_out_of_the_folder_is_outside(self, folder: ManifestFolder, name: str) -> None:
        assert kind_of(folder, name) == "outside"

    def test_a_name_with_a_nul_is_unreadable(self, folder: ManifestFolder) -> None:
        assert kind_of(folder, "a\0.json") == "unreadable"


class TestMemoryFolder(ManifestFolderContract):
    @pytest.fixture
    def folder(self) -> ManifestFolder:
        files = {"a.json": b"0123456789", "sub/b.json": b"{}", "empty": b""}
        links = {
            "link.json": "a.json",
            "dangling.json": "nothing",
            "out.json": "/etc/passwd",
            "sub/up.json": "../x",
        }
        return MemoryFolder(files, folders=("sub",), links=links)


class TestDirectoryFolder(ManifestFolderContract):
    @pytest.fixture
    def folder(self, tmp_path: Path) -> ManifestFolder:
        root = tmp_path / "package"
        (root / "sub").mkdir(parents=True)
        (tmp_path / "x").write_bytes(b"secret")
        (root / "a.json").write_bytes(b"0123456789")
        (root / "sub" / "b.json").write_bytes(b"{}")
        (root / "empty").touch()
        (root / "link.json").symlink_to("a.json")
        (root / "dangling.json").symlink_to("nothing")
        (root / "out.json").symlink_to("/etc/passwd")
        (root / "sub" / "up.json").symlink_to("../../x")
        (root / NAME).write_bytes(TEXT)
        return open_manifest(str(root / NAME))[0]

    @pytest.mark.timeout(10)
    def test_a_fifo_is_not_regular_and_holds_nobody_up(self, folder: ManifestFolder) -> None:
        os.mkfifo(os.path.join(folder.location, "fifo"))

        assert kind_of(folder, "fifo") == "not_regular"

    def test_a_device_is_not_regular(self) -> None:
        folder, name = open_manifest("/dev/zero")

        assert kind_of(folder, name) == "not_regular"

    def test_a_socket_is_not_regular(self, folder: ManifestFolder, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(folder.location)  # a socket's address is short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("socket")

            assert kind_of(folder, "socket") in {"not_regular", "unreadable"}

    def test_a_ring_of_links_is_unreadable(self, folder: ManifestFolder) -> None:
        os.symlink("ring", os.path.join(folder.location, "ring"))

        assert kind_of(folder, "ring") == "unreadable"

    def test_a_name_too_long_for_the_file_system_is_unreadable(self, folder: ManifestFolder) -> None:
        assert kind_of(folder, "x" * 300) == "unreadable"

    def test_a_folder_whose_name_only_begins_like_ours_is_outside(self, folder: ManifestFolder) -> None:
        neighbour = Path(f"{folder.location}-neighbour")
        neighbour.mkdir()
        (neighbour / "a.json").write_bytes(b"{}")

        assert kind_of(folder, f"../{neighbour.name}/a.json") == "outside"


# --- a manifest on disk ----------------------------------------------------------------------------------


def code_of(path: Path | str) -> str:
    with pytest.raises(Refused) as caught:
        load(*open_manifest(str(path)))
    return caught.value.code


def test_a_manifest_on_disk_loads(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(TEXT)

    assert load(*open_manifest(str(tmp_path / NAME))).id == "sample"


@pytest.mark.timeout(10)
def test_a_manifest_that_is_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)

    assert code_of(tmp_path / NAME) == "manifest_unreadable"


@pytest.mark.timeout(10)
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty", "/", "/proc"])
def test_a_manifest_that_is_a_device_or_directory_is_refused_at_once(path: str) -> None:
    assert code_of(path) == "manifest_unreadable"


def test_a_manifest_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert code_of(tmp_path / NAME) == "manifest_unreadable"
    assert code_of(tmp_path / "none" / NAME) == "manifest_unreadable"


def test_a_manifest_of_256_kib_loads_and_one_byte_more_is_refused(tmp_path: Path) -> None:
    largest = TEXT + b"#" * (256 * 1024 - len(TEXT))
    (tmp_path / "fits.toml").write_bytes(largest)
    (tmp_path / "large.toml").write_bytes(largest + b"#")

    assert MANIFEST_BYTES == 256 * 1024
    assert load(*open_manifest(str(tmp_path / "fits.toml"))).id == "sample"
    assert code_of(tmp_path / "large.toml") == "manifest_too_large"


def test_the_folder_of_a_linked_manifest_is_that_of_its_target(tmp_path: Path) -> None:
    package = tmp_path / "src" / "package"
    package.mkdir(parents=True)
    (package / "real.toml").write_text(to_toml(minimal(request_schema="request.json")), "utf-8")
    (package / "request.json").write_bytes(b'{"right": true}')
    (tmp_path / "request.json").write_bytes(b'{"wrong": true}')
    (tmp_path / NAME).symlink_to("src/package/real.toml")

    folder, name = open_manifest(str(tmp_path / NAME))

    assert (folder.location, name) == (os.path.realpath(package), "real.toml")
    assert list(load(folder, name).snapshot.values()) == [b'{"right": true}']


@pytest.mark.parametrize("target", ["../outside.json", "/etc/hostname"])
def test_a_schema_link_that_leads_outside_is_refused(tmp_path: Path, target: str) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (tmp_path / "outside.json").write_bytes(b"{}")
    (package / NAME).write_text(to_toml(minimal(request_schema="request.json")), "utf-8")
    (package / "request.json").symlink_to(target)

    with pytest.raises(Refused) as caught:
        load(*open_manifest(str(package / NAME)))

    rows = caught.value.document["problems"]
    assert isinstance(rows, list)
    assert [(row["code"], row["pointer"]) for row in rows] == [("manifest_file_unreadable", "runtime.request_schema")]
