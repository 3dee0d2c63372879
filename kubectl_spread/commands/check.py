"""``check``: whether manifests schedule, where, and how their replicas lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import msgspec

from kubectl_spread.cluster.manifests import Document, decode_document, pod_template_values, read_documents
from kubectl_spread.commands import plan
from kubectl_spread.commands.source import Source
from kubectl_spread.commands.unreadable import naming_the_unreadable
from kubectl_spread.commands.view import SchedulerOptions, View, look
from kubectl_spread.diagnosis.controllers import as_created, first_pod, replicas_of
from kubectl_spread.diagnosis.domains import diagnose
from kubectl_spread.diagnosis.evaluation import evaluation_report
from kubectl_spread.diagnosis.placement import Placed, place, place_daemon
from kubectl_spread.errors import ManifestError, Problem
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from kubectl_spread.objects.decoding import DecodeError, convert
from kubectl_spread.objects.kinds import BY_API, KubernetesObject, Workload
from kubectl_spread.objects.meta import ObjectMeta, OwnerReference
from kubectl_spread.objects.workloads import DaemonSet
from kubectl_spread.report import CheckItem, CheckReport, ValidationError, Verdict, WorkloadRef
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.defaulting import defaulted
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.validation import validate, validate_template


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What ``check`` is asked.

    Attributes:
        filenames: files, directories, URLs or ``-``.
        recursive: whether directories are read with all below them.
        namespace: of the documents that name none.
        replicas: how many to place; None for as many as the manifest says.
    """

    filenames: tuple[str, ...]
    namespace: str
    recursive: bool = False
    replicas: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """One document as an object of its namespace.

    Attributes:
        document: where it stands.
        obj: the object; None for a kind of another API.
        template: the Pod template of a kind of another API.
        namespace: where it would be created.
        name: its name, or what its name will begin with.
    """

    document: Document
    obj: KubernetesObject | None
    template: PodTemplateSpec | None
    namespace: str
    name: str

    @property
    def makes_pods(self) -> bool:
        """Whether it is a Pod or has a Pod template."""
        kind = BY_API.get((self.document.api_version, self.document.kind))
        return isinstance(self.obj, Pod) or self.template is not None or (kind is not None and kind.makes_pods)


@dataclass(frozen=True, slots=True)
class Answer:
    """What ``check`` found."""

    report: CheckReport
    view: View


def check(source: Source, options: CheckOptions, scheduler: SchedulerOptions, *, stdin: BinaryIO | None) -> Answer:
    """Return whether the manifests schedule in this cluster, in file order, each seeing the ones before it.

    Raises:
        ManifestError: a document cannot be read, or none has a Pod template.
        ClusterError: a list that is needed cannot be had.
    """
    manifests = read_manifests(options, stdin=stdin)
    view = look(source, plan.everything(""), scheduler)
    snapshot = _laid_over(manifests, view.snapshot)
    items = []
    for manifest in manifests:
        if manifest.makes_pods:
            pod, replicas = _pod_of(manifest, snapshot)
            handle = Handle.build(snapshot, view.handle(pod.spec.scheduler_name).profile)
            with naming_the_unreadable(source.name, snapshot):
                item, snapshot = _answer(manifest, pod, handle, replicas=options.replicas or replicas)
            items.append(item)
    report = CheckReport(metadata=view.metadata, items=tuple(items), incomplete=view.incomplete)
    return Answer(report, view)


def exit_code(report: CheckReport) -> int:
    """Return 1 where a Pod finds no node or a manifest is invalid, else 3 where an answer is not whole, else 0."""
    if any(item.verdict is Verdict.UNSCHEDULABLE or item.jam or item.validation for item in report.items):
        return 1
    return 3 if any(item.verdict is Verdict.INCOMPLETE for item in report.items) else 0


def read_manifests(options: CheckOptions, *, stdin: BinaryIO | None) -> list[Manifest]:
    """Return every document as an object.

    Raises:
        ManifestError: documents cannot be read (all of them are named), or none has a Pod template.
    """
    documents = read_documents(options.filenames, recursive=options.recursive, stdin=stdin)
    manifests: list[Manifest] = []
    problems: list[Problem] = []
    for document in documents:
        try:
            manifests.append(_manifest(document, options.namespace))
        except ManifestError as error:
            problems += error.problems
    if problems:
        raise ManifestError(problems)
    if not any(manifest.makes_pods for manifest in manifests):
        kinds = ", ".join(sorted({document.kind for document in documents}))
        where = ", ".join(options.filenames)
        problem = Problem(where, f"no document is a Pod or has a Pod template (found: {kinds})")
        raise ManifestError([problem], hint="give a Pod, Deployment, StatefulSet, DaemonSet, Job, CronJob or the like")
    return manifests


def _manifest(document: Document, namespace: str) -> Manifest:
    """Return the document as an object of the namespace it names, or of the one that is meant otherwise.

    Raises:
        ManifestError: a field has the wrong type.
    """
    obj = decode_document(document)
    if obj is None:
        metadata = _custom_metadata(document)
        return Manifest(document, None, _custom_template(document), metadata.namespace or namespace, metadata.name)
    kind = BY_API[document.api_version, document.kind]
    if kind.namespaced and not obj.metadata.namespace:
        metadata = msgspec.structs.replace(obj.metadata, namespace=namespace)
        obj = msgspec.structs.replace(obj, metadata=metadata)
    return Manifest(document, obj, None, obj.metadata.namespace, obj.metadata.name or obj.metadata.generate_name)


