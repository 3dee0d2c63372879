"""The reference behind ``kubectl spread explain``: what the words in the reports mean, and what to do about them.

What is no conclusion has its entry here: the fields of a topology spread constraint in the order of the Kubernetes
documentation, what a step does to Pods by its names in JSON, and the columns of the tables in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import Entry, EntryKind
from kubectl_spread.wording.findings import FINDINGS
from kubectl_spread.wording.fixes import FIXES, WAITS
from kubectl_spread.wording.statuses import STATUSES, VERDICTS

_outcome = partial(Entry, kind=EntryKind.OUTCOME)
_field = partial(Entry, kind=EntryKind.FIELD, link=entry.DEFINITION)
_column = partial(Entry, kind=EntryKind.COLUMN, link=entry.DEFINITION)
_DOMAINS, _NODES = "Below a constraint.", "By why-pending and check, of the nodes that are rejected."
_ROWS = "By show, simulate and rebalance."

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
        when="Required, a label key; each pair with whenUnsatisfiable may appear only once.",
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
        when="Optional; only with labelSelector, and no key that labelSelector has too.",
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
OUTCOMES: Sequence[Entry] = (
    _outcome(
        name="evicted",
        summary="Pods that are evicted; their controllers recreate them",
        meaning="A drain takes them through the Eviction API; of lost nodes they are deleted once their tolerations"
        " have run out, and stay as terminating Pods until the node returns or is removed.",
        when="By drain, remove, lose and delete. Pods of DaemonSets and static Pods stay with their node.",
        action="See under pending which of the new ones find no node.",
        link=entry.DISRUPTIONS,
    ),
    _outcome(
        name="blocked",
        summary="Pods that cannot be evicted",
        meaning="A PodDisruptionBudget refuses the eviction, and goes on refusing it after every replacement that"
        " finds a node is ready. Or nothing manages a Pod, and kubectl drain evicts none of the node then.",
        when="By drain and remove, with the reason of each. kubectl drain would try until its timeout.",
        action="Make room for the replacements or relax the budget; --force lets go of Pods that nothing manages.",
        link=entry.DISRUPTIONS,
    ),
    _outcome(
        name="lost",
        summary="Pods that are deleted for good: no controller recreates them",
        meaning="They have no controller. What they did is not done any more.",
        when="By drain and remove with --force, by lose after the time that the Pod tolerates, by delete.",
        action="Put them under a controller, or keep their manifest at hand.",
        link=entry.DISRUPTIONS,
    ),
    _outcome(
        name="preempted",
        summary="Pods that the scheduler evicts for others of a higher priority",
        meaning="A Pod that has to move finds no room, and its priority lets the scheduler make some. The victims are"
        " made again by their controllers and may end Pending in their turn.",
        when="By any step after which Pods wait for a node that Pods of lower priority use.",
        action="Look at priorities, or add room before the step.",
        link=entry.PREEMPTION,
    ),
    _outcome(
        name="pending",
        summary="Pods that wait for a node when nothing changes any more",
        meaning="By workload, with the scheduler's message and why-pending's sentence. Those that waited before the"
        " step are among them; newlyPending is true when more wait than before, or are refused.",
        when="After every step. range is the fewest and the most in the simulated orders.",
        action="Take the step differently: add a node first, drain one node at a time, relax what the sentence names.",
        link=entry.SPREAD,
    ),
    _outcome(
        name="untried",
        summary="Pods that wait and were not simulated on any node",
        meaning="The simulation stopped because too many Pods had been placed on too many nodes before. Some of them"
        " may find a node, and what a budget holds back for them may go.",
        when="Where tens of thousands of Pods have to be placed. It is listed as incomplete then; otherwise absent.",
        action="Take smaller steps, or ask of a part of the cluster.",
        link=entry.SPREAD,
    ),
    _outcome(
        name="ranges",
        summary="the fewest and the most Pods of a domain in the simulated orders",
        meaning="after is one outcome; where scheduler and controllers may choose, others are as likely. Ranges were"
        " observed in several orders, not proved: the real outcome may be outside, most often by one.",
        when="For every constraint, as [least, most] of each domain; equal where nothing was left to chance.",
        action="Count on the worst end of a range.",
        link=entry.SPREAD,
    ),
    _outcome(
        name="orders",
        summary="how many random orders were simulated",
        meaning="Nodes with the same score, Pods that a controller may delete as well as others, evictions that are"
        " asked for at once: each order settles them differently, and the same way each time it is asked.",
        when="After every step: 1 where nothing was left to chance, or where the cluster is too large to try more.",
        action="Of 1 in a large cluster, ask of a smaller part of it to see ranges.",
        link=entry.SPREAD,
    ),
)
COLUMNS: Sequence[Entry] = (
    _column(
        name="NAMESPACE",
        summary="the namespace of the workload",
        meaning="Left out where one namespace was asked for and every row is in it.",
        when=_ROWS,
        action="-A looks at all namespaces, -n at one.",
    ),
    _column(
        name="WORKLOAD",
        summary="what the Pods belong to",
        meaning="The topmost owner that can be read. While a rollout has Pods of several revisions, each revision that"
        " counts other Pods has its own row, with the revision in brackets. On a narrow terminal kinds have kubectl's"
        " short names: deploy, sts, ds.",
        when=_ROWS,
        action="show TYPE/NAME prints the domains.",
    ),
    _column(
        name="KEY",
        summary="the topologyKey of the constraint",
        meaning="Each workload has a row for each of its constraints. (default) marks constraints of the cluster. On a"
        " narrow terminal keys lose their prefix; the last line lists them.",
        when=_ROWS,
        action="--topology-key shows the constraints on one key.",
    ),
    _column(
        name="WHEN",
        summary="whenUnsatisfiable of the constraint",
        meaning="DoNotSchedule is a rule, ScheduleAnyway a preference: D and S in a narrow terminal.",
        when="By show and rebalance.",
        action="Explain whenUnsatisfiable.",
    ),
    _column(
        name="MAX-SKEW",
        summary="maxSkew of the constraint",
        meaning="How far the fullest domain may be above the emptiest. Left out of a narrow terminal.",
        when=_ROWS,
        action="Explain maxSkew.",
    ),
    _column(
        name="SKEW",
        summary="how far the fullest domain is above the emptiest",
        meaning="The largest count minus the global minimum over eligible domains; in the table of a constraint, the"
        " domain's own count minus the minimum. An arrow leads from before to after.",
        when=_ROWS,
        action="Above MAX-SKEW a DoNotSchedule constraint is Violated; rebalance plans what mends it.",
    ),
    _column(
        name="PODS",
        summary="how many Pods the constraint counts",
        meaning="(5 own) is the number that belongs to the workload, where its selector matches other Pods too.",
        when="By show -o wide, and below a constraint for each domain.",
        action="Let the selector match the workload's own Pods: explain labelSelector.",
    ),
    _column(
        name="STATUS",
        summary="the state of the constraint",
        meaning="NoDomains, Blocked, FailedCreate, Unschedulable, Violated, NoEffect, Incomplete, Uneven or OK: the"
        " first that applies. REASON has the cause.",
        when="By show and simulate.",
        action="Explain the status by its name.",
    ),
    _column(
        name="DOMAINS",
        summary="the Pods in each domain",
        meaning="a:3 b:1 is domain a with three Pods and b with one. Of many domains, 0×93 1×71 is 93 without a Pod and"
        " 71 with one. In a:3→2 an arrow leads from before to after, of many domains only where that differs; - is a"
        " domain that is not there and 0..1 what was seen in several orders of what is left to chance.",
        when=_ROWS,
        action="show TYPE/NAME names the domains.",
    ),
    _column(
        name="SELECTOR",
        summary="which Pods the constraint counts",
        meaning="The labelSelector, joined with the values of matchLabelKeys.",
        when="By show -o wide; below the row where there is no room.",
        action="Explain labelSelector.",
    ),
    _column(
        name="NEXT",
        summary="where the next Pod may go",
        meaning="In the table of workloads a node that takes the next replica, the best where all were scored, and how"
        " many more do; below a constraint whether one more Pod may go to the domain, and if not, why.",
        when="By show -o wide, and below a constraint.",
        action="Where a domain is allowed and no node there takes the Pod, open one: explain PinnedMinimum.",
    ),
    _column(
        name="READY",
        summary="how many of the workload's Pods are Ready, of those it wants",
        meaning="2/3 means that two Pods are Ready and the workload wants three.",
        when="By show -o wide.",
        action="why-pending explains Pods that have no node.",
    ),
    _column(
        name="PENDING",
        summary="how many of the workload's Pods have no node",
        meaning="The Pods that exist and wait for a node.",
        when="By show -o wide.",
        action="why-pending explains each.",
    ),
    _column(
        name="HEADROOM",
        summary="how many more replicas find a node",
        meaning="Replicas are placed one after another until one finds no node; what stops that one is named.",
        when="By show -o wide; below the row where there is no room.",
        action="Make room before a scale-up needs it.",
    ),
    _column(
        name="DOMAIN",
        summary="a value of the topologyKey",
        meaning="All nodes with that value of the label are one domain. Of many, those with equal values share a row.",
        when=_DOMAINS,
        action="-o wide gives each domain its row, --by-node each node.",
    ),
    _column(
        name="NODE",
        summary="a node, by name",
        meaning="On a terminal, and where -o wide has no room for them, names go without the suffix that all nodes"
        " share; the last line shows it.",
        when="By show --by-node, and by rebalance for the Pod that is to go.",
        action="A table in a pipe, -o json and commands have the whole name.",
    ),
    _column(
        name="NODES",
        summary="the nodes of a domain, or those with the same reason",
        meaning="In the table of a constraint how many nodes are counted; above it how many are rejected, and which.",
        when="Below a constraint, and by why-pending and check.",
        action="-o wide names all of them.",
    ),
    _column(
        name="REJECTED-BY",
        summary="the scheduler's plugin that rejects the nodes first",
        meaning="The scheduler asks one plugin after another and stops at the first that rejects a node.",
        when=_NODES,
        action="-o json has every plugin that rejects a node.",
    ),
    _column(
        name="WHY",
        summary="why the plugin rejects the nodes, with numbers",
        meaning="The taint, the missing resource, the label or the constraint that is to blame.",
        when=_NODES,
        action="The fixes above change what can be changed.",
    ),
    _column(
        name="REASON",
        summary="why the row has its status, or the scheduler's own words",
        meaning="In the table of workloads, the cause of the status with its numbers: the last column, or below the row"
        " where there is no room. In the table of rejected nodes, the reason as in the FailedScheduling event.",
        when="By show, and by why-pending and check with -o wide.",
        action="show TYPE/NAME prints the domains. Compare the scheduler's words with kubectl describe pod.",
    ),
    _column(
        name="ORDER",
        summary="when the Pod is evicted",
        meaning="Each eviction counts on those before it.",
        when="By rebalance.",
        action="Run the commands in this order, each once the Pod in place of the one before is Ready.",
    ),
    _column(
        name="WAVE",
        summary="which evictions may follow one another at once",
        meaning="Before each new wave the evicted Pods have to be gone, and those in their places ready: budgets allow"
        " no more, a StatefulSet makes one after another, or room or anti-affinity requires it.",
        when="By rebalance.",
        action="Wait between the waves.",
    ),
    _column(
        name="POD",
        summary="the Pod that is to go",
        meaning="Its controller makes another in its place.",
        when="By rebalance.",
        action="Run its command.",
    ),
    _column(
        name="LANDS",
        summary="where the Pod in its place goes",
        meaning="The nodes with the highest score; the plan holds for each of them.",
        when="By rebalance.",
        action="Nothing: it was verified by simulation.",
    ),
    _column(
        name="VERDICT",
        summary="whether the plan restores the balance",
        meaning="Balanced, Planned, Partial, Impossible or Incomplete.",
        when="By rebalance.",
        action="Explain the verdict by its name.",
    ),
)

ENTRIES: Sequence[Entry] = (
    *FINDINGS.entries,
    *FIXES.entries,
    *WAITS.entries,
    *STATUSES.entries,
    *VERDICTS,
    *OUTCOMES,
    *FIELDS,
    *COLUMNS,
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
