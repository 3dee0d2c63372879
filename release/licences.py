"""The licences of what the archive holds beside this program, in one text."""

from __future__ import annotations

import platform
import re
import sysconfig
from collections.abc import Collection, Iterator
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path

OURS = "kubectl-spread"
LIBRARIES = {
    "libbz2": "bzip2, the bzip2 licence, https://sourceware.org/bzip2/",
    "libcrypto": "OpenSSL, Apache License 2.0, https://www.openssl.org/",
    "libffi": "libffi, MIT licence, https://sourceware.org/libffi/",
    "libgcc_s": "GCC runtime library, GPL 3 with the GCC Runtime Library Exception, https://gcc.gnu.org/",
    "liblzma": "XZ Utils liblzma, 0BSD, https://tukaani.org/xz/",
    "libssl": "OpenSSL, Apache License 2.0, https://www.openssl.org/",
    "libuuid": "util-linux libuuid, BSD 3-clause licence, https://github.com/util-linux/util-linux",
    "libz": "zlib, the zlib licence, https://zlib.net/",
}
"""Shared library that Python is linked with → what it is, its licence and where both come from."""
NOTICES = {
    "libbz2": "libbz2-1.0",
    "libcrypto": "libssl3",
    "libffi": "libffi8",
    "libgcc_s": "libgcc-s1",
    "liblzma": "liblzma5",
    "libssl": "libssl3",
    "libuuid": "libuuid1",
    "libz": "zlib1g",
}
"""Shared library → the package of Debian and Ubuntu that holds it, and says whose it is."""
DOCUMENTS = Path("/usr/share/doc")
TEXTS = re.compile(r"(LICEN[CS]E|COPYING|NOTICE)[^/]*$", re.IGNORECASE)
RULE = "=" * 80


def third_party_licences(packages: Collection[str], *, besides: Collection[str] = ()) -> str:
    """Return the licences of Python, of the libraries it is linked with, and of the distributions of the packages.

    Args:
        packages: top-level names of what was frozen, those of shared libraries without suffixes.
        besides: distributions that are in it without a package of theirs.

    Raises:
        ValueError: a distribution does not say what its licence is.
    """
    homes = packages_distributions()
    names = {name.lower() for package in packages for name in homes.get(package, ())} - {OURS}
    libraries = sorted({said for library, said in LIBRARIES.items() if library in packages})
    sections = [_python(), *libraries, "", *(_section(distribution(name)) for name in sorted({*names, *besides}))]
    return "\n".join([f"{OURS} contains the following software.", "", *sections, *_notices(packages)])


def _python() -> str:
    """Return the licence of the interpreter, and of what it contains itself."""
    places = (Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_config_var("prefix")))
    text = next((path for place in places if (path := place / "LICENSE.txt").is_file()), None)
    if text is None:
        raise ValueError("this Python comes without its licence, LICENSE.txt")
    return _headed(f"Python {platform.python_version()}", text.read_text(encoding="utf-8"))


def _notices(packages: Collection[str]) -> Iterator[str]:
    """Yield the copyright notices of the libraries, where Debian or Ubuntu keeps them.

    On other systems Python brings its libraries along; what they are is said in any case.
    """
    for name in sorted({package for library, package in NOTICES.items() if library in packages}):
        notice = DOCUMENTS / name / "copyright"
        if notice.is_file():
            yield _headed(f"{name}, as distributed by Debian and Ubuntu", notice.read_text(encoding="utf-8"))


def _headed(title: str, text: str) -> str:
    """Return a section."""
    return f"{RULE}\n{title}\n{RULE}\n\n{text}"


def _section(installed: Distribution) -> str:
    """Return a distribution's name and licence."""
    texts = list(_texts(installed))
    declared = _declared(installed)
    if not texts and not declared:
        raise ValueError(f"{installed.name} {installed.version} does not say what its licence is")
    body = "\n\n".join(texts) or f"Licence: {declared}\n"
    return _headed(f"{installed.name} {installed.version}", body)


def _texts(installed: Distribution) -> Iterator[str]:
    """Yield the licence files that a distribution brings."""
    for file in sorted(installed.files or (), key=str):
        if TEXTS.search(file.as_posix()) and file.suffix in ("", ".txt", ".md", ".rst", ".APACHE", ".BSD"):
            yield file.read_text(encoding="utf-8")


def _declared(installed: Distribution) -> str:
    """Return what a distribution's metadata says of its licence, empty when that is nothing."""
    said = installed.metadata.get_all("License-Expression") or installed.metadata.get_all("License")
    classifiers = installed.metadata.get_all("Classifier") or ()
    return ", ".join(said or (name.rpartition(" :: ")[2] for name in classifiers if name.startswith("License ::")))
