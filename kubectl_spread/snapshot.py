"""The cluster as it was read, and indexed for the scheduler's questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, TypeVar, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.assumed import Choice, choice_of
from kubectl_spread.labels import Selector
from kubectl_spread.objects.core import AUTOSCALERS, FAILED_SCHEDULING, Event, Namespace, Node, Pod
from kubectl_spread.objects.kinds import KINDS, NODE, POD, Kind
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.storage import PersistentVolumeClaim, claim_name

ObjectT = TypeVar("ObjectT")


class Unread(msgspec.Struct, frozen=True):
    """A list that was wanted and could not be had.

    Attributes:
        why: the reason in a word or two, such as ``forbidden``.
        namespace: the namespace that was asked; empty for all.
    """

    kind: Kind
    why: str
    namespace: str = ""


class PodsRead(msgspec.Struct, frozen=True):
    """Which Pods were read, where not all were; those without a node are among them in any case.

    Attributes:
        namespaces: the namespaces whose Pods were all read.
        not_on: the nodes (by name) of which the Pods of other namespaces were not read.
    """

    namespaces: frozenset[str]
    not_on: frozenset[str]


ORIGIN_API = ("spread.kubectl.dev/v1alpha1", "SnapshotOrigin")
"""apiVersion and kind of the item of a snapshot that says where it was taken."""
NEWER = ".."
"""What stands between the version of a list and the newest one that parts of it are of."""


class Origin(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Where a snapshot was taken, as its file says.

    A file may be anybody's: it names entries of the reader's own kubeconfig, and never a server to send credentials to.

    Attributes:
        taken_at: when (RFC 3339).
        context: the name of the context; empty when there was none.
        cluster: the name of the cluster in the kubeconfig; empty when there was none.
        server: the API server's URL.
        cluster_flag: what ``--cluster`` was; empty where it was not given.
        user_flag: the same of ``--user``.
        other_flags: the names of the other connection flags that were given, without their values.
        held: plural of each kind that was read → the version of its list; empty where it was read from files.
        unread: (kind, why, namespace) of each list that could not be had, as in an Inventory.
        within: as in an Inventory.
        apart: likewise.
    """

    taken_at: str = ""
    context: str = ""
    cluster: str = ""
    server: str = ""
    cluster_flag: str = ""
    user_flag: str = ""
    other_flags: tuple[str, ...] = ()
    held: dict[str, str] = {}
    unread: tuple[tuple[str, str, str], ...] = ()
    within: dict[str, tuple[str, ...]] = {}
    apart: bool = False


class Inventory(msgspec.Struct, frozen=True):
    """What was read of a cluster, before it is indexed.

    Attributes:
        objects: kind's name → its objects; a kind that was not asked for is absent.
        resource_versions: kind's plural → the version its list was read at; empty for files.
        unread: lists that could not be had.
        apart: whether lists whose versions can be compared were read at different ones.
        pods_read: which Pods were read; None where all were, as far as they may be.
        within: kind's name → the namespaces of which it was read; a kind that was read of all is absent.
        origin: where the snapshot was taken that was read; None where the files do not say one place.
    """

    objects: Mapping[str, tuple[KubernetesObject, ...]]
    resource_versions: Mapping[str, str] = msgspec.field(default_factory=dict)
    unread: tuple[Unread, ...] = ()
    apart: bool = False
    pods_read: PodsRead | None = None
    within: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    origin: Origin | None = None

    @property
    def nodes_unread(self) -> bool:
        """Whether the Nodes were not read at all, as where files hold Pods alone."""
        return any(unread.kind == NODE for unread in self.unread)

    @property
    def not_read(self) -> frozenset[str]:
        """The nodes (by name) that may hold Pods that were not read."""
        return self.pods_read.not_on if self.pods_read else frozenset()

    def has_pods_of(self, namespace: str) -> bool:
        """Whether all Pods of the namespace were read."""
        return not self.not_read or (self.pods_read is not None and namespace in self.pods_read.namespaces)

    def has(self, kind: Kind) -> bool:
        """Whether the kind was read, all of it that was wanted."""
        return kind.name in self.objects and all(unread.kind != kind for unread in self.unread)

    def has_in(self, kind: Kind, namespace: str) -> bool:
        """Whether all objects of the kind in the namespace were read."""
        return self.has(kind) and namespace in self.within.get(kind.name, (namespace,))


