"""The manifests that ``check`` is asked about: every document as an object of its namespace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.apply import Merged
from kubectl_spread.apiserver.fields import REMOVED_IN
from kubectl_spread.apiserver.strategic_merge import Map
from kubectl_spread.apiserver.validation.field_errors import FieldError
from kubectl_spread.cluster.files.documents import Document
from kubectl_spread.cluster.files.manifests import PodGroup, pod_groups, read_sound_documents
from kubectl_spread.cluster.files.sources import STANDARD_INPUT
from kubectl_spread.contract.check import CheckItem, Origin
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.fixes.change import ManifestEdit
from kubectl_spread.errors import ManifestError, ManifestProblem
from kubectl_spread.gaps import Gap
from kubectl_spread.objects.core import Pod, PodSpec, PodTemplateSpec
from kubectl_spread.objects.decoding import DecodeError, Plain, convert
from kubectl_spread.objects.kinds import BY_API, WORKLOADS, Workload
from kubectl_spread.objects.meta import KubernetesObject, ObjectMeta

MOST_PODS = 150_000
"""Source: kubernetes.io/docs/setup/best-practices/cluster-large, the largest cluster that is supported (v1.36)."""


class ManifestSources(msgspec.Struct, frozen=True, kw_only=True):
    """Which manifests are meant.

    Attributes:
        filenames: files, directories, URLs or ``-``.
        recursive: whether directories are read with all below them.
        kustomize: a directory to build with kustomize instead; empty for none.
        namespace: of the documents that name none.
        enforce_namespace: whether documents of another namespace are an error, as they are where ``-n`` is given.
    """

    filenames: tuple[str, ...] = ()
    recursive: bool = False
    kustomize: str = ""
    namespace: str
    enforce_namespace: bool = False


class Manifest(msgspec.Struct, frozen=True):
    """One document as an object of its namespace.

    Attributes:
        document: where it stands.
        obj: the object; None for a kind of another API.
        template: the Pod template of a kind of another API.
        group: where that is, and how many Pods are made of it.
        namespace: where it would be created; empty for kinds that live in none.
        name: its name, or what its name will begin with.
        written: the object as the document has it, where ``obj`` is merged with one that lives; None where it is not.
        merge: how far the merged object is known; None where nothing of it lives.
        refused: why it cannot be merged, or what the API server says against it.
        served: the merged object as the API server says it is; None where it was not asked.
        unknown: what is not known of the merged object.
        server_side: whether the API server merges it, by who manages which field.
    """

    document: Document
    obj: KubernetesObject | None
    template: PodTemplateSpec | None
    namespace: str
    name: str
    written: KubernetesObject | None = None
    merge: Merged | None = None
    refused: tuple[FieldError, ...] = ()
    served: Map | None = None
    unknown: tuple[Gap, ...] = ()
    server_side: bool = False
    group: PodGroup | None = None

    @property
    def makes_pods(self) -> bool:
        """Whether it is a Pod or has a Pod template."""
        kind = BY_API.get((self.document.api_version, self.document.kind))
        return isinstance(self.obj, Pod) or self.template is not None or (kind is not None and kind.makes_pods)

    @property
    def spreads(self) -> bool:
        """Whether topology spread constraints are anywhere in it."""
        return b'"topologySpreadConstraints":' in msgspec.json.encode(self.document.values)

    @property
    def pod_spec(self) -> PodSpec:
        """What its Pods ask for; nothing where it makes none."""
        return self.template.spec if self.template else spec_of(self.obj)

    @property
    def labels(self) -> Mapping[str, str]:
        """Its own labels, not those of its template."""
        metadata = values_of(self.document).get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, dict) else None
        found = labels if isinstance(labels, dict) else {}
        return {key: value for key, value in found.items() if isinstance(key, str) and isinstance(value, str)}

    @property
    def replicas(self) -> int:
        """How many Pods a kind of another API asks for (count); 1 where it does not say."""
        return self.group.replicas if self.group else 1

    @property
    def ref(self) -> WorkloadRef:
        """Its kind and name."""
        return WorkloadRef(kind=self.document.kind, name=self.name)

    @property
    def pod_path(self) -> str:
        """The field in which the Pod's spec stands."""
        if isinstance(self.obj, Pod):
            return "spec"
        if self.group:
            return f"{self.group.path}.spec"
        return "spec.jobTemplate.spec.template.spec" if self.document.kind == "CronJob" else "spec.template.spec"


def spec_of(obj: KubernetesObject | None) -> PodSpec:
    """Return what the object's Pods ask for; nothing where it makes none."""
    if isinstance(obj, Pod):
        return obj.spec
    return template_of(cast("Workload", obj)).spec if type(obj) in WORKLOADS.values() else PodSpec()


def values_of(document: Document) -> Mapping[str, Plain]:
    """Return the document as plain values; empty where it is no mapping."""
    return document.values if isinstance(document.values, dict) else {}


