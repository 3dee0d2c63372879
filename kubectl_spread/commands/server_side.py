"""The API server's own answer to a manifest, by a dry run: ``check --dry-run=server``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.apply import mapping
from kubectl_spread.apiserver.validation.field_errors import FieldError
from kubectl_spread.cluster.api.dry_run import DryRun
from kubectl_spread.commands.manifests import Manifest
from kubectl_spread.contract.findings import incomplete_entries
from kubectl_spread.contract.report import Incomplete
from kubectl_spread.gaps import NoDryRun
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import BY_API, POD, Kind
from kubectl_spread.objects.meta import Plain

Create: TypeAlias = Callable[[Kind, str, Mapping[str, Plain]], DryRun]
"""(Kind, namespace, object) → the result of the dry run."""


class Served(msgspec.Struct, frozen=True):
    """The server's answer to a manifest: the Pod as it would store it, or why it refuses the manifest or its Pods.

    ``missing``: what could not be asked.
    """

    pod: Pod | None = None
    errors: tuple[FieldError, ...] = ()
    of_pods: tuple[FieldError, ...] = ()
    missing: tuple[Incomplete, ...] = ()


def ask(manifest: Manifest, pod: Pod, create: Create) -> Served:
    """Return the server's answer to the manifest and its first Pod; ClusterError if it does not answer."""
    kind = manifest.served_as or BY_API.get((manifest.document.api_version, manifest.document.kind))
    known = kind is None or manifest.served is not None or manifest.refused
    result = DryRun() if kind is None or known else create(kind, manifest.namespace, mapping(manifest.document.values))
    if manifest.refused or result.causes or result.impossible or kind is POD:
        return _served(result, pod, path="")
    labels: Plain = {**pod.metadata.labels}
    metadata: Plain = {
        **mapping(_template(manifest).get("metadata")),
        "generateName": f"{pod.metadata.name}-",
        "labels": labels,
    }
    values: dict[str, Plain] = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _spec(manifest, pod)}
    served = _served(create(POD, manifest.namespace, values), pod, path=manifest.pod_path.removesuffix("spec"))
    return replace(served, errors=(), of_pods=served.errors)


def _served(result: DryRun, pod: Pod, *, path: str) -> Served:
    if result.impossible:
        return Served(missing=incomplete_entries([NoDryRun(why=result.impossible)]))
    if result.causes or not isinstance(result.obj, Pod):
        errors = (
            FieldError(field=path * bool(each.field) + each.field, reason=each.reason, message=each.message)
            for each in result.causes
        )
        return Served(errors=tuple(errors))
    # The manifest lacks what a controller adds, such as the tolerations of a DaemonSet's Pods.
    own = result.obj.spec.tolerations
    added = (toleration for toleration in pod.spec.tolerations if toleration not in own)
    return Served(pod=replace(pod, spec=replace(result.obj.spec, tolerations=(*own, *added))))


def _template(manifest: Manifest) -> Mapping[str, Plain]:
    if manifest.group:
        return mapping(manifest.group.template)
    found: Plain = dict(manifest.served or mapping(manifest.document.values))
    for field in manifest.pod_path.split(".")[:-1]:
        found = mapping(found).get(field)
    return mapping(found)


def _spec(manifest: Manifest, pod: Pod) -> dict[str, Plain]:
    """Return the template's spec with the volumes of volumeClaimTemplates."""
    spec = mapping(_template(manifest).get("spec"))
    volumes = spec.get("volumes")
    known = [mapping(volume) for volume in volumes] if isinstance(volumes, list) else []
    names = {volume.get("name") for volume in known}
    claimed: Iterable[Plain] = (
        msgspec.to_builtins(volume)
        for volume in pod.spec.volumes
        if volume.name not in names and volume.persistent_volume_claim
    )
    return {**spec, "volumes": [*known, *claimed]}
