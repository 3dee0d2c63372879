"""What has to be read next of a large cluster: told by what was read, and by nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from kubectl_spread.commands.source import ReadLimits
from kubectl_spread.diagnosis.evaluation import judge
from kubectl_spread.diagnosis.fixes.search import Spent, nodes_to_read
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.requirements import ConstraintRequirement
from kubectl_spread.diagnosis.unread_nodes import Reach
from kubectl_spread.objects.core import Namespace, Pod
from kubectl_spread.scheduler import cycle, dynamicresources
from kubectl_spread.scheduler.affinityterm import PodTerms
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.snapshot import PodsRead, Snapshot

if TYPE_CHECKING:
    from kubectl_spread.diagnosis.manifest_outcome import Coming

MOST_NAMESPACES = 20
"""Namespaces (count) that are read one by one."""


class Need(msgspec.Struct, frozen=True):
    """What has to be read next.

    Attributes:
        nodes: of these (by name) the Pods of all namespaces.
        namespaces: of these the Pods on all nodes.
        whole: all Pods, whatever else is needed.
        why: for whoever wants to know.
    """

    nodes: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    whole: bool = False
    why: str = ""

    def __bool__(self) -> bool:
        """Whether there is anything to read."""
        return bool(self.whole or self.nodes or self.namespaces)


NOTHING = Need()


FIRST_TRIED = 16
"""Nodes (count) that are read at first where one that takes a Pod is enough."""
FURTHER_TRIED = 3
"""How many times as many as were read are tried next."""
Asked: TypeAlias = Sequence[tuple[Pod, Handle]]
"""Pods, each with the cluster in which it waits as its scheduler sees it."""


def to_judge(asked: Asked, limits: ReadLimits) -> Need:
    """Return what has to be read before it can be said of each Pod whether it finds a node, and why not.

    Args:
        asked: the Pods.
        limits: how much may be read.

    Raises:
        ValueError: an object of the cluster cannot be read.
    """
    return _before_nodes(asked) or _nodes_left(asked, limits) or _pinned(asked, limits)


def to_place(asked: Asked, limits: ReadLimits) -> Need:
    """Return what has to be read before one node is known for each Pod, or why there is none.

    Args:
        asked: the Pods.
        limits: how much may be read.

    Raises:
        ValueError: as for ``to_judge``.
    """
    if need := _before_nodes(asked):
        return need
    nodes: set[str] = set()
    for pod, handle in asked:
        most = limits.left(handle.snapshot)
        found = cycle.not_read(pod, handle, most=most + 1)
        nodes.update(found[: _tried(handle)] if found else _victims(pod, handle))
    if asked and len(nodes) > limits.left(asked[0][1].snapshot):
        return Need(whole=True, why=f"{len(nodes)} nodes decide about the next Pods")
    return Need(nodes=frozenset(nodes), why="one of them may take the next Pod")


def to_check(coming: Sequence[Coming], limits: ReadLimits) -> Need:
    """Return what has to be read before it can be said that no first replica finds a node, or that one may.

    Where one does, where it lies decides about those after it, and about other manifests: all Pods are read for that.

    Args:
        coming: what comes of each manifest.
        limits: how much may be read.

    Raises:
        ValueError: as for ``to_judge``.
    """
    for each in coming:
        if each.handle.snapshot.nominated:
            return Need(whole=True, why="Pods wait for room that others leave")
        if not each.alone:
            return Need(whole=True, why=f"{each.first.metadata.name} is there already, or is to be on many nodes")
    asked = tuple((each.first, each.handle) for each in coming)
    return to_judge(asked, limits) or _evictions(asked)


def _evictions(asked: Asked) -> Need:
    """Return all Pods where one that finds no node may evict others: where it does so, further ones may follow."""
    for pod, handle in asked:
        judgement = judge(cycle.evaluate(pod, handle), handle)
        if judgement.hides_victims or judgement.preemption:
            return Need(whole=True, why=f"{pod.metadata.name} may evict Pods")
    return NOTHING


def _tried(handle: Handle) -> int:
    # More each time: where those that were read have no room, a few further ones may not have any either.
    return max(FIRST_TRIED, FURTHER_TRIED * (len(handle.snapshot.nodes) - len(handle.snapshot.inventory.not_read)))


def _victims(pod: Pod, handle: Handle) -> frozenset[str]:
    """Return the nodes on which there may be Pods to evict for one that finds no node."""
    evaluation = cycle.evaluate_briefly(pod, handle)
    if evaluation.feasible:
        return frozenset()
    reach = Reach(evaluation, handle)
    return reach.may_open if reach.hides_victims else frozenset()


def _before_nodes(asked: Asked) -> Need:
    """Return the namespaces that the Pods concern; all Pods where fewer could reject what more would not."""
    namespaces: set[str] = set()
    for pod, handle in asked:
        claims_devices = dynamicresources.claims_of(pod, handle) != dynamicresources.Claims()
        if claims_devices or any(volume.in_tree for volume in pod.spec.volumes):
            return Need(whole=True, why=f"{pod.metadata.name} claims devices or disks that Pods share")
        namespaces |= concerned(pod, handle.snapshot)
    if len(namespaces) > MOST_NAMESPACES:
        return Need(whole=True, why=f"affinity asks for Pods of {len(namespaces)} namespaces")
    return Need(namespaces=frozenset(namespaces), why="affinity asks for Pods there")


def concerned(pod: Pod, snapshot: Snapshot) -> frozenset[str]:
    """Return the namespaces not read yet whose Pods its own terms are about; its own is among them."""
    read = snapshot.inventory.pods_read or PodsRead(frozenset(), frozenset())
    try:
        terms = PodTerms.of(pod)
    except ValueError:
        return frozenset()  # which rejects it everywhere
    meant = {pod.metadata.namespace}
    for term in (*terms.affinity, *terms.anti_affinity):
        known = (each.metadata for each in snapshot.all(Namespace))
        meant |= term.namespaces | {each.name for each in known if term.namespace_selector.matches(each.labels)}
    return frozenset(meant) - read.namespaces


def _nodes_left(asked: Asked, limits: ReadLimits) -> Need:
    """Return the nodes on which only further Pods can keep a Pod away; all Pods for one that finds a node."""
    nodes: set[str] = set()
    for pod, handle in asked:
        most = limits.left(handle.snapshot)
        found = cycle.not_read(pod, handle, most=most + 1)
        if found and (limits.confirm or not most) and len(found) > most:
            return Need(whole=True, why=f"more than {most} nodes may take {pod.metadata.name}")
        if not found and limits.confirm and cycle.feasible_node(pod, handle):
            return Need(whole=True, why=f"{pod.metadata.name} finds a node, which Pods anywhere may prevent")
        nodes.update(found[: min(most, _tried(handle)) if limits.few_first else most])
    if asked and len(nodes) > limits.left(asked[0][1].snapshot):
        return Need(whole=True, why=f"{len(nodes)} nodes may take the Pods")
    return Need(nodes=frozenset(nodes), why="what else keeps Pods from there is not known")


def _pinned(asked: Asked, limits: ReadLimits) -> Need:
    """Return the nodes of domains that are pinned, where these are few: they are, whatever else is there."""
    nodes: set[str] = set()
    for pod, handle in asked:
        found = pinned_nodes(pod, handle) & handle.snapshot.inventory.not_read
        if len(nodes | found) <= limits.left(handle.snapshot):
            nodes |= found
    return Need(nodes=frozenset(nodes), why="they lie in domains that hold the minimum")


def to_change(asked: Asked, limits: ReadLimits, spent: Spent) -> Need:
    """Return the nodes whose Pods decide whether changes let in the Pods that find no node, as far as there is time.

    Args:
        asked: the Pods.
        limits: how much may be read.
        spent: whether the time is over.

    Raises:
        ValueError: as for ``to_judge``.
    """
    nodes: set[str] = set()
    for pod, handle in asked:
        situation = Situation(pod, handle)
        most = limits.left(situation.handle.snapshot) - len(nodes)
        if situation.handle.profile.serves(pod) and not situation.feasible and not spent():
            nodes |= nodes_to_read(situation, spent, most=most)
    return Need(nodes=frozenset(nodes), why="changes would open them")


def pinned_nodes(pod: Pod, handle: Handle) -> frozenset[str]:
    """Return the nodes of the domains that are pinned, of the constraints to blame."""
    if not pod.spec.topology_spread_constraints:
        return frozenset()
    judgement = judge(cycle.evaluate(pod, handle), handle)
    core = judgement.blame.core if judgement.blame else ()
    blamed = (each for each in judgement.spread.constraints if ConstraintRequirement(each.index) in core)
    return frozenset(name for each in blamed for domain in each.domains if domain.pinned for name in domain.nodes)
