"""Whether the cluster serves the kinds of manifests that come from other APIs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.apply import mapping
from kubectl_spread.apiserver.fields import no_kind_match
from kubectl_spread.commands.admission_errors import tables
from kubectl_spread.commands.manifests import Manifest
from kubectl_spread.gaps import Gap, UnknownKind, UnreadTemplate
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import BY_API, Kind
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.workloads import ReplicaSet
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.words import enumerated

if TYPE_CHECKING:
    from kubectl_spread.cluster.api.discovery import Discovered
    from kubectl_spread.commands.source import Source

_DEFINITION = "CustomResourceDefinition"


def with_served_kinds(manifests: Sequence[Manifest], source: Source) -> list[Manifest]:
    """Return the manifests; those of kinds that the API server does not serve are refused, as kubectl does.

    The server is asked only about groups that are not Kubernetes' own. Files do not say what a cluster serves.
    ClusterError if the server cannot be reached or understood.
    """
    versions = dict.fromkeys(each.document.api_version for each in manifests if _is_custom(each))
    if not (versions and source.server):
        return [*manifests]
    from kubectl_spread.cluster.net.background import Background

    asked = {version: Background(partial(source.discover, version)) for version in versions}
    served = {version: each.result() for version, each in asked.items()}
    definitions = (mapping(each.document.values) for each in manifests if each.document.kind == _DEFINITION)
    specs = [mapping(values.get("spec")) for values in definitions]
    defined = {(str(spec.get("group")), str(mapping(spec.get("names")).get("kind"))) for spec in specs}
    return [_with_kind(each, served, defined) if _is_custom(each) else each for each in manifests]


def unread_documents(manifests: Sequence[Manifest], snapshot: Snapshot, source: Source) -> Iterator[Gap]:
    """Yield what is not known about the manifests of other APIs: their Pods, and whether the cluster serves them."""
    skipped = (each for each in manifests if each.obj is None and not each.makes_pods and not each.refused)
    yield from (UnreadTemplate(workload=str(each.ref)) for each in skipped if each.spreads)
    if not source.server:
        yield from _unknown_kinds([each for each in manifests if each.makes_pods], snapshot)


def _unknown_kinds(manifests: Sequence[Manifest], snapshot: Snapshot) -> Iterator[UnknownKind]:
    """Yield the kinds of which files do not show that the cluster serves them: no object is of them or owned by one."""
    custom = dict.fromkeys((each.document.api_version, each.document.kind) for each in manifests if _is_custom(each))
    if not custom:
        return
    owned = (*snapshot.all(Pod), *snapshot.all(ReplicaSet))
    seen = {(owner.api_version, owner.kind) for each in owned for owner in each.metadata.owner_references}
    for api_version, kind in custom:
        held = BY_API.get((api_version, kind))
        if (api_version, kind) not in seen and not (held and any(snapshot.all(held.struct))):
            yield UnknownKind(api_version=api_version, kind=kind, why="the files do not say")


def _is_custom(manifest: Manifest) -> bool:
    """Whether its group is not one of Kubernetes' own."""
    return not tables().has_group(manifest.document.api_version)


def _with_kind(manifest: Manifest, served: Mapping[str, Discovered | None], defined: set[tuple[str, str]]) -> Manifest:
    api_version, kind = manifest.document.api_version, manifest.document.kind
    found = served[api_version]
    if found is None:
        gap = UnknownKind(api_version=api_version, kind=kind, why="forbidden")
        return replace(manifest, unknown=(gap,))
    if resource := found.resources.get(kind):
        made = msgspec.defstruct(kind, (), bases=(KubernetesObject,), frozen=True)
        struct = cast("type[KubernetesObject]", made)
        return replace(manifest, served_as=Kind(struct, api_version, resource.name, namespaced=resource.namespaced))
    if found.versions:
        hint = f"the cluster serves the group only in {enumerated(found.versions)}"
    elif (api_version.rpartition("/")[0], kind) in defined:
        hint = f"kubectl looks for the kind before it applies anything: apply the {_DEFINITION} first"
    else:
        hint = f"install its {_DEFINITION} first"
    return replace(manifest, refused=(no_kind_match(api_version, kind, hint, near=found.resources),))