def read_manifests(
    sources: ManifestSources, *, stdin: BinaryIO | None, of_any_kind: bool = False
) -> tuple[list[Manifest], tuple[ManifestProblem, ...]]:
    """Return every document as an object, but for those in which something is wrong, and what that is.

    Args:
        sources: what to read.
        stdin: standard input; None where it is closed.
        of_any_kind: whether it is in order that none of them makes Pods.

    Raises:
        ManifestError: documents cannot be read (all of them are named) and no other will do.
    """
    documents, faults = _documents(sources, stdin)
    problems = list(faults)
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
    decides = any(each.makes_pods or each.document.api_version in REMOVED_IN for each in sound)
    if decides or (of_any_kind and (sound or not problems)):
        return sound, tuple(problems)
    if problems:
        raise ManifestError(problems)
    kinds = ", ".join(sorted({document.kind for document in documents}))
    where = ", ".join(sources.filenames) or sources.kustomize
    problem = ManifestProblem(where, f"no document is a Pod or has a Pod template (found: {kinds})")
    raise ManifestError([problem], hint="give a Pod, Deployment, StatefulSet, DaemonSet, Job, CronJob or the like")


def too_many(manifest: Manifest, asked: int) -> ManifestProblem:
    """Return what is wrong with a manifest that asks for so many Pods (count)."""
    return manifest.document.problem(
        f"asks for {asked} Pods, more than the {MOST_PODS} that Kubernetes supports in a cluster"
    )


def _documents(
    sources: ManifestSources, stdin: BinaryIO | None
) -> tuple[Sequence[Document], Sequence[ManifestProblem]]:
    """Return the documents of the files, or of the directory that kustomize builds, and what is wrong with others.

    Raises:
        ManifestError: what is built cannot be read, or too much is wrong.
    """
    if sources.kustomize:
        from kubectl_spread.cluster.files.kustomize import build

        return build(sources.kustomize), ()
    return read_sound_documents(sources.filenames, recursive=sources.recursive, stdin=stdin)


def _of_other_namespaces(manifests: Sequence[Manifest], namespace: str) -> Iterator[ManifestProblem]:
    """Yield what is wrong with documents of another namespace than the one that was asked for.

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
    """Yield the document as an object of the namespace it names, or of the one that is meant otherwise.

    Each group of Pods of a kind of another API is one.

    Raises:
        ManifestError: a field has the wrong type.
    """
    obj = document.obj
    if obj is None:
        metadata = _custom_metadata(document)
        where = metadata.namespace or namespace
        for group in pod_groups(document):
            name = "-".join(filter(None, (metadata.name, group.name)))
            yield Manifest(document, None, _custom_template(document, group), where, name, group=group)
        if not pod_groups(document):
            yield Manifest(document, None, None, where, metadata.name)
        return
    kind = BY_API[document.api_version, document.kind]
    metadata = obj.metadata
    if not kind.namespaced or not metadata.namespace:
        metadata = replace(metadata, namespace=namespace if kind.namespaced else "")
        obj = replace(obj, metadata=metadata)
    yield Manifest(document, obj, None, metadata.namespace, metadata.name or metadata.generate_name)


def _custom_template(document: Document, group: PodGroup) -> PodTemplateSpec:
    """Return a Pod template of a kind of another API.

    Raises:
        ManifestError: a field of the template has the wrong type.
    """
    try:
        return convert(group.template, PodTemplateSpec)
    except DecodeError as error:
        raise ManifestError([document.problem(error.reason, f"{group.path}.{error.field_path}")]) from error


def _custom_metadata(document: Document) -> ObjectMeta:
    """Return the identity of an object of another API.

    Raises:
        ManifestError: a field has the wrong type.
    """
    try:
        return convert(values_of(document).get("metadata") or {}, ObjectMeta)
    except DecodeError as error:
        raise ManifestError([document.problem(error.reason, f"metadata.{error.field_path}")]) from error


def in_its_file(manifest: Manifest, item: CheckItem, *, built: bool) -> CheckItem:
    """Return the item with where its manifest stands, and the lines that it speaks of.

    Args:
        manifest: the manifest.
        item: what was found out about it.
        built: whether its text was made by a tool, so that no file holds it.
    """
    document = manifest.document
    edited = (edit.path for fix in item.fixes for edit in fix.edits)
    fields = (*(error.field for error in item.refusals), *(warning.field for warning in item.warnings), *edited)
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

    def placed(edit: ManifestEdit) -> ManifestEdit:
        line = origin.lines.get(edit.path, origin.line)
        return replace(edit, file=origin.file, document=origin.document, line=line)

    fixes = tuple(replace(fix, edits=tuple(map(placed, fix.edits))) for fix in item.fixes)
    return replace(item, origin=origin, fixes=fixes)
