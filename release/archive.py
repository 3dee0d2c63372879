"""The archive that krew unpacks: regular files and directories alone, and the same bytes for the same files.

Source: krew internal/download/downloader.go extractTARGZ (v0.5.0), which refuses links, and names that contain ``..``.
"""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path


def write_archive(folder: Path, archive: Path, *, epoch: int) -> None:
    """Write what the folder holds as tar.gz; links become what they lead to.

    Args:
        folder: its content stands at the top of the archive.
        archive: the file to write.
        epoch: the time of everything in it (seconds since 1970).

    Raises:
        ValueError: krew would refuse a name.
    """
    with (
        archive.open("wb") as file,
        gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for path in sorted(folder.rglob("*")):
            entry = _entry(path, name=path.relative_to(folder).as_posix(), epoch=epoch)
            if entry.isdir():
                tar.addfile(entry)
            else:
                with path.open("rb") as content:
                    tar.addfile(entry, content)


def _entry(path: Path, *, name: str, epoch: int) -> tarfile.TarInfo:
    """Return a file or directory as the archive names it: nobody's, and of the one time."""
    if ".." in name:
        raise ValueError(f"krew refuses to unpack {name}: its name contains ..")
    if path.is_symlink() and path.is_dir():
        raise ValueError(f"{name} links to a directory: copy the directory instead")
    status = path.stat()
    entry = tarfile.TarInfo(name)
    entry.mtime = epoch
    entry.mode = 0o755 if path.is_dir() or status.st_mode & 0o100 else 0o644
    if path.is_dir():
        entry.type = tarfile.DIRTYPE
    else:
        entry.size = status.st_size
    return entry
