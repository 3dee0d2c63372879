"""Plans what to read next of a large cluster, only from what was read so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from kubectl_spread.commands.source import ReadLimits
from kubectl_spread.diagnosis.evaluation import judge
from kubectl_spread.diagnosis.fixes.search import nodes_to_read
from kubectl_spread.diagnosis.fixes.situation import Situation, Spent
from kubectl_spread.diagnosis.requirements import ConstraintRequirement
from kubectl_spread.diagnosis.unread_nodes import Reach
from kubectl_spread.objects.core import Namespace, Pod
from kubectl_spread.scheduler import cycle, dynamicresources
from kubectl_spread.scheduler.affinityterm import PodTerms
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.snapshot import PodsRead, Snapshot

if TYPE_CHECKING:
    from kubectl_spread.diagnosis.manifest_outcome import UnplacedPods

MOST_NAMESPACES = 20  # The most namespaces (count) that are read one by one


class Need(msgspec.Struct, frozen=True):
    """What must be read next: the Pods of nodes or namespaces, or of the ``whole`` cluster; ``why`` is for the log."""

    nodes: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    whole: bool = False
    why: str = ""

    def __bool__(self) -> bool:
        """Whether there is anything to read."""
        return bool(self.whole or self.nodes or self.namespaces)


FIRST_TRIED = 16  # Nodes (count) that are read first, where one feasible node is enough
FURTHER_TRIED = 3  # How many times the nodes read so far are read next
Asked: TypeAlias = Sequence[tuple[Pod, Handle]]  # Pods, each with the cluster as its scheduler sees it


def to_judge(asked: Asked, limits: ReadLimits) -> Need:
    """Return what must be read to decide whether each Pod finds a node, and why not; ValueError for a bad object."""
    return _namespaces_concerned(asked) or _nodes_left(asked, limits) or _pinned(asked, limits)


def to_place(asked: Asked, limits: ReadLimits) -> Need:
    """Return what must be read to find one node for each Pod, or why there is none; errors as for ``to_judge``."""
    if need := _namespaces_concerned(asked):
        return need
    nodes: set[str] = set()
    for pod, handle in asked:
        most = limits.left(handle.snapshot)
        found = cycle.not_read(pod, handle, most=most + 1)
        nodes.update(found[: _batch_size(handle)] if found else _nodes_with_victims(pod, handle))
    if asked and len(nodes) > limits.left(asked[0][1].snapshot):
        return Need(whole=True, why=f"{len(nodes)} nodes decide about the next Pods")
    return Need(nodes=frozenset(nodes), why="one of them may take the next Pod")


def to_check(pods: Sequence[UnplacedPods], limits: ReadLimits) -> Need:
    """Return what must be read to decide that no manifest's first replica finds a node; errors as for ``to_judge``.

    Where one finds a node, its place decides about later replicas and other manifests, so all Pods are read.
    """
    for each in pods:
        if each.handle.snapshot.nominated:
            return Need(whole=True, why="Pods wait until others leave")
        if not each.alone:
            return Need(whole=True, why=f"{each.first.metadata.name} exists already, or needs many nodes")
    asked = tuple((each.first, each.handle) for each in pods)
    if need := to_judge(asked, limits):
        return need
    for pod, handle in asked:
        judgement = judge(pod, handle)
        if judgement.hides_victims or judgement.preemption:  # and the evicted Pods may evict others
            return Need(whole=True, why=f"{pod.metadata.name} may evict Pods")
    return Need()


def _batch_size(handle: Handle) -> int:
    # Batches grow: where many nodes have no room, a few more nodes rarely have any.
    return max(FIRST_TRIED, FURTHER_TRIED * (len(handle.snapshot.nodes) - len(handle.snapshot.inventory.not_read)))


def _nodes_with_victims(pod: Pod, handle: Handle) -> frozenset[str]:
    """Return the unread nodes where the Pod may evict others; none where it finds a node."""
    evaluation = cycle.evaluate_briefly(pod, handle)
    if evaluation.feasible:
        return frozenset()
    reach = Reach(evaluation, handle)
    return reach.may_open if reach.hides_victims else frozenset()


def _namespaces_concerned(asked: Asked) -> Need:
    """Return the namespaces whose Pods decide; all Pods where a node's rejection is not final until all are read."""
    namespaces: set[str] = set()
    for pod, handle in asked:
        claims_devices = dynamicresources.claims_of(pod, handle) != dynamicresources.Claims()
        if claims_devices or any(volume.in_tree for volume in pod.spec.volumes):
            return Need(whole=True, why=f"{pod.metadata.name} claims devices or disks that Pods share")
        namespaces |= affinity_namespaces(pod, handle.snapshot)
    if len(namespaces) > MOST_NAMESPACES:
        return Need(whole=True, why=f"affinity selects Pods of {len(namespaces)} namespaces")
    return Need(namespaces=frozenset(namespaces), why="affinity selects Pods there")


