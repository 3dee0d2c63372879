"""Kubernetes objects out of files: manifests for ``check -f``, a whole cluster for ``--from``.

Every document of every source is read before one error lists all that is wrong.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from kubectl_spread.cluster.files.documents import Document, contents, read_objects
from kubectl_spread.cluster.files.sources import MOST_OF_A_CLUSTER, Input, read_inputs
from kubectl_spread.cluster.log import READS, SILENT, Log
from kubectl_spread.cluster.reads import counted
from kubectl_spread.errors import ManifestError, ManifestProblem
from kubectl_spread.objects.core import Pod, ReplicatedStatus
from kubectl_spread.objects.decoding import DecodeError, Plain, convert
from kubectl_spread.objects.kinds import (
    BY_API,
    BY_NAME,
    CONFIG_MAP,
    DAEMON_SET,
    DEPLOYMENT,
    EVENT,
    KINDS,
    NODE,
    POD,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    SERVICE,
    Kind,
)
from kubectl_spread.objects.meta import LAST_APPLIED, KubernetesObject
from kubectl_spread.objects.template_rest import UNKNOWN, with_rest
from kubectl_spread.objects.workloads import DaemonSet
from kubectl_spread.snapshot import ORIGIN_API, Inventory, Origin, Unread

__all__ = [
    "Document",
    "documents_of",
    "pod_groups",
    "read_documents",
    "read_inventory",
    "read_settings",
    "read_sound_documents",
]

DEFAULT_NAMESPACE = "default"
NOT_IN_SNAPSHOT = "not in the snapshot"
NOT_IN_FILES = "not in the files"
"""Why a kind is unread that files cannot hold."""
MOST_PROBLEMS = 100
"""How many problems are named before reading ends."""
MOST_OBJECTS = 100_000
"""How many objects manifests may hold; each of them costs more than it does in a cluster."""
_IN_DUMP = frozenset((NODE, POD, EVENT, SERVICE, REPLICATION_CONTROLLER, DEPLOYMENT, REPLICA_SET, DAEMON_SET))
"""What ``kubectl cluster-info dump`` writes. Source: kubectl pkg/cmd/clusterinfo/clusterinfo_dump.go Run (v1.36)."""
REDUCED_TO_REPLICAS = frozenset(("{}", '{"spec":{"replicas":1}}'))
"""What older snapshots keep of what was last applied: whether it says how many replicas there are."""
_MOST_NAMES = 3
_LEAST_NAMESPACES = 4
"""Namespaces (count) of every cluster: default, kube-system, kube-public and kube-node-lease."""

Objects: TypeAlias = Mapping[str, Mapping[tuple[str, str], KubernetesObject]]
"""Kind's name → (namespace, name) → object."""
T = TypeVar("T")


def read_documents(
    sources: Sequence[str], *, recursive: bool = False, stdin: BinaryIO | None = None
) -> tuple[Document, ...]:
    """Return the objects of the sources in their order, of any kind; those of known kinds decoded.

    Raises:
        ManifestError: with everything that is wrong.
    """
    return documents_of(read_inputs(sources, recursive=recursive, urls=True, stdin=stdin))


def read_sound_documents(
    sources: Sequence[str], *, recursive: bool = False, stdin: BinaryIO | None = None
) -> tuple[tuple[Document, ...], tuple[ManifestProblem, ...]]:
    """Return the objects of the documents in which nothing is wrong, as `read_documents` does, and what is in others.

    Of a key that YAML gives twice the last value counts.

    Raises:
        ManifestError: too much is wrong.
    """
    inputs = read_inputs(sources, recursive=recursive, urls=True, stdin=stdin)
    documents, problems = _sorted_out(
        _decoded(_countable(read_objects(inputs, strict=True, repeats=True), MOST_OBJECTS))
    )
    return tuple(documents), tuple(problems)


def documents_of(inputs: Iterable[Input | ManifestProblem], *, most: int = MOST_OBJECTS) -> tuple[Document, ...]:
    """Return the objects of what was read, of any kind; those of known kinds decoded.

    Raises:
        ManifestError: with everything that is wrong.
    """
    return _sound(_decoded(_countable(read_objects(inputs, strict=True), most)))


