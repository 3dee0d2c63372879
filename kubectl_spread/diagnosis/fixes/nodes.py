"""Changes of nodes: uncordon, label, remove a taint, add a node."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache

from msgspec.structs import replace

from kubectl_spread.controllers.nodelifecycle import sibling
from kubectl_spread.controllers.taints import (
    CONTROL_PLANE,
    LEAVING,
    is_control_plane,
    is_passing,
    meaning_of,
    taint_cost,
)
from kubectl_spread.diagnosis.explainer import volumes_without_node
from kubectl_spread.diagnosis.fixes.candidate import Candidate, ChangeNode, NewNode
from kubectl_spread.diagnosis.fixes.change import Override
from kubectl_spread.diagnosis.fixes.conclusion import Command
from kubectl_spread.diagnosis.fixes.patch import pointer, remove, set_to
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.diagnosis.topology_keys import is_absent
from kubectl_spread.objects.core import Node, Taint
from kubectl_spread.objects.well_known_labels import HOSTNAME, REGION, WELL_KNOWN_KEYS, ZONE, names_pool
from kubectl_spread.scheduler import nodeunschedulable, tainttoleration
from kubectl_spread.scheduler.affinityterm import readable_terms
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.nodeunschedulable import CORDON
from kubectl_spread.scheduler.preemption import DISRUPTION_TARGET
from kubectl_spread.scheduler.profile import Behaviour

# Taints and annotations of nodes under maintenance have one of these in their names.
#
# Source: kured cmd/kured/main.go KuredRebootInProgressAnnotation, which it sets with --annotate-nodes.
MAINTENANCE = ("maintenance", "reboot-in-progress")
# How annotations of nodes begin that an operator drains and uncordons itself.
#
# Source: openshift machine-config-operator pkg/daemon/constants/constants.go.
DRAINING = (
    "machineconfiguration.openshift.io/state=working",
    "machineconfiguration.openshift.io/desireddrain=drain-",
)
_ENDED = "(false|done|completed?|finished|ended)"
# Values of annotations with which maintenance is over: the word alone, or as its status.
OVER = re.compile(rf"\W*({_ENDED}|no|none|off)\W*$|.*\b(status|state|phase)\W+{_ENDED}\b", re.IGNORECASE | re.DOTALL)
# Patterns for the conditions of nodes that are no problem where they are true; any other is one.
#
# Source: node-problem-detector pkg/types/types.go (a permanent problem sets its condition to True).
WELL = ("*Ready", "*Healthy", "*Ok", "EtcdIsVoter", "Deprecated*")


class Uncordon(Proposal, frozen=True, kw_only=True):
    """A cordoned node takes Pods again; ``problems``: its conditions that report one."""

    node: str
    problems: tuple[str, ...] = ()


class LabelNode(Proposal, frozen=True, kw_only=True):
    """A node gets the label that it lacks, with the value of its label ``similar``, or from its ID."""

    node: str
    key: str
    value: str
    similar: str


class RemoveTaint(Proposal, frozen=True, kw_only=True):
    """A taint is removed from a node."""

    overrides: Override = Override.DECISION
    taint: str
    node: str


class AddNode(Proposal, frozen=True, kw_only=True):
    """A node like an existing one is added to domains (topology key, value), and to its node pool (key=value), if any.

    The value is empty for a domain in which no node is. ``repaired``: the existing one has a problem that a new node
    does not have. ``moved``: it is not in these domains; ``elsewhere``: nor is any other like it.
    """

    cost: int = 3
    elsewhere: bool = False
    moved: bool = False
    like: str
    domains: tuple[tuple[str, str], ...]
    repaired: bool
    pool: str = ""


def closing_taints(situation: Situation, node: Node) -> list[Taint]:
    """Return the taints that keep the Pod off the node."""
    numeric = situation.handle.profile.does(Behaviour.NUMERIC_TOLERATIONS)
    return [*tainttoleration.Untolerated(situation.pod.spec.tolerations, numeric).taints(node)]


def untolerated(situation: Situation, info: NodeInfo, *, others: int) -> list[Taint]:
    """Return the node's taints that the Pod could tolerate, or that a person could remove, to some effect.

    The result is empty if controllers own them, or if more remain than another change could overcome.
    """
    closing = closing_taints(situation, info.node)
    return [taint for taint in closing if not meaning_of(taint)] if len(closing) <= 1 + others else []


def candidates(situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield the changes of one node; ``others``: how many more requirements a second change could overcome (count)."""
    yield from _uncordon(situation, others=others)
    yield from _label_node(situation)
    yield from _remove_taint(situation, others=others)