def affinity_namespaces(pod: Pod, snapshot: Snapshot) -> frozenset[str]:
    """Return the namespaces, its own included, that its affinity terms select and whose Pods are unread."""
    read = snapshot.inventory.pods_read or PodsRead(frozenset(), frozenset())
    try:
        terms = PodTerms.of(pod)
    except ValueError:
        return frozenset()  # every node rejects it
    meant = {pod.metadata.namespace}
    for term in (*terms.affinity, *terms.anti_affinity):
        known = (each.metadata for each in snapshot.all(Namespace))
        meant |= term.namespaces | {each.name for each in known if term.namespace_selector.matches(each.labels)}
    return frozenset(meant) - read.namespaces


def _nodes_left(asked: Asked, limits: ReadLimits) -> Need:
    """Return the nodes that only unread Pods can make infeasible; all Pods for a Pod that finds a node."""
    nodes: set[str] = set()
    for pod, handle in asked:
        most = limits.left(handle.snapshot)
        found = cycle.not_read(pod, handle, most=most + 1)
        if found and (limits.confirm or not most) and len(found) > most:
            return Need(whole=True, why=f"more than {most} nodes may take {pod.metadata.name}")
        if not found and limits.confirm and cycle.feasible_node(pod, handle):
            return Need(whole=True, why=f"{pod.metadata.name} can be scheduled, unless unread Pods prevent it")
        nodes.update(found[: min(most, _batch_size(handle)) if limits.few_first else most])
    if asked and len(nodes) > limits.left(asked[0][1].snapshot):
        return Need(whole=True, why=f"{len(nodes)} nodes may take the Pods")
    return Need(nodes=frozenset(nodes), why="whether these nodes take the Pods is not known")


def _pinned(asked: Asked, limits: ReadLimits) -> Need:
    """Return the unread nodes of pinned domains, where these are few; they only explain the pin."""
    nodes: set[str] = set()
    for pod, handle in asked:
        if not pod.spec.topology_spread_constraints:
            continue
        judgement = judge(pod, handle)
        core = judgement.blame.core if judgement.blame else ()
        blamed = (each for each in judgement.spread.constraints if ConstraintRequirement(each.index) in core)
        pinned = {name for each in blamed for domain in each.domains if domain.pinned for name in domain.nodes}
        found = pinned & handle.snapshot.inventory.not_read
        if len(nodes | found) <= limits.left(handle.snapshot):
            nodes |= found
    return Need(nodes=frozenset(nodes), why="they are in domains with the fewest Pods")


def to_change(asked: Asked, limits: ReadLimits, spent: Spent) -> Need:
    """Return the nodes whose Pods decide whether fixes work, until ``spent``; errors as for ``to_judge``."""
    nodes: set[str] = set()
    for pod, handle in asked:
        situation = Situation(pod, handle)
        most = limits.left(situation.handle.snapshot) - len(nodes)
        if situation.handle.profile.serves(pod) and not situation.feasible and not spent():
            nodes |= nodes_to_read(situation, spent, most=most)
    return Need(nodes=frozenset(nodes), why="changes would open them")