def oldest(resource_versions: str) -> str:
    """Return the version that a list, of which parts may be newer, was read at."""
    return resource_versions.partition(NEWER)[0]


def together(first: Inventory, second: Inventory) -> Inventory:
    """Return what two readings found, each object once."""
    objects: dict[str, tuple[KubernetesObject, ...]] = dict(first.objects)
    for kind, found in second.objects.items():
        held = {(each.metadata.namespace, each.metadata.name): each for each in (*objects.get(kind, ()), *found)}
        objects[kind] = tuple(held.values())
    versions = {
        oldest(inventory.resource_versions[kind.plural])
        for inventory in (first, second)
        for kind in (NODE, POD)
        if kind.plural in inventory.resource_versions
    }
    return Inventory(
        objects=objects,
        resource_versions={**first.resource_versions, **second.resource_versions},
        unread=tuple(dict.fromkeys((*first.unread, *second.unread))),
        apart=first.apart or second.apart or len(versions) > 1,
        pods_read=first.pods_read or second.pods_read,
        within=_within_either(first, second),
    )


def _within_either(first: Inventory, second: Inventory) -> Mapping[str, frozenset[str]]:
    """Return of which namespaces alone kinds were read, by one reading or the other."""
    found: dict[str, frozenset[str]] = {}
    for kind in first.within.keys() | second.within.keys():
        read = [each.within.get(kind) for each in (first, second) if kind in each.objects]
        if None not in read:
            found[kind] = frozenset().union(*filter(None, read))
    return found


Controller: TypeAlias = tuple[str, str, str]
"""The kind, namespace and name of what controls other objects."""
PodsByLabels: TypeAlias = Mapping[frozenset[tuple[str, str]], tuple[Pod, ...]]