def closed_by(plugins: Iterable[str], situation: Situation, *, others: int) -> list[NodeInfo]:
    """Return the nodes that these filters reject, where opening one can matter, the least rejected first.

    A node that stays closed matters too if a constraint counts only nodes whose taints the Pod tolerates.
    """
    requirements = frozenset(map(FilterRequirement, plugins))
    honored = any(counts.constraint.honors_taints for counts in situation.counts)
    most = len(situation.rejected) if honored else others
    return _by_rejections(situation.nodes_only_against(requirements, others=most), situation)


def _by_rejections(infos: Iterable[NodeInfo], situation: Situation) -> list[NodeInfo]:
    return sorted(infos, key=lambda info: len(situation.against[info.name]))


def _uncordon(situation: Situation, *, others: int) -> Iterator[Candidate]:
    for info in closed_by((nodeunschedulable.NAME, tainttoleration.NAME), situation, others=others):
        node = info.node
        mirrored = [i for i, t in enumerate(node.spec.taints) if (t.key, t.effect) == (CORDON.key, CORDON.effect)]
        left = len(closing_taints(situation, node)) - len(mirrored)
        if left > others or not (node.spec.unschedulable or mirrored) or node.metadata.deletion_timestamp:
            continue
        operations = [remove(pointer("spec", "taints", index)) for index in reversed(mirrored)]
        if node.spec.unschedulable:
            operations.append(remove("/spec/unschedulable"))
        uncordon = Command(verb="uncordon", kind="node", name=info.name)
        overrides = Override.DECISION if in_maintenance(info) else Override.NOTHING
        yield ChangeNode(
            proposal=Uncordon(node=info.name, problems=problems(node), overrides=overrides),
            obj=node,
            operations=tuple(operations),
            command=uncordon if node.spec.unschedulable else _taint_removal(info.name, CORDON),
            group=(overrides, *problems(node), *situation.domains_of(info)),
        )


def problems(node: Node) -> tuple[str, ...]:
    """Return the conditions of a node whose kubelet answers that report a problem, such as ``ReadonlyFilesystem``."""
    return tuple(each.type for each in node.status.conditions if each.status == _status_of_problem(each.type))


@cache
def _status_of_problem(condition: str) -> str:
    return str(not any(fnmatchcase(condition, well) for well in WELL))


def in_maintenance(info: NodeInfo) -> bool:
    """Whether there are signs that the node is not to take Pods: a name, an eviction, a problem, or it is not ready."""
    annotations = info.node.metadata.annotations
    annotated = (name for name, value in annotations.items() if not OVER.match(value))
    names = (*(taint.key for taint in info.node.spec.taints), *annotated)
    named = any(sign in name.lower() for name in names for sign in MAINTENANCE)
    named = named or any(f"{name}={value}".lower().startswith(DRAINING) for name, value in annotations.items())
    evicted = any(condition.type == DISRUPTION_TARGET for pod in info.pods for condition in pod.status.conditions)
    return named or evicted or not info.node.answers or bool(problems(info.node))


def _label_node(situation: Situation) -> Iterator[Candidate]:
    used = {counts.constraint.topology_key for counts in situation.counts}
    for key in (counts.constraint.topology_key for counts in situation.counts):
        if key not in WELL_KNOWN_KEYS and is_absent(key, situation.handle):
            continue  # Nobody uses the key, so no node needs it.
        infos = situation.handle.node_infos.values()
        lacking = [info for info in infos if key not in info.labels]
        known = [(_id(info), info.labels[key]) for info in infos if key in info.labels and info.node.spec.provider_id]
        for info in _by_rejections(lacking, situation):
            # One of them is the well-known or deprecated spelling of the other.
            alike = {each for each in info.labels if each.rpartition("/")[2] == key.rpartition("/")[2]} - used
            told = [(each, info.labels[each]) for each in sorted(alike) if {key, each} & WELL_KNOWN_KEYS]
            for similar, value in told or [("spec.providerID", _value_in_id(info, known))]:
                if value:
                    yield ChangeNode(
                        proposal=LabelNode(node=info.name, key=key, value=value, similar=similar),
                        obj=info.node,
                        operations=(set_to(pointer("metadata", "labels", key), value),),
                        command=Command(verb="label", kind="node", name=info.name, argument=f"{key}={value}"),
                        group=(key, similar, value),
                    )