def read_settings(source: str, *, stdin: BinaryIO | None = None) -> tuple[Document, ...]:
    """Return the documents of a file of ours, which need not be Kubernetes objects.

    Raises:
        ManifestError: with everything that is wrong.
    """
    inputs = read_inputs([source], recursive=False, urls=True, stdin=stdin)
    return _sound(
        each
        for found in inputs
        for each in ([found] if isinstance(found, ManifestProblem) else contents(found, strict=True))
    )


class PodGroup(msgspec.Struct, frozen=True):
    """Pods that an object of a kind we do not know makes alike.

    Attributes:
        name: what tells them from others of the object, such as ``worker``; empty where there are no others.
        path: the field of the object that is their template.
        template: the values of that.
        replicas: how many there are (count).
    """

    name: str
    path: str
    template: Plain
    replicas: int


_COUNTS = ("replicas", "parallelism", "numOfHosts")
_NAMES = ("groupName", "name")
_SAYS_NOTHING = re.compile(r"GroupSpecs?$|Specs?$|Template$|Jobs$", re.ASCII)


def pod_groups(document: Document) -> tuple[PodGroup, ...]:
    """Return the Pods that a kind we do not know makes, as Rollout and RayCluster do: wherever a Pod template is.

    A Pod template is known by its ``spec.containers``; how many Pods there are of it, by the counts around it.
    """
    if (document.api_version, document.kind) in BY_API:
        return ()
    found = list(_groups(_field(document.values, "spec"), "spec", "", 1))
    return tuple(found) if len(found) > 1 else tuple(replace(each, name="") for each in found)


def _groups(values: Plain, path: str, name: str, replicas: int) -> Iterator[PodGroup]:
    if isinstance(values, list):
        for index, each in enumerate(values):
            own = next((text for key in _NAMES if isinstance(text := _field(each, key), str)), str(index))
            yield from _groups(each, f"{path}[{index}]", own, replicas)
        return
    containers = _field(_field(values, "spec"), "containers")
    if isinstance(containers, list):
        yield PodGroup(name.lower(), path, values, replicas)
    elif isinstance(values, dict):
        counts = (value for key in _COUNTS if isinstance(value := values.get(key), int) and not isinstance(value, bool))
        number = replicas * math.prod(max(each, 0) for each in counts)
        for key, value in values.items():
            told = _SAYS_NOTHING.sub("", key) if key not in {"template", "spec"} else ""
            yield from _groups(value, f"{path}.{key}", told or name, number)


def read_inventory(sources: Sequence[str], *, stdin: BinaryIO | None = None, log: Log = SILENT) -> Inventory:
    """Return the cluster that the sources hold; directories are read with all that is in them, URLs are not read.

    Objects of unknown kinds are left out. A namespaced object without a namespace is in ``default``. An object that
    is given twice, by kind, namespace and name, is taken as it stands last. Kinds that the
    sources cannot hold are unread. Where several snapshots are of different clusters, none is the origin.

    Raises:
        ManifestError: with everything that is wrong.
    """
    objects: dict[str, dict[tuple[str, str], KubernetesObject]] = {kind.name: {} for kind in KINDS}
    inputs = read_inputs(sources, recursive=True, urls=False, stdin=stdin, most=MOST_OF_A_CLUSTER)
    lists: Counter[Kind] = Counter()
    snapshots: list[Origin] = []
    origins: dict[tuple[str, ...], Origin] = {}
    for kind, each in _sound(_cluster_objects(read_objects(_logged(inputs, log), strict=False, lists=lists))):
        if isinstance(each, Origin):
            snapshots.append(each)
            origins.setdefault((each.context, each.cluster, each.server), each)
        else:
            objects[kind][each.metadata.namespace, each.metadata.name] = each
    found = {kind: tuple(named.values()) for kind, named in objects.items()}
    if any(each.metadata.annotations.get(LAST_APPLIED) in REDUCED_TO_REPLICAS for each in _each(objects)):
        # A snapshot of before this release, which has nothing of what is not kept.
        found = {kind: tuple(with_rest(each, UNKNOWN) for each in those) for kind, those in found.items()}
    inventory = Inventory(found, unread=tuple(_unread(objects, lists)))
    if len(snapshots) == 1:
        inventory = _as_recorded(inventory, snapshots[0])
    if len(origins) == 1:
        inventory = replace(inventory, origin=next(iter(origins.values())))
    log.say(READS, f"found {counted(inventory)}")
    return inventory


