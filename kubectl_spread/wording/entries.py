"""The reference behind ``kubectl spread explain``: what the words in the reports mean, and what to do about them.

What is no conclusion has its entry here: the fields of a topology spread constraint in the order of the Kubernetes
documentation, what a step does to Pods by its names in JSON, and the columns of the tables in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import Entry, EntryKind
from kubectl_spread.wording.findings import FINDINGS
from kubectl_spread.wording.fixes import FIXES, WAITS
from kubectl_spread.wording.statuses import STATUSES, VERDICTS

_outcome = partial(Entry, kind=EntryKind.OUTCOME, link=entry.SPREAD)
_field = partial(Entry, kind=EntryKind.FIELD, link=entry.DEFINITION)
_column = partial(Entry, kind=EntryKind.COLUMN, link=entry.DEFINITION)
_decision = partial(Entry, kind=EntryKind.DECISION, link=entry.LIMITATIONS)
_DOMAINS, _NODES = "Below a constraint.", "By why-pending and check, for the rejected nodes."
_ROWS, _POOLS = "By show, simulate and rebalance.", "By why-pending and check, in a cluster with an autoscaler."

FIELDS: Mapping[str, Entry] = {
    "maxSkew": _field(
        summary="how many more matching Pods a domain may have than the emptiest one",
        meaning="With DoNotSchedule, a Pod may go to a domain that then has at most maxSkew more matching Pods than the"
        " global minimum. The Pod itself counts if it matches. With ScheduleAnyway, it only affects the score.",
        when="Required, at least 1.",
        action="1 is the most even spread. A zone whose nodes take no Pod still counts, and limits all other zones."
        " See `kubectl spread explain PinnedMinimum`.",
    ),
    "minDomains": _field(
        summary="how many eligible domains are required",
        meaning="While fewer domains are eligible, the global minimum is 0 and no domain may have more than maxSkew"
        " matching Pods. The other Pods stay Pending until a node is added in another domain.",
        when="Optional, at least 1, with DoNotSchedule only; unset means 1.",
        action="Set it where zones may have no node at all, as with an autoscaler that scales pools to zero.",
    ),
    "topologyKey": _field(
        summary="the node label whose values are the domains",
        meaning="Nodes with the same value are one domain. A node that lacks the key of even one of the Pod's"
        " DoNotSchedule constraints is in no domain: it cannot take the Pod, and Pods on it are not counted.",
        when="Required, a label key; each pair with whenUnsatisfiable may appear only once.",
        action="Prefer topology.kubernetes.io/zone and kubernetes.io/hostname. Clouds and kubelets set them on"
        " every node.",
    ),
    "whenUnsatisfiable": _field(
        summary="whether the constraint is a rule or a preference",
        meaning="With DoNotSchedule, a Pod stays Pending if no node satisfies the constraint. With ScheduleAnyway,"
        " it is scheduled anyway, and nodes that reduce the skew are preferred.",
        when="Required, DoNotSchedule or ScheduleAnyway.",
        action="Use DoNotSchedule if the workload must survive the loss of a domain, and ScheduleAnyway if running"
        " is more important than an even spread.",
    ),
    "labelSelector": _field(
        summary="which Pods of the namespace are counted",
        meaning="Pods are counted if they match, are in the Pod's own namespace and are not being deleted. The Pod"
        " itself counts only if its own labels match.",
        when="Optional. Without it no Pod is counted.",
        action="Match the labels of the Pod template, and those of no other workload. See `kubectl spread explain"
        " GhostPod`.",
    ),
    "matchLabelKeys": _field(
        summary="labels whose values the counted Pods must share with the Pod",
        meaning="Each key is added to labelSelector with the value of the Pod. A key that the Pod lacks is ignored.",
        when="Optional; only with labelSelector, and no key that labelSelector has too.",
        action="For a Deployment, [pod-template-hash] counts each revision separately, so old Pods do not block a"
        " rollout.",
    ),
    "nodeAffinityPolicy": _field(
        summary="whether nodes that the Pod's node affinity rules out are counted",
        meaning="Honor leaves out nodes that nodeSelector and required node affinity rule out; Ignore counts them.",
        when="Optional, Honor or Ignore; unset means Honor.",
        action="Leave it unset, unless Pods on nodes that this Pod cannot use should count.",
    ),
    "nodeTaintsPolicy": _field(
        summary="whether nodes with taints that the Pod does not tolerate are counted",
        meaning="Honor leaves out nodes with untolerated taints. Ignore counts them: a domain with only such nodes"
        " may then keep the minimum at 0.",
        when="Optional, Honor or Ignore; unset means Ignore.",
        action="Set Honor if some nodes are tainted. See `kubectl spread explain PinnedMinimum`.",
    ),
}
OUTCOMES: Mapping[str, Entry] = {
    "evicted": _outcome(
        summary="Pods that are evicted; their controllers recreate them",
        meaning="A drain evicts them through the Eviction API, or deletes them with --disable-eviction. On lost nodes"
        " they are deleted when their tolerations expire, and stay Terminating until the node returns or is removed.",
        when="By drain, remove, lose and delete. Pods of DaemonSets and static Pods stay with their node.",
        action="The field `pending` lists the replacements that cannot be scheduled.",
        link=entry.DISRUPTIONS,
    ),
    "blocked": _outcome(
        summary="Pods that cannot be evicted",
        meaning="A PodDisruptionBudget refuses the eviction, even after every replacement that can be scheduled is"
        " ready. Or no controller manages a Pod of the node: kubectl drain then evicts no Pod of the node.",
        when="By drain and remove, with the reason for each Pod. kubectl drain would retry until its timeout.",
        action="Make room for the replacements or relax the budget. --force deletes Pods that no controller manages.",
        link=entry.DISRUPTIONS,
    ),
    "lost": _outcome(
        summary="Pods that are deleted for good: no controller recreates them",
        meaning="They have no controller, so their work stops.",
        when="By drain and remove with --force, by lose after the Pod's tolerationSeconds, and by delete.",
        action="Run them with a controller, or keep their manifests.",
        link=entry.DISRUPTIONS,
    ),
    "deleted": _outcome(
        summary="workloads that have fewer Pods, because their controller deletes some",
        meaning="The controller does not recreate these Pods. It deletes them directly, so no budget protects them.",
        when="By apply and scale.",
        action="Check that the workload should have fewer Pods. For a DaemonSet, check that the nodes of the deleted"
        " Pods should have none of its Pods.",
        link=entry.DISRUPTIONS,
    ),
    "refused": _outcome(
        summary="manifests that are not applied",
        meaning="The API server, or kubectl, refuses them. The other documents are applied.",
        when="By apply, with the reason for each manifest.",
        action="Correct the manifest: check -f shows the field.",
    ),
    "neverRun": _outcome(
        summary="new Pods that name a node that does not exist",
        meaning="Their template sets spec.nodeName, so no scheduler is involved. Pod garbage collection deletes them,"
        " and their controller creates them again.",
        when="By any step after which the node that the template names does not exist.",
        action="Remove spec.nodeName from the template.",
        link=entry.NODE_ASSIGNMENT,
    ),
    "preempted": _outcome(
        summary="Pods that the scheduler evicts for others of a higher priority",
        meaning="A replacement does not fit on any node, and its priority allows preemption. The controllers"
        " recreate the victims, which may stay Pending.",
        when="By any step after which Pods need a node that Pods of lower priority use.",
        action="Check the priorities, or add capacity before the step.",
        link=entry.PREEMPTION,
    ),
    "pending": _outcome(
        summary="Pods that are Pending when nothing changes any more",
        meaning="By workload, with the scheduler's message and the cause. Pods that were Pending before the step"
        " are included. 2 Pending (1 before) means that 1 would be Pending without the step. The field `newlyPending`"
        " is true if more Pods are Pending or refused than without the step.",
        when="After every step. The field `range` has the fewest and the most in the simulations.",
        action="Change the step: add a node first, drain one node at a time, or relax the named constraint.",
    ),
    "untried": _outcome(
        summary="Pending Pods that were not simulated",
        meaning="The simulation stopped because too many Pods had been placed. Some of these Pods may be"
        " schedulable, and evictions that wait for them may be allowed.",
        when="If tens of thousands of Pods have to be placed. The answer is then incomplete. Otherwise it is absent.",
        action="Simulate smaller steps, or a part of the cluster.",
    ),
    "ranges": _outcome(
        summary="the fewest and the most Pods of a domain in the simulations",
        meaning="The field `after` has one possible result. If the scheduler or a controller has equal choices, other"
        " results are also possible. The range was observed in several simulations. It is not proved: the real result"
        " may be outside, most often by one.",
        when="For every constraint, as [least, most] of each domain. Both are equal if no choice is random.",
        action="Plan for the worst value of a range.",
    ),
    "orders": _outcome(
        summary="how many simulations with different random choices were run",
        meaning="Nodes with the same score, equal Pods to delete, and evictions at the same time are ordered at"
        " random. Each simulation makes different choices. The same input gives the same simulations.",
        when="After every step. It is 1 if no choice is random, or if the cluster is too large for more.",
        action="If it is 1 in a large cluster, simulate a smaller part to see ranges.",
    ),
}
COLUMNS: Mapping[str, Entry] = {
    "NAMESPACE": _column(
        summary="the namespace of the workload",
        meaning="Left out if you asked for one namespace.",
        when=_ROWS,
        action="-A reads all namespaces, -n one.",
    ),
    "WORKLOAD": _column(
        summary="what the Pods belong to",
        meaning="The topmost owner that can be read. While a rollout has Pods of several revisions, each revision that"
        " counts different Pods has its own row, with the revision in brackets. In simulate, (new ...) is the newest"
        " revision and (old ...) an older one. On a narrow terminal kinds have kubectl's short names: deploy, sts, ds.",
        when=_ROWS,
        action="`kubectl spread show TYPE/NAME` prints the domains.",
    ),
    "KEY": _column(
        summary="the topologyKey of the constraint",
        meaning="Each workload has a row for each of its constraints. (default) marks default constraints of the"
        " cluster. On a narrow terminal keys lose their prefix, and the last line lists the full keys.",
        when=_ROWS,
        action="--topology-key shows the constraints on one key.",
    ),
    "WHEN": _column(
        summary="whenUnsatisfiable of the constraint",
        meaning="DoNotSchedule is a rule, ScheduleAnyway a preference: D and S on a narrow terminal.",
        when="By show and rebalance.",
        action="See explain whenUnsatisfiable.",
    ),
    "MAX-SKEW": _column(
        summary="maxSkew of the constraint",
        meaning="How many more Pods the fullest domain may have than the emptiest. On a narrow terminal the column may"
        " be left out.",
        when=_ROWS,
        action="See explain maxSkew.",
    ),
    "SKEW": _column(
        summary="how far the fullest domain is above the emptiest",
        meaning="The largest count of an eligible domain minus the global minimum. In the table of a constraint,"
        " the count of the domain minus the minimum. 3→1 means 3 before and 1 after.",
        when=_ROWS,
        action="If it is above MAX-SKEW, a DoNotSchedule constraint is Violated: rebalance plans evictions.",
    ),
    "DOMAIN-SKEW": _column(
        summary="how far the domain of the node is above the emptiest",
        meaning="The count of the whole domain minus the global minimum: the same on each node of the domain. PODS is"
        " the count of the node alone.",
        when="By show --by-node.",
        action="See explain SKEW.",
    ),
    "PODS": _column(
        summary="how many Pods the constraint counts",
        meaning="(5 own) is the number of the workload's own Pods, if the selector matches other Pods too. In check,"
        " the Pods of the manifest that can be scheduled are included.",
        when="By show -o wide, and below a constraint for each domain, or for each node with --by-node.",
        action="Make the selector match only the workload's own Pods: explain labelSelector.",
    ),
    "STATUS": _column(
        summary="the state of the constraint",
        meaning="From worst to best: NoDomains, Blocked, FailedCreate, Unschedulable, Violated, NoEffect, Incomplete,"
        " Uneven, OK. The first that applies is printed. REASON has the cause.",
        when="By show and simulate.",
        action="See explain with the name of the status.",
    ),
    "DOMAINS": _column(
        summary="the Pods in each domain",
        meaning="a:3 b:1 means: a has three Pods, b has one. For many domains, 0×93 1×71 means: 93 have no Pod, 71 have"
        " one. a:3→2 means 3 before and 2 after; gone and new are domains that are not there after or before. Of many"
        " domains, those that do not change are others(12):0: 12 others have 0. 0..1 is a range of simulations.",
        when=_ROWS,
        action="show TYPE/NAME names the domains.",
    ),
    "SELECTOR": _column(
        summary="which Pods the constraint counts",
        meaning="The labelSelector, with the values of matchLabelKeys.",
        when="By show -o wide. On a line below if the row is too long.",
        action="See explain labelSelector.",
    ),
    "NEXT": _column(
        summary="whether the next Pod can be scheduled, and where",
        meaning="In the table of workloads, the best node for the next replica and the number of other feasible"
        " nodes. In the table of a constraint, whether the domain may take one more Pod, and if not, why.",
        when="By show -o wide, and below a constraint.",
        action="If no node of a domain takes the Pod, see `kubectl spread explain PinnedMinimum`.",
    ),
    "READY": _column(
        summary="how many Pods are Ready, out of the desired number",
        meaning="2/3 means that two Pods are Ready and the workload wants three.",
        when="By show -o wide.",
        action="why-pending explains Pods that have no node.",
    ),
    "PENDING": _column(
        summary="how many of the workload's Pods have no node",
        meaning="These Pods exist and wait for a node.",
        when="By show -o wide.",
        action="why-pending explains each.",
    ),
    "HEADROOM": _column(
        summary="how many more replicas can be scheduled",
        meaning="Replicas are placed one after another until one cannot be scheduled. The status at that point is"
        " printed.",
        when="By show -o wide. On a line below if the row is too long.",
        action="Add capacity before you scale up.",
    ),
    "DOMAIN": _column(
        summary="a value of the topologyKey",
        meaning="All nodes with this value are one domain. If there are many domains, equal ones share a row.",
        when=_DOMAINS,
        action="-o wide gives each domain its row, --by-node each node.",
    ),
    "NODE": _column(
        summary="a node, by name",
        meaning="On a narrow terminal, names are printed without the suffix that all nodes share. The last line"
        " shows the suffix.",
        when="By show --by-node, and by rebalance for the Pod to evict.",
        action="In a pipe, in -o json and in commands the name is complete.",
    ),
    "NODES": _column(
        summary="the nodes of a domain, or those with the same reason",
        meaning="In the table of a constraint, how many nodes are counted. In the table of rejected nodes, how many"
        " and which.",
        when="Below a constraint, and by why-pending and check.",
        action="-o wide names all of them.",
    ),
    "REJECTED-BY": _column(
        summary="the scheduler's plugin that rejects the nodes first",
        meaning="The scheduler runs one plugin after another and stops at the first that rejects a node.",
        when=_NODES,
        action="-o json has every plugin that rejects a node. On a narrow terminal the column is left out.",
    ),
    "WHY": _column(
        summary="why the plugin rejects the nodes, with numbers",
        meaning="The taint, the missing resource, the label or the constraint. Nodes that only one plugin rejects"
        " come first.",
        when=_NODES,
        action="The fixes are printed above the table.",
    ),
    "REASON": _column(
        summary="why the row has its status, or the scheduler's own words",
        meaning="In the table of workloads, the cause of the status with its numbers, in the last column or on a line"
        " below. In the table of rejected nodes, the reason as in the FailedScheduling event.",
        when="By show, and by why-pending and check with -o wide.",
        action="`kubectl spread show TYPE/NAME` prints the domains. Compare the scheduler's words with"
        " kubectl describe pod.",
    ),
    "ORDER": _column(
        summary="when the Pod is evicted",
        meaning="Each eviction depends on those before it.",
        when="By rebalance.",
        action="Run the commands in this order. Before each, wait until the previous replacement is Ready.",
    ),
    "WAVE": _column(
        summary="the group to which the eviction belongs",
        meaning="Within a wave, the previous replacement must be Ready before the next eviction. Before a new wave, the"
        " evicted Pods must also be gone: a budget, a StatefulSet, resources, affinity between Pods or a volume"
        " requires that.",
        when="By rebalance.",
        action="After each eviction, wait until the replacement is Ready. Before a new wave, also wait until evicted"
        " Pods are gone.",
    ),
    "POD": _column(
        summary="the Pod to evict",
        meaning="Its controller creates a replacement.",
        when="By rebalance.",
        action="Run its command.",
    ),
    "LANDS": _column(
        summary="the nodes that the replacement may be scheduled to",
        meaning="The nodes with the highest score. The plan is verified for each of them.",
        when="By rebalance.",
        action="Nothing. It was verified by simulation.",
    ),
    **{
        name: _column(
            summary=f"a {what}",
            meaning="The row has the autoscaler's decision about a new node for the Pod.",
            when=_POOLS,
            action="See `kubectl spread explain VERDICT`.",
        )
        for name, what in (("NODEPOOL", "NodePool of Karpenter"), ("GROUP", "node group of cluster-autoscaler"))
    },
    "VERDICT": _column(
        summary="whether the plan restores the spread, or an autoscaler adds a node",
        meaning="In a plan: Balanced, Planned, Partial, Impossible or Incomplete. For a NodePool or node group: chosen,"
        " possible, refused or unknown.",
        when="By rebalance, and by why-pending and check beside each NodePool or node group.",
        action="For a plan, see explain with the name of the verdict.",
    ),
}

DECISIONS: Mapping[str, Entry] = {
    "NewNode": _decision(
        summary="the autoscaler can add a node for the Pod",
        meaning="Nothing that was read forbids a new node from one of the pools that are `chosen` or `possible`.",
        when=_POOLS,
        action="Wait for the node. If none comes, read the autoscaler's log, and its events about the Pod.",
    ),
    "ExistingNode": _decision(
        summary="the autoscaler adds no node, because it expects the Pod on an existing one",
        meaning="The autoscaler sees room on a node that exists or is on its way. The scheduler sees none there yet.",
        when=_POOLS,
        action="Look at the named node: it may still be starting, or may soon be removed.",
    ),
    "Refused": _decision(
        summary="the autoscaler adds no node for the Pod",
        meaning="Each pool has a reason, in the column WHY: a taint, a requirement, a limit, or the constraint itself.",
        when=_POOLS,
        action="Change the pool or the Pod, as the advice below the decision says.",
    ),
    "ByChance": _decision(
        summary="whether the autoscaler adds a node depends on chance",
        meaning="Karpenter picks one of several equal domains at random. In some of them it adds a node, in others it"
        " does not.",
        when="By why-pending and check, for Karpenter.",
        action="Wait: Karpenter tries again. Or make the Pod or the pool fit every domain.",
    ),
    **{
        name: _decision(summary=summary, meaning=meaning, when=_POOLS, action="See `kubectl spread explain VERDICT`.")
        for name, summary, meaning in (
            ("chosen", "the new node is from this pool", "The autoscaler tries the pools in order and takes this one."),
            ("possible", "the new node may be from this pool", "Chance, or something that was not read, decides."),
        )
    },
    "Unknown": _decision(
        summary="what the autoscaler does is not known",
        meaning="The decision depends on something that was not read or is not modelled.",
        when=_POOLS,
        action="Read the lines that begin with `incomplete:`, and grant the permission that they name.",
    ),
}
"""What an autoscaler does about a Pod, and the part of a pool in it."""

ENTRIES: Sequence[Entry] = (
    *FINDINGS.entries,
    *FIXES.entries,
    *WAITS.entries,
    *STATUSES.entries,
    *(each for entries in (VERDICTS, DECISIONS, OUTCOMES, FIELDS, COLUMNS) for each in entry.named(entries)),
)
"""Everything there is to explain, in the order in which it is listed."""


def entries_named(name: str) -> tuple[Entry, ...]:
    """Return what the name means, in any case; of a path such as ``spec.x[0].maxSkew`` the last field counts."""
    wanted = name.rpartition(".")[2].lower()
    return tuple(entry for entry in ENTRIES if entry.name.lower() == wanted)


def similar_names(name: str) -> tuple[str, ...]:
    """Return the names that may be meant, the nearest first."""
    from difflib import get_close_matches

    names = {entry.name.lower(): entry.name for entry in ENTRIES}
    return tuple(names[near] for near in get_close_matches(name.rpartition(".")[2].lower(), names, n=3, cutoff=0.6))
