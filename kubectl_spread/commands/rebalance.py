"""``rebalance``: the fewest evictions that restore the spread, verified by simulation."""

from collections.abc import Iterable
from functools import partial
from itertools import chain

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.commands import read_sets
from kubectl_spread.commands.bad_objects import reporting_bad_objects
from kubectl_spread.commands.fix_budget import FixBudget
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import wanted_workloads
from kubectl_spread.commands.source import Source
from kubectl_spread.commands.view import SchedulerOptions, View, look, reading_devices
from kubectl_spread.contract.rebalance import RebalanceReport, WaitingWorkload
from kubectl_spread.controllers.workloads import OwnedPods, owner_of
from kubectl_spread.diagnosis.fixes.conclusion import FixSearch
from kubectl_spread.diagnosis.incomplete import undecided, unread_kinds, unread_of_filters
from kubectl_spread.diagnosis.planned_evictions import RebalanceItem, evictions, items
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict, fixes_first, is_left
from kubectl_spread.gaps import Gap, Purpose, UnreadKind
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import POD_DISRUPTION_BUDGET, WORKLOAD_KINDS
from kubectl_spread.rebalance.checkpoints import Checkpoints, checkpoints
from kubectl_spread.rebalance.movable import Undecided
from kubectl_spread.rebalance.plan import CUT_SHORT, Asked, Outcome, plan, plan_notes
from kubectl_spread.scheduler.framework import Handle

WORST_FIRST = tuple(RebalanceVerdict)
# The kinds that the whole plan needs; items list what their own Pods need.
NEEDED = frozenset((*WORKLOAD_KINDS, POD_DISRUPTION_BUDGET))
# How long the search for what opens the domains that evictions cannot reach may take, of all constraints together.
FIX_SECONDS = 5.0


class RebalanceOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What ``rebalance`` is asked beyond its scope.

    ``names`` are (kind, name); empty for all. ``soft``: ScheduleAnyway constraints must hold too.
    """

    names: tuple[tuple[str, str], ...] = ()
    soft: bool = False
    most: int | None = None


class Rebalanced(msgspec.Struct, frozen=True):
    """A plan as it is reported, and what must hold between its evictions."""

    report: RebalanceReport
    checkpoints: Checkpoints


def rebalance(source: Source, scope: Scope, options: RebalanceOptions, scheduler: SchedulerOptions) -> Rebalanced:
    """Return the fewest evictions that make the constraints of the scope hold; errors as for ``show``."""
    view = look(source, read_sets.for_moving(), scheduler, reading_devices(source)).settled
    with reporting_bad_objects(source.name, view.snapshot):
        workloads = tuple(wanted_workloads(view, scope, names=options.names))
        found = plan(view.handles, _goal(view, scope, options, workloads))
        budget = FixBudget(FIX_SECONDS, sum(map(is_left, found.outcomes)))

        def openings_of(outcome: Outcome) -> FixSearch:
            return budget.within(partial(fixes_first, outcome))

        scheduled = {pod.key for pod, _ in found.scheduled}
        waiting = tuple(
            WaitingWorkload(namespace=each.namespace, workload=each.ref, count=number)
            for each in sorted(workloads, key=lambda each: (each.namespace, str(each.ref)))
            if (number := sum(pod.waits and pod.key not in scheduled for pod in each.pods))
        )
        unread: dict[Gap, None] = dict.fromkeys(
            unread_kinds(view.snapshot.inventory, NEEDED.__contains__, Purpose.REBALANCE)
        )
        stay = (reason for outcome in found.outcomes for _, reason in outcome.stay)
        of_pods = (reason.gap for reason in stay if isinstance(reason, Undecided))
        unread |= dict.fromkeys(
            replace(gap, purpose=Purpose.REBALANCE) if isinstance(gap, UnreadKind) else gap for gap in of_pods
        )
        report = RebalanceReport(
            metadata=view.metadata,
            evictions=tuple(evictions(found, view.snapshot)),
            pending=sum(each.count for each in waiting),
            waiting=waiting,
            schedulable=len(found.scheduled) or UNSET,
            notes=tuple(plan_notes(found, view.snapshot)),
            items=tuple(sorted(items(found, openings_of), key=_worst_first)),
            search="bounded" if any(each.ended in CUT_SHORT for each in found.outcomes) else "complete",
            orders="all" if found.whole else "sampled",
            scored="some" if found.sampled else "all",
            incomplete=(*view.incomplete, *unread),
        )
        return Rebalanced(report, checkpoints(found, view.snapshot))


def _goal(view: View, scope: Scope, options: RebalanceOptions, workloads: Iterable[OwnedPods]) -> Asked:
    """Return which constraints must hold, and which Pods may be evicted: those asked about, where some are."""
    wanted = {(workload.namespace, workload.ref) for workload in workloads}
    some = scope.kinds or options.names or not scope.selector.empty

    def is_wanted(workload: OwnedPods) -> bool:
        return (workload.namespace, workload.ref) in wanted

    def may_go(pod: Pod) -> bool:
        return not some or (pod.metadata.namespace, owner_of(pod, view.snapshot)) in wanted

    def unknown(pod: Pod, handle: Handle) -> Gap | None:
        return next(chain(unread_of_filters(pod, handle, Purpose.SCHEDULING), undecided(pod, handle)), None)

    return Asked(wanted=is_wanted, may_go=may_go, unknown=unknown, soft=options.soft, most=options.most)


def _worst_first(item: RebalanceItem) -> tuple[int, str, str, int]:
    return WORST_FIRST.index(item.verdict), item.namespace, str(item.workload), item.constraint.index