def _value_in_id(node: NodeInfo, known: Sequence[tuple[Sequence[str], str]]) -> str:
    """Return the part of the node's provider ID which in the IDs of others is the value of their label; or nothing.

    Source: cloud-provider-aws pkg/providers/v1/instances.go, cloud-provider-gcp providers/gce/gce_util.go.
    """
    columns = zip(_id(node), *(parts for parts, _ in known), strict=False)
    return next((own for own, *others in columns if others and others == [value for _, value in known]), "")


def _id(info: NodeInfo) -> Sequence[str]:
    return info.node.spec.provider_id.split("/")


def _remove_taint(situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield nodes without one of the taints that keep the Pod off.

    If other nodes take Pods, the taint of the control plane stays: a Pod that belongs there tolerates it.
    """
    nodes = situation.handle.snapshot.nodes.values()
    kept = frozenset[str]() if all(map(is_control_plane, nodes)) else CONTROL_PLANE
    for info in closed_by((tainttoleration.NAME,), situation, others=others):
        closing = untolerated(situation, info, others=others)
        for taint in (each for each in closing if each.key not in kept):
            operations = (remove(pointer("spec", "taints", info.node.spec.taints.index(taint))),)
            yield ChangeNode(
                proposal=RemoveTaint(cost=taint_cost(taint), taint=str(taint), node=info.name),
                obj=info.node,
                operations=operations,
                command=_taint_removal(info.name, taint),
                group=(str(taint), *map(str, closing), *situation.domains_of(info)),
            )


def _taint_removal(name: str, taint: Taint) -> Command:
    return Command(verb="taint", kind="node", name=name, argument=f"{taint}-")


def additions(situation: Situation) -> Iterator[Candidate]:
    """Yield one more node for each domain: a sibling of an existing node, empty and healthy."""
    by_volume = _labels_of_volume(situation)
    yield from _siblings(situation, ((info, by_volume) for info in _models(situation)), elsewhere=False)


def additions_elsewhere(situation: Situation) -> Iterator[Candidate]:
    """Yield a sibling of an existing node in another domain of one topology key, for when no other addition helps."""
    if not _labels_of_volume(situation):
        yield from _siblings(situation, _in_other_domains(situation), elsewhere=True)


def _models(situation: Situation) -> Sequence[NodeInfo]:
    """Return the nodes that a new one may be like, those that take Pods first.

    None is of a pool that is being retired: all of its nodes are cordoned or about to be removed.
    """
    infos = situation.handle.node_infos.values()
    closed = {info.name for info in infos if info.node.spec.unschedulable or _is_leaving(info.node)}
    kept = {pool for info in infos if info.name not in closed for pool in _pools(info)}
    models = (info for info in infos if kept.issuperset(_pools(info)))
    return sorted(models, key=lambda info: info.name in closed or _is_ill(info.node))


def _pools(info: NodeInfo) -> list[str]:
    return sorted(f"{key}={value}" for key, value in info.labels.items() if names_pool(key))


def _is_leaving(node: Node) -> bool:
    return bool(node.metadata.deletion_timestamp) or any(meaning_of(taint) in LEAVING for taint in node.spec.taints)


def _siblings(
    situation: Situation, models: Iterable[tuple[NodeInfo, Mapping[str, str]]], *, elsewhere: bool
) -> Iterator[NewNode]:
    """Yield a sibling of each node with the labels given instead of its own, nodes that are alike once."""
    spec, terms = situation.pod.spec, readable_terms(situation.pod)
    named = {condition.key for term in spec.required_terms for condition in term.match_expressions}
    near = {term.topology_key for term in (*terms.affinity, *terms.anti_affinity)}
    # The labels that may decide about the Pod: those that it names, and those of volumes.
    keys = {*spec.node_selector, *named, *near, *WELL_KNOWN_KEYS} - {HOSTNAME} | {*situation.domain_keys}
    seen: set[tuple[object, ...]] = set()
    for info, moved in models:
        labels = {**info.labels, **moved}
        kept = tuple(sorted((key, value) for key, value in labels.items() if key in keys or key in moved))
        taints = tuple(taint for taint in info.node.spec.taints if not is_passing(taint))
        shape = (kept, taints, tuple(sorted(info.node.status.allocatable.items())))
        if shape in seen:
            continue
        seen.add(shape)
        node = sibling(info.node, f"new-{info.name}")
        labels = {**node.metadata.labels, **moved}
        node = replace(node, metadata=replace(node.metadata, labels=labels))
        shown = dict.fromkeys((*situation.domain_keys, *(() if elsewhere else moved))) or (ZONE,)
        known = {key: value if value != _unknown(info, key) else "" for key, value in labels.items()}
        yield NewNode(
            proposal=AddNode(
                like=info.name,
                domains=tuple((key, known[key]) for key in shown if key in known),
                repaired=_is_ill(info.node),
                pool=next((pool for pool in _pools(info) if pool.partition("=")[0] not in moved), ""),
                elsewhere=elsewhere,
                moved=moved.items() - info.labels.items() != set(),
            ),
            obj=node,
            group=(*map(str, node.spec.taints), *(f"{key}={known[key]}" for key in moved if elsewhere)),
        )


def _is_ill(node: Node) -> bool:
    """Whether more than a cordon keeps Pods off, or a condition reports a problem."""
    passing = (taint for taint in node.spec.taints if is_passing(taint) and taint.key != CORDON.key)
    return any(passing) or bool(problems(node))


def _in_other_domains(situation: Situation) -> Iterator[tuple[NodeInfo, Mapping[str, str]]]:
    """Yield (a node; its labels for a domain of one topology key in which no node like it helps).

    The domain is one that takes Pods, as far as the constraint counts it, or one in which no node is. What is within
    one domain is in no other: a rack in one zone, a zone in one region.
    """
    for own in situation.counts:
        key, handle = own.constraint.topology_key, situation.handle
        wider = REGION if key == ZONE else ZONE
        inside = {other: _around(other, key, handle) for other in situation.domain_keys if other != key}
        open_domains = [each for each in _around(key, wider, handle).items() if not own.is_full(each[0])]
        for info in _models(situation) if key in situation.domain_keys else ():
            labels = info.labels
            bound = [other for other, around in inside.items() if len(around.get(labels.get(other, ""), ())) <= 1]
            if key in labels and not bound:
                known = [value for value, outer in open_domains if labels.get(wider, "") in outer or len(outer) > 1]
                # Providers have their own label with the zone's value.
                along = [each for each, value in labels.items() if value == labels[key] and key in {ZONE, each}]
                yield from ((info, dict.fromkeys(along, value)) for value in known or [_unknown(info, key)])


def _unknown(info: NodeInfo, key: str) -> str:
    """Return what stands for a domain of the key in which no node is."""
    return f"new-{info.labels.get(key, '')}"


def _around(key: str, wider: str, handle: Handle) -> Mapping[str, set[str]]:
    """Return domain of the key → the domains of the other key that its nodes are in, empty text for none."""
    found: dict[str, set[str]] = {}
    outer = handle.index.values(wider)
    for name, value in sorted(handle.index.values(key).items()):
        found.setdefault(value, set()).add(outer.get(name, ""))
    return found


def _labels_of_volume(situation: Situation) -> Mapping[str, str]:
    """Return the labels of a node that could use the Pod's volume, if no node can use it; empty otherwise."""
    place = next(volumes_without_node(situation.pod, situation.handle), None)
    if place is None or place.topology_key == HOSTNAME:
        return {}
    # Providers have their own label with the zone's value.
    keys = (place.topology_key, *((ZONE,) if place.topology_key.endswith("/zone") else ()))
    return dict.fromkeys(keys, place.values[0])
