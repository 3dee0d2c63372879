"""The fields of a topology spread constraint, in the order of the Kubernetes documentation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import Entry, EntryKind

_field = partial(Entry, kind=EntryKind.FIELD, link=entry.DEFINITION)

FIELDS: Sequence[Entry] = (
    _field(
        name="maxSkew",
        summary="how many more matching Pods a domain may hold than the emptiest one",
        meaning="With DoNotSchedule a Pod may go to a domain if the Pods that match there, with the Pod itself if it"
        " matches, are at most maxSkew above the global minimum. With ScheduleAnyway it only weighs in the score.",
        when="Required, at least 1.",
        action="1 is as even as it gets. A zone whose nodes take no Pod still counts, and the others stop at maxSkew"
        " above it: explain PinnedMinimum.",
    ),
    _field(
        name="minDomains",
        summary="how many domains there have to be for the minimum to count",
        meaning="While fewer domains are eligible, the global minimum is 0 and no domain may hold more than maxSkew"
        " matching Pods; the rest stay Pending until a node in another domain comes.",
        when="Optional, at least 1, with DoNotSchedule only; unset means 1.",
        action="Set it where zones may have no node at all, as with an autoscaler that scales pools to zero.",
    ),
    _field(
        name="topologyKey",
        summary="the node label whose values are the domains",
        meaning="Nodes with the same value are one domain. A node that lacks the key of any DoNotSchedule constraint is"
        " in none: it takes no Pod with these constraints, and Pods on it do not count.",
        when="Required, a label key; the pair with whenUnsatisfiable may stand once only.",
        action="Prefer topology.kubernetes.io/zone and kubernetes.io/hostname, which every node carries.",
    ),
    _field(
        name="whenUnsatisfiable",
        summary="whether the constraint is a rule or a preference",
        meaning="DoNotSchedule keeps a Pod Pending rather than break the constraint. ScheduleAnyway places it and only"
        " prefers nodes that even things out.",
        when="Required, DoNotSchedule or ScheduleAnyway.",
        action="Take DoNotSchedule where losing one domain must not take the workload, ScheduleAnyway where running"
        " matters more.",
    ),
    _field(
        name="labelSelector",
        summary="which Pods of the namespace are counted",
        meaning="Only Pods that match, in the Pod's own namespace and not being deleted, are counted. The Pod itself"
        " counts only if its own labels match.",
        when="Optional for the API server; without it no Pod is counted.",
        action="Let it match the labels of the Pod template, and those of no other workload: explain GhostPod.",
    ),
    _field(
        name="matchLabelKeys",
        summary="labels whose values the counted Pods share with the Pod",
        meaning="Each key is joined to labelSelector with the value that the Pod has. A key that the Pod lacks is"
        " passed over.",
        when="Optional; only beside labelSelector, and no key that stands in it as well.",
        action="[pod-template-hash] for Deployments counts each revision alone, so rollouts do not jam.",
    ),
    _field(
        name="nodeAffinityPolicy",
        summary="whether nodes that the Pod's node affinity rules out are counted",
        meaning="Honor leaves out nodes that nodeSelector and required node affinity rule out; Ignore counts them.",
        when="Optional, Honor or Ignore; unset means Honor.",
        action="Leave it unset, unless Pods on nodes that this one may not use are meant to count.",
    ),
    _field(
        name="nodeTaintsPolicy",
        summary="whether nodes with taints that the Pod does not tolerate are counted",
        meaning="Honor leaves out nodes whose taints the Pod does not tolerate; Ignore counts them, so that an empty"
        " domain that is closed to the Pod holds the minimum at 0.",
        when="Optional, Honor or Ignore; unset means Ignore.",
        action="Set Honor where some nodes are tainted and others are not: explain PinnedMinimum.",
    ),
)
