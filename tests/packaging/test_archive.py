"""The archive: what krew refuses is not in it, and its bytes depend on nothing but the files."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from release.archive import write_archive

EPOCH = 1_700_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a program, a text, a directory, a symbolic link and a hard link."""
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o700)
    (folder / "inner" / "text").write_text("text\n")
    (folder / "inner" / "text").chmod(0o600)
    (folder / "link").symlink_to("program")
    (folder / "same").hardlink_to(folder / "inner" / "text")
    return folder


def entries(archive: Path) -> list[tarfile.TarInfo]:
    with tarfile.open(archive) as tar:
        return tar.getmembers()


def test_everything_is_a_file_or_a_directory(folder: Path, tmp_path: Path) -> None:
    write_archive(folder, tmp_path / "a.tar.gz", epoch=EPOCH)
    assert [(entry.name, entry.type) for entry in entries(tmp_path / "a.tar.gz")] == [
        ("inner", tarfile.DIRTYPE),
        ("inner/text", tarfile.REGTYPE),
        ("link", tarfile.REGTYPE),
        ("program", tarfile.REGTYPE),
        ("same", tarfile.REGTYPE),
    ]


def test_links_become_what_they_lead_to(folder: Path, tmp_path: Path) -> None:
    write_archive(folder, tmp_path / "a.tar.gz", epoch=EPOCH)
    with tarfile.open(tmp_path / "a.tar.gz") as tar:
        contents = {entry.name: tar.extractfile(entry) for entry in tar if entry.isfile()}
        assert {name: file.read() for name, file in contents.items() if file} == {
            "inner/text": b"text\n",
            "link": b"#!/bin/sh\n",
            "program": b"#!/bin/sh\n",
            "same": b"text\n",
        }


def test_owners_times_and_modes_are_nobodys(folder: Path, tmp_path: Path) -> None:
    write_archive(folder, tmp_path / "a.tar.gz", epoch=EPOCH)
    found = entries(tmp_path / "a.tar.gz")
    assert {(entry.uid, entry.gid, entry.uname, entry.gname, entry.mtime) for entry in found} == {(0, 0, "", "", EPOCH)}
    assert [oct(entry.mode) for entry in found] == ["0o755", "0o644", "0o755", "0o755", "0o644"]


def test_the_bytes_do_not_depend_on_name_place_or_time(folder: Path, tmp_path: Path) -> None:
    write_archive(folder, tmp_path / "a.tar.gz", epoch=EPOCH)
    os.utime(folder / "program", (1, 1))
    moved = folder.rename(tmp_path / "moved")
    write_archive(moved, tmp_path / "b.tar.gz", epoch=EPOCH)
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()


def test_a_name_that_krew_refuses_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "a..b").touch()
    with pytest.raises(ValueError, match=r"krew refuses to unpack a\.\.b"):
        write_archive(folder, tmp_path / "a.tar.gz", epoch=EPOCH)


def test_a_link_to_a_directory_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "elsewhere").symlink_to("inner")
    with pytest.raises(ValueError, match="elsewhere links to a directory"):
        write_archive(folder, tmp_path / "a.tar.gz", epoch=EPOCH)
