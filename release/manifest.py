"""The manifest of krew's index, from ``krew/spread.yaml.tmpl`` and the archives that were built.

The template is krew-release-bot's, a Go template with its function addURIAndSha, so that the bot can fill it in too.

Source: krew pkg/index/validation/validate.go (v0.5.0); krew-release-bot pkg/source/template.go (v0.0.50).
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ARCHIVE = re.compile(r'\{\{addURIAndSha "([^"]+)" \.TagName \}\}')
PLATFORM = re.compile(r"^(?=  - selector:)", re.MULTILINE)
TAG = "{{ .TagName }}"


def render(template: str, *, tag: str, archives: Path) -> str:
    """Return the manifest with the platforms whose archives are there.

    Args:
        template: the template.
        tag: of the release, such as ``v1.2.3``.
        archives: the folder of the archives.

    Raises:
        ValueError: there is no archive for any platform.
    """
    head, *platforms = PLATFORM.split(template.replace(TAG, tag))
    built = [platform for platform in platforms if _archive(platform, archives).is_file()]
    if not built:
        raise ValueError(f"no archive of {tag} in {archives}")
    return head + "".join(ARCHIVE.sub(_uri_and_sha256(_archive(platform, archives)), platform) for platform in built)


def _archive(platform: str, archives: Path) -> Path:
    """Return where the archive of a platform lies when it has been built."""
    (uri,) = ARCHIVE.findall(platform)
    return archives / str(uri).rpartition("/")[2]


def _uri_and_sha256(archive: Path) -> str:
    """Return the two lines for the archive, as a replacement in which the first group is its URI."""
    return rf"uri: \1\n    sha256: {hashlib.sha256(archive.read_bytes()).hexdigest()}"
