"""The manifests that ``check`` is asked about: every document as an object of its namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

import msgspec
from msgspec.structs import replace

import kubectl_spread
from kubectl_spread.apiserver.apply import Merged, mapping
from kubectl_spread.apiserver.fields import Tables, no_kind_match
from kubectl_spread.apiserver.strategic_merge import Map
from kubectl_spread.apiserver.validation.field_errors import FieldError
from kubectl_spread.cluster.files.documents import Document
from kubectl_spread.cluster.files.manifests import PodGroup, pod_groups, read_sound_documents
from kubectl_spread.cluster.files.sources import STANDARD_INPUT
from kubectl_spread.contract.check import CheckItem, Origin
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.fixes.change import ManifestEdit
from kubectl_spread.errors import ManifestError
from kubectl_spread.gaps import Gap, UnknownKind, UnreadTemplate
from kubectl_spread.manifest_problem import ManifestProblem
from kubectl_spread.objects.core import Pod, PodSpec, PodTemplateSpec
from kubectl_spread.objects.decoding import DecodeError, convert
from kubectl_spread.objects.kinds import BY_API, WORKLOADS, Kind, Workload
from kubectl_spread.objects.meta import KubernetesObject, ObjectMeta, Plain
from kubectl_spread.objects.workloads import ReplicaSet
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.words import enumerated, listed

if TYPE_CHECKING:
    from kubectl_spread.cluster.api.discovery import Discovered
    from kubectl_spread.commands.source import Source


StructT = TypeVar("StructT", bound=msgspec.Struct)


# Source: kubernetes.io/docs/setup/best-practices/cluster-large, the largest cluster that is supported (v1.36).
MOST_PODS = 150_000


class ManifestSources(msgspec.Struct, frozen=True, kw_only=True):
    """Which manifests to read."""

    filenames: tuple[str, ...] = ()  # files, directories, URLs or ``-``
    recursive: bool = False
    kustomize: str = ""  # a directory to build with kustomize instead; empty for none
    namespace: str  # of documents that name none
    enforce_namespace: bool = False  # whether documents of another namespace are an error, as with ``-n``


class Manifest(msgspec.Struct, frozen=True):
    """One document as an object of its namespace."""

    document: Document
    obj: KubernetesObject | None  # the object; None for a kind of another API
    # the Pod template of a kind of another API; ``group``: its field, and the number of its Pods
    template: PodTemplateSpec | None
    namespace: str  # where it would be created; empty for cluster-scoped kinds
    name: str  # its name, or its generateName
    # the object that exists when it is applied: what an earlier document leaves, or what was read
    live: KubernetesObject | None = None
    # the object of the document, where ``obj`` is merged with a live object; None where it is not
    written: KubernetesObject | None = None
    merge: Merged | None = None
    refused: tuple[FieldError, ...] = ()  # why it cannot be merged, or why the API server refuses the result
    served: Map | None = None  # the merged object from a dry run; None where the API server was not asked
    unknown: tuple[Gap, ...] = ()  # what is unknown about the merged object
    server_side: bool = False  # whether the API server merges it, by the managers of fields
    again: str = ""  # the place of an earlier document with the same object; empty for none
    replaced: bool = False  # whether it is accepted, and a later document has the same object
    group: PodGroup | None = None
    # its kind in the API server's discovery; None for a kind of Kubernetes, or where that was not asked
    served_as: Kind | None = None

    @property
    def makes_pods(self) -> bool:
        """Whether it is a Pod or has a Pod template, and can be decoded."""
        kind = BY_API.get((self.document.api_version, self.document.kind))
        known = kind is not None and kind.makes_pods and not self.document.fault
        return isinstance(self.obj, Pod) or self.template is not None or known

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer about it in any case: it makes Pods, or it is refused as it is written."""
        return self.makes_pods or bool(self.document.fault) or tables().lacks(self.document.api_version)

    @property
    def is_left_out(self) -> bool:
        """Whether nothing of it comes to be: it makes no Pods, and it is refused. A live object then stays as it is."""
        return bool(self.refused) and not self.makes_pods

    @property
    def spreads(self) -> bool:
        """Whether it has topology spread constraints anywhere."""
        return b'"topologySpreadConstraints":' in msgspec.json.encode(self.document.values)

    @property
    def pod_spec(self) -> PodSpec:
        """The spec of its Pods; empty where it creates none."""
        return self.template.spec if self.template else spec_of(self.obj)

    @property
    def labels(self) -> Mapping[str, str]:
        """Its own labels, not those of its template."""
        labels = mapping(mapping(mapping(self.document.values).get("metadata")).get("labels"))
        return {key: value for key, value in labels.items() if isinstance(key, str) and isinstance(value, str)}

    @property
    def replicas(self) -> int:
        """The number of Pods of a kind of another API; 1 where it has no such field."""
        return self.group.replicas if self.group else 1

    @property
    def ref(self) -> WorkloadRef:
        """Its kind and name."""
        return WorkloadRef(kind=self.document.kind, name=self.name)

    @property
    def pod_path(self) -> str:
        """The field with the Pod's spec."""
        if isinstance(self.obj, Pod):
            return "spec"
        if self.group:
            return f"{self.group.path}.spec"
        return "spec.jobTemplate.spec.template.spec" if self.document.kind == "CronJob" else "spec.template.spec"


