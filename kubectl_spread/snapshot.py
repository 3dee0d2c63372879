"""The cluster as it was read, with indexes for the scheduler."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, TypeVar, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.assumed import Choice, choice_of
from kubectl_spread.labels import Selector
from kubectl_spread.objects.core import AUTOSCALERS, FAILED_SCHEDULING, Event, Namespace, Node, Pod
from kubectl_spread.objects.kinds import KINDS, NODE, POD, WORKLOADS, Kind, Workload
from kubectl_spread.objects.meta import ControllerKey, KubernetesObject, grouped
from kubectl_spread.objects.storage import PersistentVolumeClaim, claim_name

ObjectT = TypeVar("ObjectT", bound=KubernetesObject)
MadeT = TypeVar("MadeT")


class Unread(msgspec.Struct, frozen=True):
    """A list that could not be read."""

    kind: Kind
    why: str  # the reason in a word or two, such as ``forbidden``
    namespace: str = ""  # the namespace that was listed; empty for all


class PodsRead(msgspec.Struct, frozen=True):
    """Which Pods were read, if not all; Pods without a node are always read."""

    namespaces: frozenset[str]  # the namespaces of which all Pods were read
    not_on: frozenset[str]  # the nodes (by name) on which Pods of other namespaces were not read


# apiVersion and kind of the item in a snapshot file that says where it was taken.
ORIGIN_API = ("spread.kubectl.dev/v1alpha1", "SnapshotOrigin")
NEWER = ".."  # Separates the version of a list from that of its newest part


class Origin(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Where a snapshot was taken, as its file says.

    Anybody may have written the file: it may name entries of the reader's own kubeconfig, but no server that
    credentials are sent to.
    """

    taken_at: str = ""  # the time (RFC 3339)
    context: str = ""  # the name of the context; empty for none
    cluster: str = ""  # the name of the cluster in the kubeconfig; empty for none
    server: str = ""  # the API server's URL
    cluster_flag: str = ""  # the value of ``--cluster``; empty where it was not given
    user_flag: str = ""  # the value of ``--user``; likewise
    other_flags: tuple[str, ...] = ()  # the names of the other connection flags that were given
    # plural of each kind that was read → the version of its list; empty where it was read from files
    held: dict[str, str] = {}
    # (kind, why, namespace) of each list that could not be read, as in an Inventory
    unread: tuple[tuple[str, str, str], ...] = ()
    within: dict[str, tuple[str, ...]] = {}  # as in an Inventory
    apart: bool = False  # as in an Inventory


class Inventory(msgspec.Struct, frozen=True):
    """What was read from a cluster, before it is indexed."""

    # kind's name → its objects; a kind that was not requested is absent
    objects: Mapping[str, tuple[KubernetesObject, ...]]
    # kind's plural → the version of its list; empty for files
    resource_versions: Mapping[str, str] = msgspec.field(default_factory=dict)
    unread: tuple[Unread, ...] = ()  # the lists that could not be read
    apart: bool = False  # whether lists with comparable versions were read at different versions
    pods_read: PodsRead | None = None  # which Pods were read; None where all permitted Pods were
    # kind's name → the namespaces in which it was read; a kind that was read in all is absent
    within: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    origin: Origin | None = None  # where the snapshot was taken; None where the files name no single origin

    @property
    def nodes_unread(self) -> bool:
        """Whether no Nodes were read, for example from files that have only Pods."""
        return self.refused(NODE)

    @property
    def not_read(self) -> frozenset[str]:
        """The nodes (by name) that may have Pods that were not read."""
        return self.pods_read.not_on if self.pods_read else frozenset()

    def has_pods_of(self, namespace: str) -> bool:
        """Whether all Pods of the namespace were read."""
        return not self.not_read or (self.pods_read is not None and namespace in self.pods_read.namespaces)

    def refused(self, kind: Kind) -> bool:
        """Whether a list of the kind could not be read."""
        return any(unread.kind == kind for unread in self.unread)

    def has(self, kind: Kind) -> bool:
        """Whether the kind was read, as far as it was requested."""
        return kind.name in self.objects and not self.refused(kind)

    def lacks(self, kind: Kind) -> bool:
        """Whether the kind was requested, and objects of some namespace could not be read."""
        return kind.name in self.within or self.refused(kind)

    def has_all(self, kind: Kind) -> bool:
        """Whether all objects of the kind were read: files that hold none may lack them."""
        held = kind.plural in self.resource_versions or bool(self.objects.get(kind.name))
        return held and not self.refused(kind)

    def has_in(self, kind: Kind, namespace: str) -> bool:
        """Whether all objects of the kind in the namespace were read."""
        return self.has(kind) and namespace in self.within.get(kind.name, (namespace,))


