"""The columns of the tables, in the order in which they stand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import Entry, EntryKind

_column = partial(Entry, kind=EntryKind.COLUMN, link=entry.DEFINITION)
_DOMAINS, _NODES = "Below a constraint.", "By why-pending and check, of the nodes that are rejected."
_ROWS = "By show, simulate and rebalance."

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
        " counts other Pods has its own row, with the revision in brackets.",
        when=_ROWS,
        action="show TYPE/NAME prints the domains.",
    ),
    _column(
        name="KEY",
        summary="the topologyKey of the constraint",
        meaning="Each workload has a row for each of its constraints. (default) marks constraints of the cluster. On a"
        " narrow terminal well-known keys have short names, which the last line tells.",
        when=_ROWS,
        action="--topology-key shows the constraints on one key.",
    ),
    _column(
        name="WHEN",
        summary="whenUnsatisfiable of the constraint",
        meaning="DoNotSchedule is a rule, ScheduleAnyway a preference. Left out of a narrow terminal.",
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
        meaning="(5 own) tells how many of them are the workload's, where its selector matches others too.",
        when="By show -o wide, and below a constraint for each domain.",
        action="Let the selector match the workload's own Pods: explain labelSelector.",
    ),
    _column(
        name="STATUS",
        summary="how the workload stands, and in a few words why",
        meaning="NoDomains, Blocked, FailedCreate, Unschedulable, Violated, NoEffect, Incomplete, Uneven or OK: the"
        " first of these that holds.",
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
        name="HEADROOM",
        summary="how many more replicas find a node",
        meaning="Replicas are placed one after another until one finds no node; what stops that one is named.",
        when="By show -o wide; below the row where there is no room.",
        action="Make room before a scale-up needs it.",
    ),
    _column(
        name="DOMAIN",
        summary="a value of the topologyKey",
        meaning="All nodes with that value of the label are one domain. Of many, those that stand alike share a row.",
        when=_DOMAINS,
        action="-o wide gives each domain its row, --by-node each node.",
    ),
    _column(
        name="NODE",
        summary="a node, by name",
        meaning="On a terminal, and where -o wide has no room for them, names go without the suffix that all nodes"
        " share, which the last line tells.",
        when="By show --by-node, and by rebalance for the Pod that is to go.",
        action="In a table in a pipe, in -o json and in commands the whole name stands.",
    ),
    _column(
        name="NODES",
        summary="the nodes of a domain, or those that are rejected alike",
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
        summary="the same in the scheduler's words",
        meaning="As it stands in the FailedScheduling event.",
        when="By why-pending and check with -o wide.",
        action="Compare it with kubectl describe pod.",
    ),
    _column(
        name="ORDER",
        summary="when the Pod is evicted",
        meaning="Each eviction counts on those before it.",
        when="By rebalance.",
        action="Run the commands in this order, each once the Pod in place of the one before has a node.",
    ),
    _column(
        name="WAVE",
        summary="which evictions may follow one another at once",
        meaning="Before each new wave the evicted Pods have to be gone, and those in their places ready: budgets allow"
        " no more, a StatefulSet makes one after another, or the room is needed.",
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
        action="Nothing: it has been tried.",
    ),
    _column(
        name="VERDICT",
        summary="whether the plan restores the balance",
        meaning="Balanced, Planned, Partial, Impossible or Incomplete.",
        when="By rebalance.",
        action="Explain the verdict by its name.",
    ),
)