def spec_of(obj: KubernetesObject | None) -> PodSpec:
    """Return the spec of the object's Pods; empty where it creates none."""
    if isinstance(obj, Pod):
        return obj.spec
    return template_of(cast("Workload", obj)).spec if type(obj) in WORKLOADS.values() else PodSpec()


def read_manifests(
    sources: ManifestSources, *, stdin: BinaryIO | None, of_any_kind: bool = False
) -> tuple[list[Manifest], tuple[ManifestProblem, ...]]:
    """Return all sound documents as objects, and the problems of the others; those without Pods may not be enough.

    ManifestError if documents cannot be read (all of them are named) and no other will do.
    """
    problems: list[ManifestProblem] = []
    if sources.kustomize:
        from kubectl_spread.cluster.files.kustomize import build

        documents: Sequence[Document] = build(sources.kustomize)
    else:
        documents, faults = read_sound_documents(sources.filenames, recursive=sources.recursive, stdin=stdin)
        problems += faults
    manifests: list[Manifest] = []
    for document in documents:
        try:
            manifests += _manifests(document, sources.namespace)
        except ManifestError as error:
            problems += error.problems
    if sources.enforce_namespace:
        problems += _of_other_namespaces(manifests, sources.namespace)
    faulty = {(problem.source, problem.document) for problem in problems}
    sound = [each for each in manifests if (each.document.source, each.document.number) not in faulty]
    if any(each.is_answered for each in sound) or (of_any_kind and (sound or not problems)):
        return sound, tuple(problems)
    if problems:
        raise ManifestError(problems)
    kinds = ", ".join(sorted({document.kind for document in documents})) or "an empty list"
    where = ", ".join(sources.filenames) or sources.kustomize
    problem = ManifestProblem(where, f"no document is a Pod or has a Pod template (found: {kinds})")
    raise ManifestError([problem], hint="want a Pod, or a workload such as a Deployment or CronJob")


def skipped_notes(manifests: Iterable[Manifest]) -> Iterator[str]:
    """Yield that manifests were skipped, if any were: kinds of other APIs without Pods."""
    if names := [str(each.ref) for each in manifests if each.obj is None and each.template is None]:
        have = "it has" if len(names) == 1 else "they have"
        yield f"Skipped, because {have} no Pod template: {listed(names)}"


def too_many(manifest: Manifest, asked: int) -> ManifestProblem:
    """Return the problem of a manifest that asks for so many Pods (count)."""
    return manifest.document.problem(
        f"asks for {asked} Pods, more than the {MOST_PODS} that Kubernetes supports in a cluster"
    )


