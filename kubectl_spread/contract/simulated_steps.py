"""The result of a simulation, in the JSON contract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import UNSET

from kubectl_spread.contract.evaluation import summary_of
from kubectl_spread.contract.incomplete import incomplete_entries
from kubectl_spread.contract.simulate import (
    BlockedPod,
    DeletedPods,
    EvictedPod,
    PendingPods,
    RefusedManifest,
    SimulatedStep,
)
from kubectl_spread.controllers.workloads import owner_of, revision_of
from kubectl_spread.diagnosis.evaluation import Decision
from kubectl_spread.diagnosis.step_changes import StepChange, WaitingPods, WaitingRevision
from kubectl_spread.errors import ManifestProblem
from kubectl_spread.objects.core import Pod
from kubectl_spread.simulation.steps import BoundByName
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.simulate import blocked_text, note_text, outcome_text
from kubectl_spread.wording.words import held_by_gates


def simulated_step(
    change: StepChange,
    connection_flags: Sequence[str],
    of_manifests: Iterable[str],
    refused: Iterable[ManifestProblem] = (),
) -> SimulatedStep:
    """Return the result of one step, with these connection flags in the commands, and notes on applied manifests.

    ``refused``: why other manifests are not applied.
    """
    done = change.done
    notes = (note_text(note, connection_flags) for note in done.notes)
    return SimulatedStep(
        step=str(change.step),
        refused=tuple(
            RefusedManifest(source=each.source, document=each.document, field=each.field_path, message=each.message)
            for each in refused
        )
        or UNSET,
        evicted=_evicted_pods(done.evicted, change.before),
        blocked=tuple(
            BlockedPod(namespace=each.pod.metadata.namespace, pod=each.pod.metadata.name, why=blocked_text(each))
            for each in done.blocked
        ),
        lost=_evicted_pods(done.lost, change.before),
        preempted=_evicted_pods(change.preempted, change.before),
        pdb_violations=change.pdb_violations or UNSET,
        deleted=tuple(
            DeletedPods(namespace=each.key[0], workload=each.key[1], count=each.number) for each in change.fewer
        ),
        pending=tuple(map(_pending_pods, change.waiting)),
        newly_pending=change.newly_pending,
        never_run=sum(each.number for each in done.notes if isinstance(each, BoundByName) and each.absent) or UNSET,
        untried=change.untried or UNSET,
        items=change.constraints,
        orders=change.orders,
        notes=(*notes, *of_manifests, *map(outcome_text, change.notes)),
    )


def _evicted_pods(pods: Iterable[Pod], before: Snapshot) -> tuple[EvictedPod, ...]:
    return tuple(
        EvictedPod(
            namespace=pod.metadata.namespace,
            workload=owner_of(pod, before),
            pod=pod.metadata.name,
            node=pod.spec.node_name,
        )
        for pod in pods
    )


def _pending_pods(waiting: WaitingPods) -> PendingPods:
    namespace, ref = waiting.key
    explained = _explained(waiting.revisions)
    gaps = (gap for _, decision in explained for gap in incomplete_entries(decision.gaps))
    return PendingPods(
        namespace=namespace,
        workload=ref,
        count=waiting.counts[0],
        before=waiting.before,
        range=(min(waiting.counts), max(waiting.counts)),
        message=(explained[0][1].message or "") if explained else "",
        summary=" ".join(summary for summary, _ in explained),
        incomplete=tuple(dict.fromkeys(gaps)),
    )


def _explained(revisions: tuple[WaitingRevision, ...]) -> list[tuple[str, Decision]]:
    """Return the summary of the first Pods, and of all others with another one, with the decision."""
    found: list[tuple[str, Decision]] = []
    for each in revisions:
        held = each.pod.spec.gates
        named = f"{'/'.join(each.pod.key)} is {held_by_gates(held)}." if held else ""
        summary = named or summary_of(each.decision, named=False)
        if not found:
            found.append((summary, each.decision))
        elif summary != found[0][0]:
            revision = ", of another revision" if revision_of(each.pod) != revision_of(revisions[0].pod) else ""
            found.append((f"{each.number} of them{revision}: {summary}", each.decision))
    return found
