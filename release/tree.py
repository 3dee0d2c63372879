"""The tree as someone gets who clones it: what is under version control, or would be once it is added."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTED = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")


def copy_tree(folder: Path, *, without_package: str = "") -> None:
    """Copy the tree; links become what they lead to.

    Args:
        folder: where to.
        without_package: the package whose modules stay behind; none when empty.
    """
    names = subprocess.run(LISTED, cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603 our own
    for name in filter(None, names.split("\0")):
        if not (name.startswith(f"{without_package}/") and name.endswith(".py")):
            _copy(ROOT / name, folder / name)


def _copy(path: Path, copied: Path) -> None:
    """Copy a file, or what a link leads to; nothing where it has been deleted since."""
    copied.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, copied)
    elif path.exists():
        shutil.copy2(path, copied)
