"""``audit``: what an outage of one domain takes of each workload."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.commands import read_sets
from kubectl_spread.commands.bad_objects import reporting_bad_objects
from kubectl_spread.commands.fix_budget import SECONDS, FixBudget
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import handle_of_next_pod, wanted_workloads
from kubectl_spread.commands.source import Source
from kubectl_spread.commands.view import SchedulerOptions, View, look, reading_devices
from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.controllers.workloads import OwnedPods
from kubectl_spread.diagnosis.after_loss import with_losses
from kubectl_spread.diagnosis.audit import RISKS, AuditItem, bound_pods, is_audited
from kubectl_spread.diagnosis.audit import audit as audited
from kubectl_spread.diagnosis.fixes.situation import Spent
from kubectl_spread.diagnosis.incomplete import unread_kinds
from kubectl_spread.diagnosis.observer import Key
from kubectl_spread.diagnosis.suggestion import suggestion
from kubectl_spread.gaps import Purpose
from kubectl_spread.objects.kinds import POD_DISRUPTION_BUDGET, WORKLOAD_KINDS
from kubectl_spread.scheduler.framework import Handles

NEEDED = frozenset((*WORKLOAD_KINDS, POD_DISRUPTION_BUDGET))


class AuditOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What ``audit`` is asked beyond its scope."""

    names: tuple[tuple[str, str], ...] = ()  # (kind in lower case, name) of the workloads; empty for all
    keys: tuple[str, ...] = ()  # the topology keys; empty for those of §17
    every: bool = False  # whether workloads with one Pod are shown
    after_loss: bool = False  # whether the loss of the worst domains is simulated, as it is for named workloads
    suggest: bool = False  # whether constraints are suggested, as they are for named workloads


class AuditAnswer(msgspec.Struct, frozen=True):
    """What ``audit`` found, and in what."""

    report: AuditReport
    view: View


def audit(source: Source, scope: Scope, options: AuditOptions, scheduler: SchedulerOptions) -> AuditAnswer:
    """Return what an outage takes of the workloads of the scope; errors as for ``show``."""
    view = look(source, read_sets.for_moving(), scheduler, reading_devices(source))
    with reporting_bad_objects(source.name, view.snapshot):
        found = [each for each in wanted_workloads(view, scope, names=options.names) if is_audited(each)]
        shown = [each for each in found if options.every or options.names or len(bound_pods(each)) > 1]
        known = not view.snapshot.inventory.nodes_unread
        items = [audited(each, handle_of_next_pod(each, view), options.keys) for each in shown if known]
        ordered = worst_first(filter(None, items))
        if options.after_loss or options.names:
            ordered = (*with_losses(ordered, view.settled.handles),)
        searched = len(ordered)
        if options.suggest or options.names:
            owned = {(each.namespace, each.ref): each for each in shown}
            search = partial(_suggesting, ordered, owned, view.settled.handles)
            suggested = FixBudget(SECONDS, 1).within(search)
            ordered, searched = (*suggested, *ordered[len(suggested) :]), len(suggested)
        report = AuditReport(
            metadata=view.metadata,
            items=ordered,
            not_searched=len(ordered) - searched,
            left_out=sum(len(bound_pods(each)) == 1 for each in found if each not in shown),
            incomplete=(
                *view.incomplete,
                *unread_kinds(view.snapshot.inventory, NEEDED.__contains__, Purpose.WORKLOADS),
            ),
        )
    return AuditAnswer(report, view)


def _suggesting(
    items: Sequence[AuditItem], owned: Mapping[Key, OwnedPods], handles: Handles, spent: Spent
) -> Sequence[AuditItem]:
    """Return the first of the items with suggestions, as many as there is time for, but one in any case."""
    found = list[AuditItem]()
    for each in items:
        if found and spent():
            break
        found.append(replace(each, suggestion=suggestion(owned[each.namespace, each.workload], each, handles) or UNSET))
    return found


def worst_first(items: Iterable[AuditItem]) -> tuple[AuditItem, ...]:
    """Return the items by risk, then by name; those of one name as they are."""
    return tuple(sorted(items, key=lambda item: (RISKS.index(item.risk), item.namespace, str(item.workload))))
