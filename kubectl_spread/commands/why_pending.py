"""``why-pending``: why Pods are not scheduled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.commands import read_sets
from kubectl_spread.commands.autoscaling import NO_OPTIONS, AutoscalerOptions, beside_autoscaler, copy_decision
from kubectl_spread.commands.bad_objects import reporting_bad_objects
from kubectl_spread.commands.fix_budget import FixBudget, now, seconds_for
from kubectl_spread.commands.scope import Scope, kind_of_named, near_type, not_found, unseen
from kubectl_spread.commands.source import MOST_NODES, ReadLimits, ReadMode, Source
from kubectl_spread.commands.staged import Question, look_for
from kubectl_spread.commands.view import SchedulerOptions, View
from kubectl_spread.contract.evaluation import as_item, evaluation_report, searched
from kubectl_spread.contract.pending import PendingItem, PendingReport, Siblings, with_event
from kubectl_spread.controllers.shortage import shortage_of
from kubectl_spread.controllers.statefulset import HeldUp, held_up
from kubectl_spread.controllers.workloads import (
    PodsByOwner,
    WorkloadRef,
    controller_of,
    living_pods,
    owner_of,
    owners_of,
    scheduler_of,
    workloads,
)
from kubectl_spread.diagnosis.evaluation import NOTHING, Judgement, decide, findings_for, judge, judgement_for
from kubectl_spread.diagnosis.events import last_failure
from kubectl_spread.diagnosis.fixes.choice import with_offered
from kubectl_spread.diagnosis.fixes.company import Company
from kubectl_spread.diagnosis.fixes.conclusion import NO_FIXES, PodPreemption
from kubectl_spread.diagnosis.fixes.search import fix_for, search_fixes, siblings_of
from kubectl_spread.diagnosis.fixes.situation import Situation, placed_by_owner
from kubectl_spread.diagnosis.incomplete import LINKS, unread_owners
from kubectl_spread.diagnosis.preemption import Preemption, nomination_report
from kubectl_spread.diagnosis.starting_pods import is_starting, starting_pods
from kubectl_spread.diagnosis.upcoming_pods import MOST_TRIED, NotCreated, creation_failure
from kubectl_spread.errors import ClusterError
from kubectl_spread.gaps import IN_FILES
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.devices import ResourceClaim
from kubectl_spread.objects.meta import grouped, name_order
from kubectl_spread.objects.storage import PersistentVolumeClaim, claim_name
from kubectl_spread.objects.workloads import StatefulSet
from kubectl_spread.scheduler.claims import ownership_problem
from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.simulation.placement import place_each
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.pending import starting_text
from kubectl_spread.wording.words import LIST, count_of, did_you_mean, listed

if TYPE_CHECKING:
    from kubectl_spread.commands.read_planner import Asked, Need

# Named Pods (count) that are noted as not Pending, and workloads whose Pods are noted as Pending on nodes.
MOST_NOTES = 5


class Explanation(msgspec.Struct, frozen=True):
    """Why the first Pod of a template has no node."""

    judgement: Judgement
    item: PendingItem


class _Around(msgspec.Struct, frozen=True):
    """The Pods that wait, those on nodes, and the whole cluster, in which fixes are simulated."""

    pending: PodsByOwner
    placed: PodsByOwner
    company: Company


class PendingAnswer(msgspec.Struct, frozen=True):
    """What ``why-pending`` found, with a note for each named Pod or workload with nothing Pending.

    ``starting``: a line about Pods that are Pending although they have a node, which other formats have in the report.
    """

    report: PendingReport
    notes: tuple[str, ...]
    starting: tuple[str, ...]
    view: View


def why_pending(
    source: Source,
    scope: Scope,
    scheduler: SchedulerOptions,
    *,
    autoscalers: AutoscalerOptions = NO_OPTIONS,
    fix_budget: float | None = None,
    read: ReadMode = "auto",
    most_nodes: int = MOST_NODES,
    say: Callable[[str], object] = str,
) -> PendingAnswer:
    """Return why each Pod of the scope that has no node has none; for the other arguments see ``CheckOptions``.

    ``say`` takes a line about what is being done, again and again.
    Errors are as for ``show``, here about named Pods.
    """
    limits = ReadLimits(nodes=most_nodes, confirm=read != "needed")
    view = look_for(source, _question(scope, limits, fix_budget), scheduler, read=read)
    wanted = _pods_of(scope, view)
    pending = [pod for pod in wanted if pod.waits]
    notes = [f"{listed(scope.names)} has no Pods."] if scope.names and not wanted else []
    if scope.names:
        notes += (_not_pending(pod) for pod in wanted[:MOST_NOTES] if not (pod.waits or is_starting(pod)))
    starting = tuple(starting_pods(wanted, view.snapshot))
    with reporting_bad_objects(source.name, view.snapshot):
        missing = tuple(_missing_pods(view, scope))
        budget = seconds_for(fix_budget, len(view.snapshot.nodes))
        items = tuple(_explain_each(pending, view, budget, autoscalers, say))
    unknown = [gap for kind in _kinds_asked(scope) for gap in unread_owners(scope.namespace, kind, view.snapshot)]
    refs = {str(item.workload.kind) for item in items if item.workload is not UNSET}
    for upper, link in LINKS.items():
        of_link = unread_owners(scope.namespace, upper.singular, view.snapshot) if link.name in refs else ()
        unknown += (gap for gap in of_link if gap.why not in IN_FILES)
    gaps = tuple(dict.fromkeys((*view.incomplete, *unknown)))
    report = PendingReport(metadata=view.metadata, items=items, not_created=missing, starting=starting, incomplete=gaps)
    return PendingAnswer(report, tuple(notes), tuple(map(starting_text, starting[:MOST_NOTES])), view)


def follow(
    source: Source, ask: Callable[[Source], PendingAnswer], *, say: Callable[[str], object]
) -> Iterator[PendingAnswer]:
    """Yield the answer now and whenever it changes, without end; ``ask`` reads "watched", ``say`` as for its source."""
    from kubectl_spread.commands.show import WatchedSource, each_change  # Only a watch needs it.

    yield from each_change(WatchedSource(source, say), ask)


def _kinds_asked(scope: Scope) -> Sequence[str]:
    """Return the kinds of workloads, in lower case, of which the Pods are asked for."""
    of_names = (name.partition("/")[0] for name in scope.names if "/" in name)
    return [*dict.fromkeys((*(() if scope.names else scope.kinds), *of_names))]


def _question(scope: Scope, limits: ReadLimits, fix_budget: float | None) -> Question:
    def asked(view: View) -> Asked:
        first: dict[bytes, Pod] = {}
        for pod in _pods_of(scope, view):
            if pod.waits:
                first.setdefault(_template_key(pod, view.snapshot), pod)
        return tuple((pod, view.handle(pod.spec.scheduler_name).awaiting(pod)) for pod in first.values())

    def needed(view: View) -> Need:
        from kubectl_spread.commands.read_planner import to_judge

        return to_judge(asked(view), limits)

    return Question(
        reads=read_sets.everything(scope.namespace, pending=True),
        namespaces=(scope.namespace,),
        needed=needed,
        asked=asked,
        limits=limits,
        fix_budget=fix_budget,
    )


def _pods_of(scope: Scope, view: View) -> list[Pod]:
    """Return the Pods of the scope, sorted by namespace and name, ordinals by number."""
    pods = [pod for pod in view.snapshot.all(Pod) if scope.covers(pod.metadata.namespace)]
    if scope.names:
        called = (pod for name in scope.names for pod in _pods_named(name, pods, scope, view.snapshot))
        pods = list({pod.key: pod for pod in called}.values())
    elif scope.kinds:
        pods = [pod for pod in pods if any(scope.wants(ref.kind) for ref in _owners(pod, view.snapshot))]
    return sorted((pod for pod in pods if scope.selector.matches(pod.metadata.labels)), key=name_order)


def _pods_named(name: str, pods: Sequence[Pod], scope: Scope, snapshot: Snapshot) -> list[Pod]:
    """Return the Pods that a name means: the name of a Pod or workload, or a prefix that only one Pod has."""
    found = [pod for pod in pods if pod.metadata.name == name]
    if not found and "/" not in name and (kind := kind_of_named(name, scope, snapshot)):
        name = f"{kind}/{name}"
    if "/" in name:
        found = [pod for pod in pods if name in map(str, _owners(pod, snapshot))]
        kind, _, own_name = name.partition("/")
        known = kinds.named(kind)
        if not found and (gap := next(unread_owners(scope.namespace, kind, snapshot), None)):
            read = f"{LIST}{gap.kind.plural}"
            raise ClusterError(f"cannot tell which Pods are those of {name}: {read} ({gap.why})", what=read)
        if not found and not (known and snapshot.get(known.struct, scope.namespace, own_name)):
            near = did_you_mean(name, {str(owner) for pod in pods for owner in _owners(pod, snapshot)})
            others = {pod.metadata.namespace for pod in snapshot.all(Pod) if name in map(str, _owners(pod, snapshot))}
            raise not_found(f"Pods of {name}", scope, others, near=near)
        return [pod for pod in found if pod.waits] or found
    begun = [pod for pod in pods if pod.metadata.name.startswith(name)]
    found = found or next((each for each in (begun, [pod for pod in begun if pod.waits]) if len(each) == 1), [])
    if not found:
        elsewhere = (pod.metadata.namespace for pod in snapshot.all(Pod) if pod.metadata.name == name)
        several = f"{len(begun)} have this prefix: {listed([pod.metadata.name for pod in begun])}" if begun else ""
        names = {*(pod.metadata.name for pod in pods), *(ref.name for pod in pods for ref in _owners(pod, snapshot))}
        near = several or did_you_mean(name, names) or near_type(name)
        what = f'pods "{name}"'
        raise unseen(what, (kinds.POD,), snapshot) or not_found(what, scope, elsewhere, near=near)
    return found


def _missing_pods(view: View, scope: Scope) -> Iterator[NotCreated]:
    """Yield the workloads of the scope that lack Pods because the API server refuses them."""
    for workload in workloads(view.snapshot, scope.namespace):
        ref = workload.ref
        named = not {str(ref), ref.name}.isdisjoint(scope.names) if scope.names else scope.wants(ref.kind)
        shortage = shortage_of(workload, view.snapshot) if named and scope.selects(workload) else None
        if shortage is not None:
            found = creation_failure(workload, shortage, view.handle(scheduler_of(workload)))
            yield from filter(None, (found,))


def _owners(pod: Pod, snapshot: Snapshot) -> set[WorkloadRef]:
    """Return the Pod itself and its owners, such as ``pod/web-5d9c7b6f4-x2x5q`` and ``replicaset/web-5d9c7b6f4``."""
    return {WorkloadRef(kind="Pod", name=pod.metadata.name), *(ref for ref, _ in owners_of(pod, snapshot))}


def _not_pending(pod: Pod) -> str:
    why = "it is being deleted" if pod.terminating else f"it is on {pod.spec.node_name}"
    why = f"it has ended ({pod.status.phase})" if pod.finished else why
    return f"{'/'.join(pod.key)} is not Pending: {why}."


def _explain_each(
    pods: Sequence[Pod],
    view: View,
    fix_budget: float,
    autoscalers: AutoscalerOptions,
    say: Callable[[str], object],
) -> Iterator[PendingItem]:
    """Yield an item for each Pod; Pods of one template are evaluated once, all within the budget (seconds)."""
    waiting = (pod for pod in view.snapshot.all(Pod) if pod.waits and pod.key not in view.snapshot.assumed)
    around = _Around(living_pods(waiting, view.snapshot), placed_by_owner(view.handle(), pods), Company(view.handles))
    templates = {pod.key: _template_key(pod, view.snapshot) for pod in pods}
    alike = grouped(pods, lambda pod: templates[pod.key])
    budget = FixBudget(fix_budget, len(alike))
    say(f"{count_of(len(alike), 'Pod template')}; looking for fixes")
    explained: dict[bytes, Explanation] = {}
    for pod in pods:
        template = templates[pod.key]
        if template in explained:
            yield _explain_like(explained[template], pod, view)
            continue
        found = _explain(alike[template], around, view, budget, autoscalers)
        if len(alike[template]) > 1:  # it holds a verdict on every node
            explained[template] = found
        yield found.item


def _template_key(pod: Pod, snapshot: Snapshot) -> bytes:
    """Return everything about the Pod that affects scheduling; equal for Pods that differ only in name."""
    metadata = pod.metadata
    nominated = pod.status.nominated_node_name
    own = tuple(_own_claims(pod, snapshot))
    assumed = pod.key in snapshot.assumed, pod.key in snapshot.undecided
    return msgspec.json.encode(
        (metadata.namespace, metadata.labels, pod.spec, metadata.owner_references, nominated, own, assumed)
    )


def _own_claims(pod: Pod, snapshot: Snapshot) -> Iterator[object]:
    """Yield each claim that was created for this Pod alone, without its name; None where it is missing."""
    namespace = pod.metadata.namespace
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None:
            claim = snapshot.get(PersistentVolumeClaim, namespace, claim_name(pod, volume) or "")
            yield claim and (*_without_name(claim), bool(ownership_problem(pod, volume, claim)))
    for made in pod.status.resource_claim_statuses:
        devices = snapshot.get(ResourceClaim, namespace, made.resource_claim_name or "")
        yield devices and _without_name(devices)


def _without_name(claim: PersistentVolumeClaim | ResourceClaim) -> tuple[object, ...]:
    return claim.spec, claim.status, claim.metadata.annotations, claim.metadata.deletion_timestamp


def _explain(
    alike: Sequence[Pod],
    around: _Around,
    view: View,
    budget: FixBudget,
    autoscalers: AutoscalerOptions,
) -> Explanation:
    """Return why the first of Pods alike has no node, and its fixes."""
    pod = alike[0]
    handle = view.handle(pod.spec.scheduler_name).awaiting(pod)
    known = handle.profile.serves(pod)
    situation = Situation(pod, handle, now(view.metadata), placed=around.placed)
    own = pod.metadata.namespace, owner_of(pod, handle.snapshot)
    judgement = judge(pod, handle, situation.evaluation)
    evicts = None
    if (room := judgement.preemption) and not pod.spec.gates:
        nodes = () if room.sampled else (room.node, *room.ties)
        evicts = around.company.awaited(own, PodPreemption(nodes=nodes, pods=room.victims))
    if evicts and evicts.in_vain:
        judgement = judge(pod, handle, situation.evaluation, preempts=False)
    report = evaluation_report(judgement)
    siblings = siblings_of(pod, around.pending, handle.snapshot)
    tries = known and not judgement.assumed
    found = budget.within(partial(search_fixes, situation, siblings, company=around.company)) if tries else NO_FIXES
    item = as_item(
        PendingItem,
        report,
        scheduler_name=pod.spec.scheduler_name,
        replicas=situation.replicas(siblings),
        siblings=_siblings(siblings if siblings[1:] else alike, judgement),
        held_by=pod.spec.gates,
        preemption=Preemption(read=False) if judgement.hides_victims else judgement.preemption,
        nomination=nomination_report(judgement.evaluation, handle),
    )
    if tries and judgement.evaluation.feasible and not (pod.spec.gates or item.nomination):
        left = around.company.left(own)
        item = replace(item, left=left if left and left[1] else UNSET, alone=True if left is None else UNSET)
    item = beside_autoscaler(searched(item, found), situation, siblings, autoscalers)
    if evicts and evicts.in_vain:
        item = replace(item, left_alone=(*item.left_alone, evicts))
    elif evicts:  # The scheduler itself does this next.
        item = replace(item, waits=(evicts, *item.waits))
    item = replace(item, fixes=with_offered(item))
    return Explanation(judgement, _with_event(item, pod, view))


def _siblings(pods: Sequence[Pod], judgement: Judgement) -> Siblings | UnsetType:
    """Return how many of the Pods find a node, if the first does and all Pods were read; unset for one Pod alone."""
    handle, tried = judgement.handle, pods[:MOST_TRIED]
    alone = len(pods) == 1 or judgement.assumed or pods[0].spec.gates or bool(handle.snapshot.inventory.not_read)
    if alone or not (judgement.evaluation.feasible and handle.decides(pods[0])):
        return UNSET
    ends = place_each(tried, Handles(handle))
    left, handle = ends.left, ends.handles.default
    conclusion = decide(left[0], handle).conclusion if left else NOTHING
    return Siblings(pending=len(tried), placed=len(ends.nodes), conclusion=conclusion)


def _explain_like(twin: Explanation, pod: Pod, view: View) -> PendingItem:
    """Return the explanation of a Pod that differs from the twin only in its name."""
    like, first, judgement = twin.item, twin.judgement.evaluation.pod, judgement_for(pod, twin.judgement)
    item = replace(
        like,
        name=pod.metadata.name,
        same_as=like.name,
        event=None,
        conclusion=judgement.conclusion,
        message=like.message if judgement.message is None else judgement.message,
        cause=judgement.blame.cause if judgement.blame else UNSET,
        findings=findings_for(pod, twin.judgement.findings),
        fixes=tuple(fix_for(fix, first, pod) for fix in like.fixes),
    )
    return _with_event(copy_decision(item, like), pod, view)


def _holds(pod: Pod, snapshot: Snapshot) -> HeldUp | UnsetType:
    """Return what the Pod's StatefulSet does only when this Pod is Ready or deleted; unset where it does not wait."""
    owner = controller_of(pod, snapshot)
    if not isinstance(owner, StatefulSet):
        return UNSET
    held = held_up(owner, snapshot.controlled_by(owner.as_controller, Pod))
    return held if held and held.first == pod.metadata.name else UNSET


def _with_event(item: PendingItem, pod: Pod, view: View) -> PendingItem:
    snapshot, known = view.snapshot, view.handle(pod.spec.scheduler_name).profile.serves(pod)
    item = replace(item, holds=_holds(pod, snapshot))
    chosen = None if pod.key in snapshot.undecided else pod.key in snapshot.assumed
    return with_event(item, last_failure(pod, snapshot), chosen=chosen, known=known)
