"""Where a manifest stands, and where in it what is wrong."""

from __future__ import annotations

from kubectl_spread.cluster.files.sources import STANDARD_INPUT
from kubectl_spread.commands.manifests import Manifest
from kubectl_spread.report import CheckItem, Origin


def origin_of(manifest: Manifest, item: CheckItem, *, built: bool) -> Origin:
    """Return where the manifest stands, with the lines that the item's findings and validation errors mean.

    Args:
        manifest: the manifest.
        item: what was found out about it.
        built: whether its text was made by a tool, so that no file holds it.
    """
    document = manifest.document
    places = {error.field: error.field for error in item.validation}
    # Findings speak of the Pod, whose spec is deeper in a workload.
    places |= {
        finding.path: f"{manifest.pod_path}{finding.path.removeprefix('spec')}"
        for finding in item.findings
        if finding.path.startswith("spec")
    }
    lines = document.lines(["", *places.values()])
    return Origin(
        file="" if built or document.source == STANDARD_INPUT or "://" in document.source else document.source,
        document=document.number,
        line=lines.get("", 0),
        lines={path: lines[place] for path, place in places.items() if place in lines},
    )