def oldest(resource_versions: str) -> str:
    """Return the version of a list, without that of its newest part."""
    return resource_versions.partition(NEWER)[0]


def together(first: Inventory, second: Inventory) -> Inventory:
    """Return the union of two inventories, with each object once."""
    objects: dict[str, tuple[KubernetesObject, ...]] = dict(first.objects)
    for kind, read in second.objects.items():
        objects[kind] = tuple({each.key: each for each in (*objects.get(kind, ()), *read)}.values())
    read_at = (first.resource_versions, second.resource_versions)
    versions = [{oldest(each[kind.plural]) for kind in (NODE, POD) if kind.plural in each} for each in read_at]
    within: dict[str, frozenset[str]] = {}
    for kind in first.within.keys() | second.within.keys():
        namespaces = [each.within.get(kind) for each in (first, second) if kind in each.objects]
        # If one inventory has the kind of all namespaces, so has the union.
        if None not in namespaces:
            within[kind] = frozenset().union(*filter(None, namespaces))
    return Inventory(
        objects=objects,
        resource_versions={**first.resource_versions, **second.resource_versions},
        unread=tuple(dict.fromkeys((*first.unread, *second.unread))),
        # What is followed is up to date, whatever its versions.
        apart=first.apart or second.apart or (all(versions) and len(set.union(*versions)) > 1),
        pods_read=first.pods_read or second.pods_read,
        within=within,
    )


PodKey: TypeAlias = tuple[str, str]  # The namespace and name of a Pod
LabelSet: TypeAlias = frozenset[tuple[str, str]]
PodsByLabels: TypeAlias = Mapping[LabelSet, tuple[Pod, ...]]