def _as_recorded(inventory: Inventory, snapshot: Origin) -> Inventory:
    """Return what the files hold, of which one is a snapshot that says what was read for it."""
    if not snapshot.held:
        return inventory
    versions = {plural: version for plural, version in snapshot.held.items() if version}
    recorded = [Unread(BY_NAME[kind], why, where) for kind, why, where in snapshot.unread if kind in BY_NAME]
    known = {each.kind for each in recorded}
    recorded += [
        Unread(kind, NOT_IN_SNAPSHOT) for kind in KINDS if kind.plural not in snapshot.held and kind not in known
    ]
    # What other files bring is there; what the server kept to itself is not.
    unread = [each for each in recorded if each.kind.plural in versions or not inventory.objects[each.kind.name]]
    if not versions:
        unread += [each for each in inventory.unread if each.kind not in known]
    within = {kind: frozenset(namespaces) for kind, namespaces in snapshot.within.items()}
    return replace(inventory, resource_versions=versions, unread=tuple(unread), within=within, apart=snapshot.apart)


def _unread(objects: Objects, lists: Counter[Kind]) -> Iterator[Unread]:
    """Yield what the sources do not hold, though the cluster may have it, or must.

    A list of one kind, as the API server answers and ``kubectl cluster-info dump`` writes it, says nothing of others.
    Pods that are on nodes show that there are nodes, and workloads that count Pods that there are Pods. Where some
    nodes are there, one that Pods run on is missing; Pods that do not run may have outlived theirs.
    """
    for kind in KINDS:
        if not objects[kind.name] and kind not in lists and (lists or _must_exist(kind, objects)):
            yield Unread(kind, NOT_IN_FILES)
    missing = _named_nodes(objects, "Running").difference(name for _, name in objects[NODE.name])
    if missing and objects[NODE.name]:
        yield Unread(NODE, f"{_first_of(missing)} {NOT_IN_FILES}")
    if lists.keys() == _IN_DUMP and (namespaces := _dumped_in_part(objects, lists)):
        yield Unread(POD, f"only those of {_first_of(namespaces)} are in the files")


def _must_exist(kind: Kind, objects: Objects) -> bool:
    """Whether other objects show that there is one of the kind."""
    return (kind == NODE and bool(_named_nodes(objects))) or (kind == POD and any(map(_has_pods, _each(objects))))


def _each(objects: Objects) -> Iterator[KubernetesObject]:
    return (each for named in objects.values() for each in named.values())


def _has_pods(obj: KubernetesObject) -> bool:
    if isinstance(obj, DaemonSet):
        return obj.status.current_number_scheduled > 0
    status = getattr(obj, "status", None)
    return isinstance(status, ReplicatedStatus) and status.replicas > 0


def _named_nodes(objects: Objects, phase: str = "") -> set[str]:
    """Return the nodes (by name) that Pods are on which have not finished, of this phase alone where one is given."""
    pods = (pod for pod in objects[POD.name].values() if isinstance(pod, Pod) and not pod.finished)
    named = {pod.spec.node_name for pod in pods if not phase or (pod.status.phase == phase and not pod.terminating)}
    return named - {""}


def _dumped_in_part(objects: Objects, lists: Counter[Kind]) -> set[str]:
    """Return the namespaces of a dump that is not of all; empty for one that is.

    A dump has a list of Pods for each namespace. Of all of them, those that every cluster has are mostly empty.
    """
    held = {namespace for named in objects.values() for namespace, _ in named if namespace}
    return held if lists[POD] < max(len(held), _LEAST_NAMESPACES) else set()