class Snapshot(msgspec.Struct, frozen=True, dict=True):
    """The cluster at one moment, indexed; immutable, so that a what-if is another Snapshot that shares what it keeps.

    Attributes:
        objects: type → (namespace, name) → object.
        nodes: node's name → node, by name.
        assigned: node's name → the Pods on it that have not finished, as the scheduler sees them. Nodes that do not
            exist may be among the keys.
        by_labels: namespace → label set → the assigned Pods that carry exactly these labels.
        nominated: node's name → the Pods that wait for room there, and have not finished.
        inventory: what was read, and what was not.
        assumed: (namespace, name) → the Pod on the node where the scheduler counts it already, though it has yet to
            bind it; among ``objects`` it has no node.
        undecided: the Pods of which it is not known whether they are counted so; they are not.
    """

    objects: Mapping[type, Mapping[tuple[str, str], KubernetesObject]]
    nodes: Mapping[str, Node]
    assigned: Mapping[str, tuple[Pod, ...]]
    by_labels: Mapping[str, PodsByLabels]
    nominated: Mapping[str, tuple[Pod, ...]]
    inventory: Inventory
    assumed: Mapping[tuple[str, str], Pod] = msgspec.field(default_factory=dict)
    undecided: Mapping[tuple[str, str], Choice] = msgspec.field(default_factory=dict)

    @classmethod
    def build(cls, inventory: Inventory) -> Snapshot:
        """Return the inventory, indexed, with the Pods that the scheduler counts on a node and has yet to bind."""
        read = cls.without_assumed(inventory)
        return read.with_assumed(pod for pod in read.all(Pod) if not pod.finished)

    @classmethod
    def without_assumed(cls, inventory: Inventory) -> Snapshot:
        """Return the inventory, indexed; a Pod without a node is counted on none."""
        objects = {
            kind.struct: {(obj.metadata.namespace, obj.metadata.name): obj for obj in inventory.objects[kind.name]}
            for kind in KINDS
            if kind.name in inventory.objects
        }
        pods = cast("Mapping[tuple[str, str], Pod]", objects.get(Pod, {}))
        nodes = cast("Mapping[tuple[str, str], Node]", objects.get(Node, {}))
        living = [pod for pod in pods.values() if not pod.finished]
        assigned, by_labels = _index(pod for pod in living if pod.spec.node_name)
        return cls(
            objects=objects,
            nodes={node.metadata.name: node for _, node in sorted(nodes.items())},
            assigned=assigned,
            by_labels=by_labels,
            nominated=_nominated(pod for pod in living if not pod.spec.node_name),
            inventory=inventory,
        )

    def with_assumed(self, pods: Iterable[Pod]) -> Snapshot:
        """Return the snapshot in which Pods are counted on a node while the scheduler has their volumes made there."""
        waiting = (pod for pod in pods if pod.waits and pod.spec.volumes)
        found = (choice_of(pod, tuple(self._claims_of(pod)), self.refusals_of(pod)) for pod in waiting)
        choices = [choice for choice in found if choice is not None and choice.node_name in self.nodes]
        assumed = {each.pod.key: _on(each.node_name, each.pod) for each in choices if each.stands}
        undecided = {each.pod.key: each for each in choices if each.stands is None}
        counted = self._with_bound(assumed.values()) if assumed else self
        nominated = {name: tuple(p for p in held if p.key not in assumed) for name, held in self.nominated.items()}
        return replace(counted, nominated=nominated, assumed=assumed, undecided=undecided) if choices else self

    def _claims_of(self, pod: Pod) -> Iterator[PersistentVolumeClaim | None]:
        for volume in pod.spec.volumes:
            if name := claim_name(pod, volume):
                yield self.get(PersistentVolumeClaim, pod.metadata.namespace, name)

    def refusals_of(self, pod: Pod) -> Sequence[Event]:
        """Return the Events in which the scheduler says that it could not schedule the Pod."""
        about = self._failures.get(pod.key, ())
        return [event for event in about if event.involved_object.uid in {"", pod.metadata.uid}]

    @cached_property
    def _failures(self) -> Mapping[tuple[str, str], Sequence[Event]]:
        """(namespace, name) of a Pod → the Events in which the scheduler says that it could not schedule it."""
        found: dict[tuple[str, str], list[Event]] = defaultdict(list)
        for event in self.all(Event):
            about = event.involved_object
            ours = event.reason == FAILED_SCHEDULING and event.speaker not in AUTOSCALERS
            if about.kind == POD.name and ours:
                found[about.namespace, about.name].append(event)
        return found

    @property
    def settled(self) -> Snapshot:
        """The snapshot in which the Pods that the scheduler counts on a node are bound to it."""
        if not self.assumed:
            return self
        return replace(self, objects={**self.objects, Pod: {**self.objects[Pod], **self.assumed}}, assumed={})

    def all(self, kind: type[ObjectT]) -> Iterable[ObjectT]:
        """Return every object of the type, in the order read."""
        return cast("Mapping[tuple[str, str], ObjectT]", self.objects.get(kind, {})).values()

    def get(self, kind: type[ObjectT], namespace: str, name: str) -> ObjectT | None:
        """Return the object of that name, None where there is none or the kind was not read."""
        return cast("Mapping[tuple[str, str], ObjectT]", self.objects.get(kind, {})).get((namespace, name))

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        """Return the labels of the namespace; empty where it was not read."""
        namespace = self.get(Namespace, "", name)
        return namespace.metadata.labels if namespace else {}

    def controlled_by(self, owner: Controller, kind: type[ObjectT]) -> tuple[ObjectT, ...]:
        """Return the objects of the type whose controller is this one, in the order read."""
        if kind not in self._controlled:
            found: dict[Controller, list[KubernetesObject]] = defaultdict(list)
            for obj in cast("Iterable[KubernetesObject]", self.all(kind)):
                if (controller := obj.metadata.controller) is not None:
                    found[controller.kind, obj.metadata.namespace, controller.name].append(obj)
            self._controlled[kind] = {key: tuple(objects) for key, objects in found.items()}
        return cast("tuple[ObjectT, ...]", self._controlled[kind].get(owner, ()))

    @cached_property
    def _controlled(self) -> dict[type, Mapping[Controller, tuple[KubernetesObject, ...]]]:
        return {}

    def matching_pods(self, namespace: str, selector: Selector) -> Iterator[Pod]:
        """Yield the assigned Pods of the namespace that the selector matches, terminating ones too."""
        for pods in self.by_labels.get(namespace, {}).values():
            if selector.matches(pods[0].metadata.labels):
                yield from pods

    def alike(self, pod: Pod) -> tuple[Pod, ...]:
        """Return the assigned Pods of the namespace that carry exactly the labels of this one."""
        return self.by_labels.get(pod.metadata.namespace, {}).get(_label_set(pod), ())

    def with_objects(self, objects: Iterable[KubernetesObject]) -> Snapshot:
        """Return the snapshot in which these objects exist too, in place of those of the same kind and name."""
        merged = {struct: dict(found) for struct, found in self.objects.items()}
        for obj in objects:
            merged.setdefault(type(obj), {})[obj.metadata.namespace, obj.metadata.name] = obj
        by_kind = {kind.name: tuple(merged.get(kind.struct, {}).values()) for kind in KINDS if kind.struct in merged}
        return Snapshot.build(replace(self.inventory, objects=by_kind))

    def with_assigned(self, pod: Pod, node_name: str) -> Snapshot:
        """Return the snapshot in which the Pod is on that node: what the scheduler calls assuming it."""
        pod = _on(node_name, pod)
        namespace, label_set = pod.metadata.namespace, _label_set(pod)
        in_namespace = self.by_labels.get(namespace, {})
        with_pod = {**in_namespace, label_set: (*in_namespace.get(label_set, ()), pod)}
        return replace(
            self,
            assigned={**self.assigned, node_name: (*self.assigned.get(node_name, ()), pod)},
            by_labels={**self.by_labels, namespace: with_pod},
            nominated=_without(self.nominated, pod),
        )

    def with_all_assigned(self, pods: Mapping[str, Pod]) -> Snapshot:
        """Return the snapshot with a further Pod, nominated nowhere, on each of these nodes (node's name → Pod)."""
        return self._with_bound(_on(node_name, pod) for node_name, pod in pods.items())

    def _with_bound(self, pods: Iterable[Pod]) -> Snapshot:
        by_node, by_labels = _index(pods)
        merged = dict(self.by_labels)
        for namespace, sets in by_labels.items():
            known = merged.get(namespace, {})
            merged[namespace] = {**known, **{key: (*known.get(key, ()), *found) for key, found in sets.items()}}
        assigned = {name: (*self.assigned.get(name, ()), *found) for name, found in by_node.items()}
        return replace(self, assigned={**self.assigned, **assigned}, by_labels=merged)

    def with_others(self, objects: Iterable[KubernetesObject]) -> Snapshot:
        """Return the snapshot in which these objects, neither Pods nor Nodes, exist too; nothing is indexed anew."""
        merged = dict(self.objects)
        for obj in objects:
            merged[type(obj)] = {**merged.get(type(obj), {}), (obj.metadata.namespace, obj.metadata.name): obj}
        return replace(self, objects=merged)

    def without_others(self, objects: Iterable[KubernetesObject]) -> Snapshot:
        """Return the snapshot in which these objects, neither Pods nor Nodes, are gone; nothing is indexed anew."""
        left = dict(self.objects)
        for obj in objects:
            key = obj.metadata.namespace, obj.metadata.name
            left[type(obj)] = {other: each for other, each in left.get(type(obj), {}).items() if other != key}
        return replace(self, objects=left)

    def with_nodes(self, given: Iterable[Node]) -> Snapshot:
        """Return the snapshot in which nodes are as given, in place of those of the same names or beside the others."""
        changed = {node.metadata.name: node for node in given}
        nodes = {**self.nodes, **changed}
        if len(nodes) > len(self.nodes):  # by name, so a new one is not just the last
            nodes = dict(sorted(nodes.items()))
        known = self.objects.get(Node, {})
        objects = {**self.objects, Node: {**known, **{("", name): node for name, node in changed.items()}}}
        return replace(self, nodes=nodes, objects=objects)

    def without_node(self, node_name: str) -> Snapshot:
        """Return the snapshot in which the node, which holds no Pods, is gone."""
        nodes = {name: node for name, node in self.nodes.items() if name != node_name}
        objects = {**self.objects, Node: {("", name): each for name, each in nodes.items()}}
        return replace(self, nodes=nodes, objects=objects)

    def with_nominated(self, pod: Pod) -> Snapshot:
        """Return the snapshot in which the Pod waits for room on the node it is nominated to."""
        name = pod.status.nominated_node_name
        return replace(self, nominated={**self.nominated, name: (*self.nominated.get(name, ()), pod)})

    def without_nominated(self, pod: Pod) -> Snapshot:
        """Return the snapshot in which the Pod waits for no node's room."""
        return replace(self, nominated=_without(self.nominated, pod))

    def without_pod(self, pod: Pod) -> Snapshot:
        """Return the snapshot in which the Pod, which is on a node, is gone."""
        namespace, node_name, label_set = pod.metadata.namespace, pod.spec.node_name, _label_set(pod)
        in_namespace = dict(self.by_labels[namespace])
        in_namespace[label_set] = tuple(other for other in in_namespace[label_set] if other.key != pod.key)
        if not in_namespace[label_set]:
            del in_namespace[label_set]
        left = tuple(other for other in self.assigned[node_name] if other.key != pod.key)
        return replace(
            self,
            assigned={**self.assigned, node_name: left},
            by_labels={**self.by_labels, namespace: in_namespace},
        )


