"""The manifest of krew's index, from ``krew/spread.yaml.tmpl`` and the archives that were built.

The template is krew-release-bot's, a Go template with its function addURIAndSha, so that the bot can fill it in too.
``python -m release.manifest dist --repository https://github.com/you/kubectl-spread`` writes the manifest again when
archives of other machines have come to the folder; without ``--repository`` the template's placeholder stays in it.

Source: krew pkg/index/validation/validate.go (v0.5.0); krew-release-bot pkg/source/template.go (v0.0.50).
"""

from __future__ import annotations

import argparse
import hashlib
import re
from pathlib import Path

from kubectl_spread import __version__
from release.tree import ROOT

TAG = f"v{__version__}"
TEMPLATE = ROOT / "krew" / "spread.yaml.tmpl"
REPOSITORY = re.compile(r'\A\{\{- \$repository := "([^"]+)" -\}\}\n')
ARCHIVE = re.compile(r'\{\{addURIAndSha \(print \$repository "([^"]+)"\) \.TagName \}\}')
PLATFORM = re.compile(r"^(?=  - selector:)", re.MULTILINE)


def write_manifest(archives: Path, *, repository: str = "") -> None:
    """Write the manifest of this release beside its archives.

    Raises:
        ValueError: there is none.
    """
    text = render(TEMPLATE.read_text(encoding="utf-8"), tag=TAG, archives=archives, repository=repository)
    (archives / "spread.yaml").write_text(text, encoding="utf-8", newline="\n")


def render(template: str, *, tag: str, archives: Path, repository: str = "") -> str:
    """Return the manifest with the platforms whose archives are there.

    Args:
        template: the template.
        tag: of the release, such as ``v1.2.3``.
        archives: the folder of the archives.
        repository: where the releases are, as a URL; the template's own when empty.

    Raises:
        ValueError: there is no archive for any platform.
    """
    _, placeholder, rest = REPOSITORY.split(template)
    home = repository or placeholder
    head, *platforms = PLATFORM.split(rest.replace("{{ .TagName }}", tag).replace("{{ $repository }}", home))
    built = [platform for platform in platforms if _archive(platform, archives).is_file()]
    if not built:
        raise ValueError(f"no archive of {tag} in {archives}")
    return head + "".join(
        ARCHIVE.sub(rf"uri: {home}\1\n    sha256: {_sha256(_archive(platform, archives))}", platform)
        for platform in built
    )


def _archive(platform: str, archives: Path) -> Path:
    """Return where the archive of a platform lies when it has been built."""
    (uri,) = ARCHIVE.findall(platform)
    return archives / str(uri).rpartition("/")[2]


def _sha256(archive: Path) -> str:
    """Return what krew compares a download with."""
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def main() -> None:
    """Write the manifest for the archives of a folder."""
    parser = argparse.ArgumentParser(prog="python -m release.manifest", description=__doc__)
    parser.add_argument("archives", type=Path)
    parser.add_argument("--repository", default="", help="where the releases are, as a URL")
    arguments = parser.parse_args()
    write_manifest(arguments.archives, repository=arguments.repository)


if __name__ == "__main__":
    main()
