"""The manifest of krew's index, from ``krew/spread.yaml.tmpl`` and the archives that were built.

The template is krew-release-bot's, a Go template with its function addURIAndSha, so that the bot can fill it in too.
``python -m release.manifest dist`` writes the manifest again when archives of other machines have come to the folder.

Source: krew pkg/index/validation/validate.go (v0.5.0); krew-release-bot pkg/source/template.go (v0.0.50).
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

from kubectl_spread import __version__

ROOT = Path(__file__).parents[1]
TAG = f"v{__version__}"
ARCHIVE = re.compile(r'\{\{addURIAndSha "([^"]+)" \.TagName \}\}')
PLATFORM = re.compile(r"^(?=  - selector:)", re.MULTILINE)
TAG_NAME = "{{ .TagName }}"


def write_manifest(archives: Path) -> None:
    """Write the manifest of this release beside its archives.

    Raises:
        ValueError: there is none.
    """
    template = (ROOT / "krew" / "spread.yaml.tmpl").read_text(encoding="utf-8")
    (archives / "spread.yaml").write_text(render(template, tag=TAG, archives=archives), encoding="utf-8", newline="\n")


def render(template: str, *, tag: str, archives: Path) -> str:
    """Return the manifest with the platforms whose archives are there.

    Args:
        template: the template.
        tag: of the release, such as ``v1.2.3``.
        archives: the folder of the archives.

    Raises:
        ValueError: there is no archive for any platform.
    """
    head, *platforms = PLATFORM.split(template.replace(TAG_NAME, tag))
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


if __name__ == "__main__":
    write_manifest(Path(sys.argv[1]))