def _on(node_name: str, pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, node_name=node_name))


def _index(pods: Iterable[Pod]) -> tuple[dict[str, tuple[Pod, ...]], dict[str, PodsByLabels]]:
    by_node: dict[str, list[Pod]] = defaultdict(list)
    by_labels: dict[str, dict[frozenset[tuple[str, str]], list[Pod]]] = defaultdict(lambda: defaultdict(list))
    # Replicas share their labels, as the reader made them: a set of each is enough.
    label_sets: dict[int, frozenset[tuple[str, str]]] = {}
    for pod in pods:
        by_node[pod.spec.node_name].append(pod)
        shared = id(pod.metadata.labels)
        label_set = label_sets.get(shared)
        if label_set is None:
            label_set = label_sets[shared] = _label_set(pod)
        by_labels[pod.metadata.namespace][label_set].append(pod)
    frozen: dict[str, PodsByLabels] = {
        ns: {key: tuple(found) for key, found in sets.items()} for ns, sets in by_labels.items()
    }
    return {name: tuple(found) for name, found in by_node.items()}, frozen


def _nominated(unbound: Iterable[Pod]) -> dict[str, tuple[Pod, ...]]:
    """Return node's name → the Pods that wait for room there."""
    by_node: dict[str, list[Pod]] = defaultdict(list)
    for pod in unbound:
        if pod.status.nominated_node_name:
            by_node[pod.status.nominated_node_name].append(pod)
    return {name: tuple(found) for name, found in by_node.items()}


def _without(nominated: Mapping[str, tuple[Pod, ...]], pod: Pod) -> Mapping[str, tuple[Pod, ...]]:
    node_name = pod.status.nominated_node_name
    if node_name not in nominated:
        return nominated
    return {**nominated, node_name: tuple(other for other in nominated[node_name] if other.key != pod.key)}


def _label_set(pod: Pod) -> frozenset[tuple[str, str]]:
    return frozenset(pod.metadata.labels.items())