def _custom_template(document: Document) -> PodTemplateSpec | None:
    """Return the Pod template of a kind of another API, None where it has none.

    Raises:
        ManifestError: a field of the template has the wrong type.
    """
    found = pod_template_values(document)
    if found is None:
        return None
    path, values = found
    try:
        return convert(values, PodTemplateSpec)
    except DecodeError as error:
        raise ManifestError([document.problem(error.reason, f"{path}.{error.field_path}")]) from error


def _custom_metadata(document: Document) -> ObjectMeta:
    """Return the identity of an object of another API.

    Raises:
        ManifestError: a field has the wrong type.
    """
    values = document.values
    try:
        return convert(values.get("metadata") if isinstance(values, dict) else None, ObjectMeta)
    except DecodeError as error:
        raise ManifestError([document.problem(error.reason, f"metadata.{error.field_path}")]) from error


def _laid_over(manifests: Sequence[Manifest], snapshot: Snapshot) -> Snapshot:
    """Return the cluster as it would be with the documents applied, before any Pod of theirs is scheduled."""
    return snapshot.with_objects(
        created
        for manifest in manifests
        if manifest.obj is not None and not isinstance(manifest.obj, Pod)
        for created in as_created(manifest.obj, snapshot)
    )


def _answer(manifest: Manifest, pod: Pod, handle: Handle, *, replicas: int) -> tuple[CheckItem, Snapshot]:
    """Return what becomes of one manifest, and the cluster with its replicas.

    Raises:
        ValueError: an object of the cluster cannot be read.
    """
    errors = _validation(manifest, handle.profile.minor)
    try:
        item, placed = _judge(manifest, pod, handle, replicas=replicas)
    except ValueError:
        if not errors:
            raise
        return msgspec.structs.replace(_refused(manifest), replicas=replicas, validation=errors), handle.snapshot
    return msgspec.structs.replace(item, validation=errors), placed.handle.snapshot


def _refused(manifest: Manifest) -> CheckItem:
    """Return the answer about a manifest that says nothing the scheduler could read."""
    return CheckItem(
        **_identity(manifest),
        verdict=Verdict.UNSCHEDULABLE,
        summary="The API server refuses it.",
        message="",
        feasible=(),
        nodes=(),
        constraints=(),
    )


def _judge(manifest: Manifest, pod: Pod, handle: Handle, *, replicas: int) -> tuple[CheckItem, Placed]:
    """Return what becomes of one manifest, and where its replicas went.

    Raises:
        ValueError: a selector or quantity cannot be read.
    """
    pod = defaulted(pod, handle.profile)
    report = evaluation_report(pod, handle)
    daemon = isinstance(manifest.obj, DaemonSet)
    placed = place_daemon(pod, handle) if daemon else place(pod, handle, replicas=replicas)
    item = CheckItem(
        **(msgspec.structs.asdict(report) | _identity(manifest)),
        replicas=_asked(placed) if daemon else replicas,
        placements=placed.placements,
        jam=placed.jam,
        after=diagnose(pod, placed.handle, cycle.evaluate(pod, placed.handle)).constraints,
    )
    return item, placed


def _validation(manifest: Manifest, minor: int) -> tuple[ValidationError, ...]:
    """Return what the API server would refuse of the manifest."""
    if manifest.obj is not None:
        errors = validate(manifest.obj, minor=minor)
    elif manifest.template is not None:
        errors = validate_template(manifest.template, path="spec.template", minor=minor)
    else:
        errors = ()
    return tuple(ValidationError(field=e.field, reason=str(e.reason), message=e.message) for e in errors)


def _asked(placed: Placed) -> int:
    """Return how many Pods a DaemonSet asked for as far as they were placed (count)."""
    return len(placed.placements) + (placed.jam is not None)


def _pod_of(manifest: Manifest, snapshot: Snapshot) -> tuple[Pod, int]:
    """Return the manifest's first Pod and how many it asks for (count)."""
    if isinstance(manifest.obj, Pod):
        return manifest.obj, 1
    if manifest.template is not None:
        return _custom_pod(manifest, manifest.template), 1
    owner = cast("Workload", manifest.obj)
    return first_pod(owner, snapshot), replicas_of(owner)


def _custom_pod(manifest: Manifest, template: PodTemplateSpec) -> Pod:
    """Return the Pod of a template whose kind belongs to another API."""
    document = manifest.document
    owner = OwnerReference(api_version=document.api_version, kind=document.kind, name=manifest.name, controller=True)
    metadata = ObjectMeta(
        name=owner.name, namespace=manifest.namespace, labels=template.metadata.labels, owner_references=(owner,)
    )
    return Pod(metadata=metadata, spec=template.spec)


def _identity(manifest: Manifest) -> dict[str, Any]:
    """Return the fields of an item that say which manifest it is about."""
    document = manifest.document
    return {
        "namespace": manifest.namespace,
        "name": manifest.name,
        "kind": document.kind,
        "source": f"{document.source}, document {document.number}",
        "workload": WorkloadRef(kind=document.kind, name=manifest.name),
    }
