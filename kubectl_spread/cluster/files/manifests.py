"""Reads Kubernetes objects from files: manifests for ``check -f``, a whole cluster for ``--from``.

All documents of all sources are read before one error lists all problems.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from kubectl_spread.cluster.files.documents import Document, contents, read_objects
from kubectl_spread.cluster.files.sources import MOST_OF_A_CLUSTER, Input, read_inputs
from kubectl_spread.cluster.log import SILENT, Log
from kubectl_spread.cluster.reads import describe_counts
from kubectl_spread.errors import ManifestError
from kubectl_spread.gaps import NOT_IN_FILES, NOT_IN_SNAPSHOT
from kubectl_spread.manifest_problem import ManifestProblem
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Event, Pod, ReplicatedStatus
from kubectl_spread.objects.decoding import DecodeError, convert
from kubectl_spread.objects.kinds import BY_API, BY_NAME, KINDS, NODE, POD, Kind
from kubectl_spread.objects.meta import KubernetesObject, Plain
from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.objects.template_rest import field_of
from kubectl_spread.objects.workloads import DaemonSet
from kubectl_spread.snapshot import ORIGIN_API, Inventory, Origin, Unread

DEFAULT_NAMESPACE = "default"
MOST_PROBLEMS = 100  # Reading ends after so many problems
MOST_OBJECTS = 100_000  # The most objects in manifests; each takes more memory than in a cluster
_IN_DUMP = {NODE, POD, kinds.EVENT, kinds.SERVICE, kinds.REPLICATION_CONTROLLER, kinds.DEPLOYMENT, kinds.REPLICA_SET}
_IN_DUMP |= {kinds.DAEMON_SET}
"""What ``kubectl cluster-info dump`` writes. Source: kubectl pkg/cmd/clusterinfo/clusterinfo_dump.go Run (v1.36)."""
# How the scheduler's message begins if it found no node among some. Source: kube-scheduler FitError.Error (v1.36).
_COUNTED_NODES = re.compile(r"0/[1-9]")
_MOST_NAMES = 3
_LEAST_NAMESPACES = 4  # Every cluster has the namespaces default, kube-system, kube-public and kube-node-lease

# Kind's name → (namespace, name) → object.
Objects: TypeAlias = Mapping[str, Mapping[tuple[str, str], KubernetesObject]]
T = TypeVar("T")


def read_sound_documents(
    sources: Sequence[str], *, recursive: bool, stdin: BinaryIO | None
) -> tuple[tuple[Document, ...], tuple[ManifestProblem, ...]]:
    """Return the objects of all documents, as ``documents_of`` does, and the problems of those that have none.

    One that cannot be decoded has a fault. The last value of a key that YAML has twice counts.

    Raises:
        ManifestError: there are too many problems.
    """
    inputs = read_inputs(sources, recursive=recursive, urls=True, stdin=stdin)
    objects = read_objects(inputs, strict=True, repeats=True)
    documents, problems = _split_problems(_decode(_limit_count(objects, MOST_OBJECTS), keep=True))
    return tuple(documents), tuple(problems)


def documents_of(inputs: Iterable[Input | ManifestProblem], *, most: int = MOST_OBJECTS) -> tuple[Document, ...]:
    """Return the objects of the inputs, at most ``most``; those of known kinds are decoded.

    Raises:
        ManifestError: lists all problems.
    """
    return _without_problems(_decode(_limit_count(read_objects(inputs, strict=True), most)))


def read_settings(source: str, *, stdin: BinaryIO | None = None) -> tuple[Document, ...]:
    """Return the documents of a file, which need not be Kubernetes objects.

    Raises:
        ManifestError: lists all problems.
    """
    inputs = read_inputs([source], recursive=False, urls=True, stdin=stdin)
    return _without_problems(
        each
        for found in inputs
        for each in ([found] if isinstance(found, ManifestProblem) else contents(found, strict=True))
    )


class PodGroup(msgspec.Struct, frozen=True):
    """Pods of one template of an object of an unknown kind."""

    name: str  # the name of the group, such as ``worker``; empty for the only group
    path: str  # the field of the template
    template: Plain
    replicas: int


_COUNTS = ("replicas", "parallelism", "numOfHosts")
_NAMES = ("groupName", "name")
_GENERIC_SUFFIX = re.compile(r"GroupSpecs?$|Specs?$|Template$|Jobs$", re.ASCII)


def pod_groups(document: Document) -> tuple[PodGroup, ...]:
    """Return the Pods of an object of an unknown kind, such as a Rollout or RayCluster: a group for each Pod template.

    Anything with ``spec.containers`` is a Pod template, unless no container has an image and no selector stands beside
    it: an operator merges such overrides into a workload of its own. The counts around it give the number of Pods.
    """
    if (document.api_version, document.kind) in BY_API:
        return ()
    found = list(_find_groups(field_of(document.values, "spec"), "spec", "", 1))
    return tuple(found) if len(found) > 1 else tuple(replace(each, name="") for each in found)


def _find_groups(values: Plain, path: str, name: str, replicas: int, *, selected: bool = False) -> Iterator[PodGroup]:
    if isinstance(values, list):
        for index, each in enumerate(values):
            own = next((text for key in _NAMES if isinstance(text := field_of(each, key), str)), str(index))
            yield from _find_groups(each, f"{path}[{index}]", own, replicas)
        return
    containers = field_of(field_of(values, "spec"), "containers")
    if isinstance(containers, list):
        if selected or any(field_of(each, "image") for each in containers):
            yield PodGroup(name.lower(), path, values, replicas)
    elif isinstance(values, dict):
        counts = (value for key in _COUNTS if isinstance(value := values.get(key), int) and not isinstance(value, bool))
        number = replicas * math.prod(max(each, 0) for each in counts)
        for key, value in values.items():
            own = _GENERIC_SUFFIX.sub("", key) if key not in {"template", "spec"} else ""
            selected = bool(values.get("selector"))
            yield from _find_groups(value, f"{path}.{key}", own or name, number, selected=selected)


def read_inventory(sources: Sequence[str], *, stdin: BinaryIO | None = None, log: Log = SILENT) -> Inventory:
    """Return the cluster in the sources. Directories are read with all their directories; URLs are not read.

    Objects of unknown kinds are left out. A namespaced object without a namespace is in ``default``. Of objects with
    the same kind, namespace and name, the last counts. Kinds that the sources cannot have are unread. Snapshots of
    different clusters have no common origin.

    Raises:
        ManifestError: lists all problems.
    """
    objects: dict[str, dict[tuple[str, str], KubernetesObject]] = {kind.name: {} for kind in KINDS}
    inputs = read_inputs(sources, recursive=True, urls=False, stdin=stdin, most=MOST_OF_A_CLUSTER)
    lists: Counter[Kind] = Counter()
    snapshots: list[Origin] = []
    origins: dict[tuple[str, ...], Origin] = {}
    documents = read_objects(_log_inputs(inputs, log), strict=False, lists=lists)
    for kind, each in _without_problems(_cluster_objects(documents)):
        if isinstance(each, Origin):
            snapshots.append(each)
            origins.setdefault((each.context, each.cluster, each.server), each)
        else:
            objects[kind][each.key] = each
    found = {kind: tuple(named.values()) for kind, named in objects.items()}
    inventory = Inventory(found, unread=tuple(_unread(objects, lists)))
    if len(snapshots) == 1:
        inventory = _with_recorded_gaps(inventory, snapshots[0])
    if len(origins) == 1:
        inventory = replace(inventory, origin=next(iter(origins.values())))
    log.say(f"found {describe_counts(inventory)}")
    return inventory


def _with_recorded_gaps(inventory: Inventory, snapshot: Origin) -> Inventory:
    if not snapshot.held:
        return inventory
    versions = {plural: version for plural, version in snapshot.held.items() if version}
    recorded = [Unread(BY_NAME[kind], why, where) for kind, why, where in snapshot.unread if kind in BY_NAME]
    known = {each.kind for each in recorded}
    recorded += [
        Unread(kind, NOT_IN_SNAPSHOT) for kind in KINDS if kind.plural not in snapshot.held and kind not in known
    ]
    # Objects of other files fill gaps, but not where the server refused part of a list.
    unread = [each for each in recorded if each.kind.plural in versions or not inventory.objects[each.kind.name]]
    if not versions:
        unread += [each for each in inventory.unread if each.kind not in known]
    within = {kind: frozenset(namespaces) for kind, namespaces in snapshot.within.items()}
    return replace(inventory, resource_versions=versions, unread=tuple(unread), within=within, apart=snapshot.apart)


def _unread(objects: Objects, lists: Counter[Kind]) -> Iterator[Unread]:
    """Yield the kinds that the sources lack although the cluster may or must have them.

    Where the sources have a list of one kind, such as a PodList, kinds without a list are unread. Without lists, kinds
    are unread that other objects show to exist. A missing Node is unread where other Nodes are there and a running Pod
    names it; the Node of a Pod that does not run may be deleted.
    """
    exist = set() if lists else {kind for each in _each(objects) for kind in _shown_to_exist(each)}
    if kinds.REPLICA_SET in exist and not objects[kinds.REPLICA_SET.name]:
        exist.add(kinds.DEPLOYMENT)  # It owns most ReplicaSets.
    for kind in KINDS:
        if not objects[kind.name] and kind not in lists and (lists or kind in exist):
            yield Unread(kind, NOT_IN_FILES)
    pods = (pod for pod in objects[POD.name].values() if isinstance(pod, Pod))
    used = {pod.spec.node_name for pod in pods if pod.status.phase == "Running" and not pod.terminating}
    missing = used - {"", *(name for _, name in objects[NODE.name])}
    if missing and objects[NODE.name]:
        yield Unread(NODE, f"{_first_of(missing)} {NOT_IN_FILES}")
    # A dump has a list of Pods for each namespace; one of all namespaces has at least those of every cluster.
    namespaces = {namespace for named in objects.values() for namespace, _ in named if namespace}
    if lists.keys() == _IN_DUMP and namespaces and lists[POD] < max(len(namespaces), _LEAST_NAMESPACES):
        yield Unread(POD, f"only those of {_first_of(namespaces)} are in the files")


def _shown_to_exist(obj: KubernetesObject) -> Iterator[Kind]:
    """Yield the kinds of which the object shows that the cluster has some: its controller, and what its Pods need."""
    owner = obj.metadata.controller
    if owner is not None and (owner.api_version, owner.kind) in BY_API:
        yield BY_API[owner.api_version, owner.kind]
    if isinstance(obj, Pod) and obj.spec.node_name and not obj.finished:
        yield NODE
        if any(volume.claims for volume in obj.spec.volumes):
            yield kinds.PERSISTENT_VOLUME_CLAIM
        if obj.spec.resource_claims:
            yield kinds.RESOURCE_CLAIM
    elif isinstance(obj, PersistentVolumeClaim) and obj.fully_bound:
        yield kinds.PERSISTENT_VOLUME
    elif isinstance(obj, Pod | Event):
        yield from [NODE] * any(map(_COUNTED_NODES.match, _refusals(obj)))
    elif isinstance(obj, DaemonSet):
        yield from [NODE] * (obj.status.desired_number_scheduled > 0)
        yield from [POD] * (obj.status.current_number_scheduled > 0)
    elif isinstance(status := getattr(obj, "status", None), ReplicatedStatus) and status.replicas > 0:
        yield POD


def _refusals(obj: Pod | Event) -> list[str]:
    """Return the messages in which the scheduler may say that no node takes a Pod."""
    return [obj.message] if isinstance(obj, Event) else [each.message for each in obj.status.conditions if each.refuses]


def _each(objects: Objects) -> Iterator[KubernetesObject]:
    return (each for named in objects.values() for each in named.values())


def _first_of(names: set[str]) -> str:
    first, rest = sorted(names)[:_MOST_NAMES], len(names) - _MOST_NAMES
    return f"{', '.join(first)} and {rest} more" if rest > 0 else ", ".join(first)


def _log_inputs(inputs: Iterable[Input | ManifestProblem], log: Log) -> Iterator[Input | ManifestProblem]:
    for each in inputs:
        if isinstance(each, Input):
            log.say(f"read {each.source}: {len(each.content):,} bytes")
        yield each


def _without_problems(results: Iterable[T | ManifestProblem]) -> tuple[T, ...]:
    sound, problems = _split_problems(results)
    if problems:
        raise ManifestError(problems)
    return tuple(sound)


def _split_problems(results: Iterable[T | ManifestProblem]) -> tuple[list[T], list[ManifestProblem]]:
    """Return the results and the problems; raise the first hundred problems."""
    sound: list[T] = []
    problems: list[ManifestProblem] = []
    for result in results:
        if not isinstance(result, ManifestProblem):
            sound.append(result)
            continue
        problems.append(result)
        if len(problems) == MOST_PROBLEMS:
            raise ManifestError(problems, hint="there may be more errors: reading stopped here")
    return sound, problems


def _limit_count(found: Iterable[Document | ManifestProblem], most: int) -> Iterator[Document | ManifestProblem]:
    for number, each in enumerate(found):
        if number == most and isinstance(each, Document):
            yield ManifestProblem(each.source, f"at most {most} objects are read", document=each.number)
            return
        yield each


def _decode(found: Iterable[Document | ManifestProblem], *, keep: bool = False) -> Iterator[Document | ManifestProblem]:
    """Yield the decoded documents and the problems; ``keep``: whether one that cannot be decoded is a document."""
    for each in found:
        if isinstance(each, ManifestProblem):
            yield each
            continue
        try:
            yield each.decoded()
        except DecodeError as error:
            fault = (error.field_path, error.reason)
            yield replace(each, fault=fault) if keep else each.problem(error.reason, error.field_path)


def _cluster_objects(
    found: Iterable[Document | ManifestProblem],
) -> Iterator[tuple[str, KubernetesObject | Origin] | ManifestProblem]:
    for each in _decode(each for each in found if not _is_unused_config_map(each)):
        if isinstance(each, ManifestProblem):
            yield each
        elif (each.api_version, each.kind) == ("v1", "Status"):
            yield each.problem(f"is an answer of the API server, not an object: {field_of(each.values, 'message')}")
        elif (each.api_version, each.kind) == ORIGIN_API:
            try:
                yield each.kind, convert(each.values, Origin)
            except DecodeError as error:
                yield each.problem(error.reason, error.field_path)
        elif each.obj is not None:
            obj, metadata = each.obj, each.obj.metadata
            if not metadata.namespace and BY_API[each.api_version, each.kind].namespaced:
                obj = replace(obj, metadata=replace(metadata, namespace=DEFAULT_NAMESPACE))
            yield (each.kind, obj) if metadata.name else each.problem("is missing", "metadata.name")


def _is_unused_config_map(each: Document | ManifestProblem) -> bool:
    """Whether it is a ConfigMap, which may hold secrets, other than cluster-autoscaler's status."""
    if isinstance(each, ManifestProblem) or (each.api_version, each.kind) != ("v1", kinds.CONFIG_MAP.name):
        return False
    metadata = field_of(each.values, "metadata")
    return (field_of(metadata, "namespace"), field_of(metadata, "name")) != ("kube-system", "cluster-autoscaler-status")