class Snapshot(msgspec.Struct, frozen=True, dict=True):
    """The cluster at one moment, indexed. It is immutable: a changed cluster is a new Snapshot that shares the rest."""

    objects: Mapping[type, Mapping[tuple[str, str], KubernetesObject]]  # type → (namespace, name) → object
    nodes: Mapping[str, Node]  # node's name → node, sorted by name
    # node's name → the Pods on it that have not finished, as the scheduler sees them. The node may not exist.
    assigned: Mapping[str, tuple[Pod, ...]]
    by_labels: Mapping[str, PodsByLabels]  # namespace → label set → the assigned Pods that have exactly these labels
    nominated: Mapping[str, tuple[Pod, ...]]  # node's name → the Pods that are nominated to it and have not finished
    inventory: Inventory  # what was read, and what was not
    # the Pods that the scheduler has assumed on a node and not bound yet, with that node; in ``objects`` they have no
    # node
    assumed: Mapping[PodKey, Pod] = msgspec.field(default_factory=dict)
    # the Pods of which it is not known whether they are assumed; they are not in ``assigned``
    undecided: Mapping[PodKey, Choice] = msgspec.field(default_factory=dict)
    # type and function → the objects of the type, and what the function made of them; see ``made_of``
    made: dict[tuple[type, Callable[..., object]], tuple[object, Any]] = msgspec.field(default_factory=dict)

    @classmethod
    def build(cls, inventory: Inventory) -> Snapshot:
        """Return the indexed inventory, with the Pods that the scheduler has assumed on a node."""
        return cls.without_assumed(inventory).with_assumed()

    @classmethod
    def without_assumed(cls, inventory: Inventory) -> Snapshot:
        """Return the indexed inventory; a Pod without a node is on none."""
        objects = {
            kind.struct: {obj.key: obj for obj in inventory.objects[kind.name]}
            for kind in KINDS
            if kind.name in inventory.objects
        }
        pods = cast("Mapping[PodKey, Pod]", objects.get(Pod, {}))
        nodes = cast("Mapping[tuple[str, str], Node]", objects.get(Node, {}))
        living = [pod for pod in pods.values() if not pod.finished]
        waiting = (pod for pod in living if pod.status.nominated_node_name and not pod.spec.node_name)
        nominated = grouped(waiting, lambda pod: pod.status.nominated_node_name)
        assigned, by_labels = _index(pod for pod in living if pod.spec.node_name)
        return cls(
            objects=objects,
            nodes={node.metadata.name: node for _, node in sorted(nodes.items())},
            assigned=assigned,
            by_labels=by_labels,
            nominated={name: tuple(pods) for name, pods in nominated.items()},
            inventory=inventory,
        )

    def with_assumed(self) -> Snapshot:
        """Return the snapshot with the Pods that the scheduler has assumed while their volumes are provisioned."""
        waiting = (pod for pod in self.all(Pod) if pod.waits and pod.spec.volumes)
        found = (choice_of(pod, self.claims_of(pod), self.refusals_of(pod)) for pod in waiting)
        choices = [choice for choice in found if choice is not None and choice.node_name in self.nodes]
        if not choices:
            return self
        assumed = {each.pod.key: _bind(each.pod, each.node_name) for each in choices if each.stands}
        undecided = {each.pod.key: each for each in choices if each.stands is None}
        nominated = {name: tuple(p for p in pods if p.key not in assumed) for name, pods in self.nominated.items()}
        return replace(self._with_bound(assumed.values()), nominated=nominated, assumed=assumed, undecided=undecided)

    def claims_of(self, pod: Pod) -> list[PersistentVolumeClaim | None]:
        """Return the claims behind the Pod's volumes; None for one that does not exist."""
        names = filter(None, (claim_name(pod, volume) for volume in pod.spec.volumes))
        return [self.get(PersistentVolumeClaim, pod.metadata.namespace, name) for name in names]

    def refusals_of(self, pod: Pod) -> Sequence[Event]:
        """Return the Events in which the scheduler reports that it could not schedule the Pod."""
        about = self._refusals.get(pod.key, ())
        return [event for event in about if event.involved_object.uid in {"", pod.metadata.uid}]

    @cached_property
    def _refusals(self) -> Mapping[PodKey, Sequence[Event]]:
        failed = (event for event in self.all(Event) if event.reason == FAILED_SCHEDULING)
        found = (e for e in failed if e.speaker not in AUTOSCALERS and e.involved_object.kind == POD.name)
        return grouped(found, lambda event: (event.involved_object.namespace, event.involved_object.name))

    @cached_property
    def without_owner(self) -> Sequence[Pod]:
        """The first Pod of each controller that was not read."""
        first = {pod.metadata.controller_key: pod for pod in self.all(Pod)}
        return [pod for key, pod in first.items() if key[1] in WORKLOADS and self.workload(*key) is None]

    @cached_property
    def idle_schedulers(self) -> frozenset[str]:
        """The schedulers, by name, for which Pods wait, and that have placed or refused none and reported no Event."""
        names: dict[bool, set[str]] = {True: set(), False: {each.speaker for each in self.all(Event)}}
        for pod in self.all(Pod):
            judged = pod.spec.node_name or any(each.refuses for each in pod.status.conditions)
            names[not judged].add(pod.spec.scheduler_name)
        return frozenset(names[True] - names[False])

    @property
    def settled(self) -> Snapshot:
        """The snapshot in which assumed Pods are bound to their nodes."""
        if not self.assumed:
            return self
        return replace(self, objects={**self.objects, Pod: {**self.objects[Pod], **self.assumed}}, assumed={})

    def all(self, kind: type[ObjectT]) -> Iterable[ObjectT]:
        """Return all objects of the type, in the order in which they were read."""
        return cast("Mapping[tuple[str, str], ObjectT]", self.objects.get(kind, {})).values()

    def within(self, kind: type[ObjectT], namespace: str) -> Iterator[ObjectT]:
        """Yield the objects of the type in the namespace, in the order in which they were read."""
        return (each for each in self.all(kind) if each.metadata.namespace == namespace)

    def get(self, kind: type[ObjectT], namespace: str, name: str) -> ObjectT | None:
        """Return the object of that name, None where it does not exist or its kind was not read."""
        return cast("Mapping[tuple[str, str], ObjectT]", self.objects.get(kind, {})).get((namespace, name))

    def workload(self, namespace: str, kind: str, name: str) -> Workload | None:
        """Return the workload of this kind and name; None for an unknown kind, too."""
        return self.get(WORKLOADS[kind], namespace, name) if kind in WORKLOADS else None

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        """Return the labels of the namespace; none where it was not read."""
        namespace = self.get(Namespace, "", name)
        return namespace.metadata.labels if namespace else {}

    def controlled_by(self, owner: ControllerKey, kind: type[ObjectT]) -> tuple[ObjectT, ...]:
        """Return the objects of the type that this controller owns, in the order in which they were read."""
        return tuple(cast("list[ObjectT]", self.made_of(kind, _by_controller).get(owner, ())))

    def made_of(self, kind: type, make: Callable[[Mapping[Any, Any]], MadeT]) -> MadeT:
        """Return what the function makes of the type's objects, once for all clusters that share those objects."""
        objects = self.objects.get(kind, {})
        of, found = self.made.get((kind, make), (None, None))
        if of is not objects:
            found = make(objects)
            self.made[kind, make] = objects, found
        return cast("MadeT", found)

    def matching_pods(self, namespace: str, selector: Selector) -> Iterator[Pod]:
        """Yield the assigned Pods of the namespace that the selector matches, also terminating ones."""
        for pods in self.by_labels.get(namespace, {}).values():
            if selector.matches(pods[0].metadata.labels):
                yield from pods

    @cached_property
    def owned(self) -> dict[tuple[str, LabelSet], object]:
        """Namespace and label set → what ``matching_by_owner`` knows of the Pods of ``by_labels``."""
        return {}

    def alike(self, pod: Pod) -> tuple[Pod, ...]:
        """Return the assigned Pods of the namespace that have exactly the labels of this one."""
        return self.by_labels.get(pod.metadata.namespace, {}).get(_label_set(pod), ())

    def with_objects(self, objects: Iterable[KubernetesObject]) -> Snapshot:
        """Return the snapshot with these objects, in place of those of the same kind and name."""
        merged = self.with_others(objects).objects
        by_kind = {kind.name: tuple(merged[kind.struct].values()) for kind in KINDS if kind.struct in merged}
        built = Snapshot.build(replace(self.inventory, objects=by_kind))
        # What is added was not read.
        return replace(built, inventory=self.inventory)

    def with_assigned(self, pod: Pod, node_name: str) -> Snapshot:
        """Return the snapshot in which the Pod is on that node: what the scheduler calls assuming it."""
        nominated = _remove(self.nominated, pod.status.nominated_node_name, pod)
        return replace(self._with_bound((_bind(pod, node_name),)), nominated=nominated)

    def _with_bound(self, pods: Iterable[Pod]) -> Snapshot:
        by_node, by_labels = _index(pods)
        merged = dict(self.by_labels)
        for namespace, sets in by_labels.items():
            known = merged.get(namespace, {})
            merged[namespace] = {**known, **{key: (*known.get(key, ()), *added) for key, added in sets.items()}}
        assigned = {name: (*self.assigned.get(name, ()), *added) for name, added in by_node.items()}
        return replace(self, assigned={**self.assigned, **assigned}, by_labels=merged)

    def with_others(self, objects: Iterable[KubernetesObject]) -> Snapshot:
        """Return the snapshot with these objects, which are neither Pods nor Nodes; the indexes stay as they are."""
        added: dict[type, dict[tuple[str, str], KubernetesObject]] = defaultdict(dict)
        for obj in objects:
            added[type(obj)][obj.key] = obj
        merged = {kind: {**self.objects.get(kind, {}), **of_kind} for kind, of_kind in added.items()}
        return replace(self, objects={**self.objects, **merged})

    def without_others(self, objects: Iterable[KubernetesObject]) -> Snapshot:
        """Return the snapshot without these objects, which are neither Pods nor Nodes."""
        left = dict(self.objects)
        for obj in objects:
            left[type(obj)] = {key: each for key, each in left.get(type(obj), {}).items() if key != obj.key}
        return replace(self, objects=left)

    def with_nodes(self, given: Iterable[Node]) -> Snapshot:
        """Return the snapshot with these nodes, in place of those of the same names."""
        changed = {node.metadata.name: node for node in given}
        nodes = {**self.nodes, **changed}
        if len(nodes) > len(self.nodes):  # sorted by name: a new one may not be the last
            nodes = dict(sorted(nodes.items()))
        known = self.objects.get(Node, {})
        objects = {**self.objects, Node: {**known, **{("", name): node for name, node in changed.items()}}}
        return replace(self, nodes=nodes, objects=objects)

    def without_node(self, node_name: str) -> Snapshot:
        """Return the snapshot without the node, which has no Pods."""
        nodes = {name: node for name, node in self.nodes.items() if name != node_name}
        objects = {**self.objects, Node: {("", name): each for name, each in nodes.items()}}
        return replace(self, nodes=nodes, objects=objects)

    def with_nominated(self, pod: Pod) -> Snapshot:
        """Return the snapshot in which the Pod is nominated to the node that its status names."""
        name = pod.status.nominated_node_name
        return replace(self, nominated={**self.nominated, name: (*self.nominated.get(name, ()), pod)})

    def without_nominated(self, pod: Pod) -> Snapshot:
        """Return the snapshot in which the Pod is nominated to no node."""
        return replace(self, nominated=_remove(self.nominated, pod.status.nominated_node_name, pod))

    def without_pod(self, pod: Pod) -> Snapshot:
        """Return the snapshot without the Pod, which is on a node."""
        namespace, label_set = pod.metadata.namespace, _label_set(pod)
        in_namespace = dict(self.by_labels[namespace])
        in_namespace[label_set] = tuple(other for other in in_namespace[label_set] if other.key != pod.key)
        if not in_namespace[label_set]:
            del in_namespace[label_set]
        by_labels = {**self.by_labels, namespace: in_namespace}
        return replace(self, assigned=_remove(self.assigned, pod.spec.node_name, pod), by_labels=by_labels)