def _of_other_namespaces(manifests: Sequence[Manifest], namespace: str) -> Iterator[ManifestProblem]:
    """Yield a problem for each document of another namespace.

    Source: cli-runtime pkg/resource/visitor.go RequireNamespace (v1.36).
    """
    for manifest in manifests:
        if manifest.namespace not in {"", namespace}:
            own = manifest.namespace
            message = (
                f'the namespace from the provided object "{own}" does not match the namespace "{namespace}".'
                f" You must pass '--namespace={own}' to perform this operation."
            )
            yield manifest.document.problem(message)


def _manifests(document: Document, namespace: str) -> Iterator[Manifest]:
    """Yield the document as an object of its namespace; for a kind of another API, one for each group of Pods."""
    obj = document.obj
    if document.fault:
        own = map(mapping(mapping(document.values).get("metadata")).get, ("name", "namespace"))
        name, where = (each if isinstance(each, str) else "" for each in own)
        yield Manifest(document, None, None, where or namespace, name)
        return
    if obj is None:
        metadata = _decoded(document, "metadata", mapping(document.values).get("metadata") or {}, ObjectMeta)
        where = metadata.namespace or namespace
        for group in pod_groups(document):
            name = "-".join(filter(None, (metadata.name, group.name)))
            template = _decoded(document, group.path, group.template, PodTemplateSpec)
            yield Manifest(document, None, template, where, name, group=group)
        if not pod_groups(document):
            yield Manifest(document, None, None, where, metadata.name)
        return
    kind = BY_API[document.api_version, document.kind]
    metadata = obj.metadata
    if not kind.namespaced or not metadata.namespace:
        metadata = replace(metadata, namespace=namespace if kind.namespaced else "")
        obj = replace(obj, metadata=metadata)
    yield Manifest(document, obj, None, metadata.namespace, metadata.name or metadata.generate_name)


def _decoded(document: Document, path: str, values: Plain, struct: type[StructT]) -> StructT:
    try:
        return convert(values, struct)
    except DecodeError as error:
        raise ManifestError([document.problem(error.reason, f"{path}.{error.field_path}")]) from error


def in_its_file(manifest: Manifest, item: CheckItem, *, built: bool) -> CheckItem:
    """Return the item with the file and the lines of its fields; no file has a text that a tool ``built``."""
    document = manifest.document
    edited = (edit.path for fix in item.fixes for edit in fix.edits)
    fields = (*(error.field for error in item.refusals), *(warning.field for warning in item.warnings), *edited)
    places = {field: field for field in fields}
    # The paths of findings are those of a Pod; in a workload, its spec is deeper.
    places |= {
        finding.path: f"{manifest.pod_path}{finding.path.removeprefix('spec')}"
        for finding in item.findings
        if finding.path.startswith("spec")
    }
    # A jam is reported at the lines of the constraints to blame.
    places |= {path: f"{manifest.pod_path}{path.removeprefix('spec')}" for path in item.blamed_paths}
    lines = document.lines(["", *places.values()])
    origin = Origin(
        file="" if built or document.source == STANDARD_INPUT or "://" in document.source else document.source,
        document=document.number,
        line=lines.get("", 0),
        lines={path: lines[place] for path, place in places.items() if place in lines},
    )

    def placed(edit: ManifestEdit) -> ManifestEdit:
        line = origin.lines.get(edit.path, origin.line)
        return replace(edit, file=origin.file, document=origin.document, line=line)

    return replace(item, origin=origin, fixes=tuple(fix.with_edits(placed) for fix in item.fixes))


_DEFINITION = "CustomResourceDefinition"


@cache
def tables() -> Tables:
    """Return the API's fields, which ship with this program."""
    # importlib.resources would import a dozen modules more.
    content = Path(kubectl_spread.__file__).with_name("schema").joinpath("fields.json").read_bytes()
    return msgspec.json.decode(content, type=Tables)


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
    skipped = (each for each in manifests if each.obj is None and not (each.is_answered or each.refused))
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
