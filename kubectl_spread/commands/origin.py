"""Where a manifest stands, and where in it what is wrong."""

from __future__ import annotations

from msgspec.structs import replace

from kubectl_spread.cluster.files.sources import STANDARD_INPUT
from kubectl_spread.commands.manifests import Manifest
from kubectl_spread.contract.check import CheckItem, Origin
from kubectl_spread.diagnosis.fixes.change import ManifestEdit


def in_its_file(manifest: Manifest, item: CheckItem, *, built: bool) -> CheckItem:
    """Return the item with where its manifest stands, and the lines that it speaks of.

    Args:
        manifest: the manifest.
        item: what was found out about it.
        built: whether its text was made by a tool, so that no file holds it.
    """
    document = manifest.document
    edited = (edit.path for fix in item.fixes for edit in fix.edits)
    fields = (*(error.field for error in item.validation), *(warning.field for warning in item.warnings), *edited)
    places = {field: field for field in fields}
    # Findings speak of the Pod, whose spec is deeper in a workload.
    places |= {
        finding.path: f"{manifest.pod_path}{finding.path.removeprefix('spec')}"
        for finding in item.findings
        if finding.path.startswith("spec")
    }
    # What keeps the Pods from nodes is told where the constraint stands.
    places |= {path: f"{manifest.pod_path}{path.removeprefix('spec')}" for path in item.blamed_paths}
    lines = document.lines(["", *places.values()])
    origin = Origin(
        file="" if built or document.source == STANDARD_INPUT or "://" in document.source else document.source,
        document=document.number,
        line=lines.get("", 0),
        lines={path: lines[place] for path, place in places.items() if place in lines},
    )
    fixes = tuple(replace(fix, edits=tuple(_placed(edit, origin) for edit in fix.edits)) for fix in item.fixes)
    return replace(item, origin=origin, fixes=fixes)


def _placed(edit: ManifestEdit, origin: Origin) -> ManifestEdit:
    return replace(edit, file=origin.file, document=origin.document, line=origin.lines.get(edit.path, origin.line))