def _by_controller(
    objects: Mapping[tuple[str, str], KubernetesObject],
) -> Mapping[ControllerKey, Sequence[KubernetesObject]]:
    return grouped(objects.values(), lambda obj: obj.metadata.controller_key)


def _bind(pod: Pod, node_name: str) -> Pod:
    return replace(pod, spec=replace(pod.spec, node_name=node_name))


def _index(pods: Iterable[Pod]) -> tuple[dict[str, tuple[Pod, ...]], dict[str, PodsByLabels]]:
    """Return node's name → its Pods, and namespace → label set → Pods."""
    by_node: dict[str, list[Pod]] = defaultdict(list)
    by_labels: dict[str, dict[LabelSet, list[Pod]]] = defaultdict(lambda: defaultdict(list))
    # The reader lets replicas share one labels mapping: make a set of each only once.
    label_sets: dict[int, LabelSet] = {}
    for pod in pods:
        by_node[pod.spec.node_name].append(pod)
        shared = id(pod.metadata.labels)
        label_set = label_sets.get(shared)
        if label_set is None:
            label_set = label_sets[shared] = _label_set(pod)
        by_labels[pod.metadata.namespace][label_set].append(pod)
    frozen: dict[str, PodsByLabels] = {
        namespace: {key: tuple(alike) for key, alike in sets.items()} for namespace, sets in by_labels.items()
    }
    return {name: tuple(on_node) for name, on_node in by_node.items()}, frozen


def _remove(by_node: Mapping[str, tuple[Pod, ...]], node_name: str, pod: Pod) -> Mapping[str, tuple[Pod, ...]]:
    if node_name not in by_node:
        return by_node
    return {**by_node, node_name: tuple(other for other in by_node[node_name] if other.key != pod.key)}


def _label_set(pod: Pod) -> LabelSet:
    return frozenset(pod.metadata.labels.items())