def _first_of(names: set[str]) -> str:
    first, rest = sorted(names)[:_MOST_NAMES], len(names) - _MOST_NAMES
    return f"{', '.join(first)} and {rest} more" if rest > 0 else ", ".join(first)


def _logged(inputs: Iterable[Input | ManifestProblem], log: Log) -> Iterator[Input | ManifestProblem]:
    for each in inputs:
        if isinstance(each, Input):
            log.say(READS, f"read {each.source}: {len(each.content):,} bytes")
        yield each


def _sound(results: Iterable[T | ManifestProblem]) -> tuple[T, ...]:
    """Return the results if there is no problem among them.

    Raises:
        ManifestError: with all problems, or the first hundred.
    """
    sound, problems = _sorted_out(results)
    if problems:
        raise ManifestError(problems)
    return tuple(sound)


def _sorted_out(results: Iterable[T | ManifestProblem]) -> tuple[list[T], list[ManifestProblem]]:
    """Return the results, and the problems among them.

    Raises:
        ManifestError: with the first hundred problems.
    """
    sound: list[T] = []
    problems: list[ManifestProblem] = []
    for result in results:
        if not isinstance(result, ManifestProblem):
            sound.append(result)
            continue
        problems.append(result)
        if len(problems) == MOST_PROBLEMS:
            raise ManifestError(problems, hint="there may be more: reading ended here")
    return sound, problems


def _countable(found: Iterable[Document | ManifestProblem], most: int) -> Iterator[Document | ManifestProblem]:
    for number, each in enumerate(found):
        if number == most and isinstance(each, Document):
            yield ManifestProblem(each.source, f"no more than {most} objects are taken", document=each.number)
            return
        yield each


def _decoded(found: Iterable[Document | ManifestProblem]) -> Iterator[Document | ManifestProblem]:
    for each in found:
        if isinstance(each, ManifestProblem):
            yield each
            continue
        try:
            yield each.decoded()
        except DecodeError as error:
            yield each.problem(error.reason, error.field_path)


def _cluster_objects(
    found: Iterable[Document | ManifestProblem],
) -> Iterator[tuple[str, KubernetesObject | Origin] | ManifestProblem]:
    for each in _decoded(each for each in found if not _may_be_secret(each)):
        if isinstance(each, ManifestProblem):
            yield each
        elif (each.api_version, each.kind) == ("v1", "Status"):
            yield each.problem(f"is an answer of the API server, not an object: {_field(each.values, 'message')}")
        elif (each.api_version, each.kind) == ORIGIN_API:
            try:
                yield each.kind, convert(each.values, Origin)
            except DecodeError as error:
                yield each.problem(error.reason, error.field_path)
        elif each.obj is not None:
            yield _in_namespace(each, each.obj)


def _may_be_secret(each: Document | ManifestProblem) -> bool:
    """Whether it is a ConfigMap, but for the one in which cluster-autoscaler writes its status."""
    if isinstance(each, ManifestProblem) or (each.api_version, each.kind) != ("v1", CONFIG_MAP.name):
        return False
    metadata = _field(each.values, "metadata")
    return (_field(metadata, "namespace"), _field(metadata, "name")) != ("kube-system", "cluster-autoscaler-status")


def _in_namespace(document: Document, obj: KubernetesObject) -> tuple[str, KubernetesObject] | ManifestProblem:
    """Return (kind, object); the object has a name, and a namespace if its kind lives in one."""
    metadata = obj.metadata
    if not metadata.name:
        return document.problem("is missing", "metadata.name")
    if not metadata.namespace and BY_API[document.api_version, document.kind].namespaced:
        metadata = replace(metadata, namespace=DEFAULT_NAMESPACE)
        obj = replace(obj, metadata=metadata)
    return document.kind, obj


def _field(values: Plain, name: str) -> Plain:
    return values.get(name) if isinstance(values, dict) else None
