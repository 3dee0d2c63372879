"""The constraint that lowers what an outage takes of a workload, or keeps it low; each is simulated."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial, reduce
from operator import or_
from typing import TypeAlias

import msgspec

from kubectl_spread.controllers.injected_fields import like
from kubectl_spread.controllers.next_pod import is_of_newest_revision
from kubectl_spread.controllers.templates import REVISION_LABELS, template_of
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef, belongs_to, owner_of
from kubectl_spread.diagnosis.after_loss import lose
from kubectl_spread.diagnosis.audit import RISKS, AuditedKey, AuditItem, Risk, Suggestion, audit, bound_pods
from kubectl_spread.diagnosis.fixes.candidate import with_edits
from kubectl_spread.diagnosis.fixes.change import JsonValue, Operations, PatchOperation
from kubectl_spread.diagnosis.fixes.constraints import HONOR
from kubectl_spread.diagnosis.fixes.patch import append, pointer, remove, set_to
from kubectl_spread.diagnosis.fixes.rollout import MOST_PODS, MOST_WORK, resumed
from kubectl_spread.diagnosis.fixes.route import change_owner
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from kubectl_spread.objects.workloads import Deployment, StatefulSet
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.outcomes import StepOutcomes, simulate
from kubectl_spread.simulation.steps import Step, Verb

CONSTRAINTS = "topologySpreadConstraints"
MOST_LOST = 8  # Domains with most Pods (count) that are lost one by one; these may be many nodes, and few zones


# The Pods by which its rollout has not finished (count), workload → Pods of others that wait (count), and its audit.
Seen: TypeAlias = tuple[int, Counter[tuple[str, WorkloadRef]], AuditItem | None]


def suggestion(workload: OwnedPods, item: AuditItem, handles: Handles) -> Suggestion | None:
    """Return the constraint for the worst key that one helps; None if there is none, or no controller rolls it out."""
    if not isinstance(workload.owner, Deployment | StatefulSet) or len(workload.pods) > MOST_PODS:
        return None
    keys = (key for key in item.keys if key.risk not in {Risk.OK, Risk.UNAVOIDABLE})
    trial = _Trial(workload, workload.owner, item, handles)
    tried = (trial.of(key, when) for key in sorted(keys, key=lambda key: RISKS.index(key.risk)) for when in WHEN)
    return next(filter(None, tried), None)


WHEN = (WhenUnsatisfiable.DO_NOT_SCHEDULE, WhenUnsatisfiable.SCHEDULE_ANYWAY)


class _Trial(msgspec.Struct, frozen=True):
    """A workload for which constraints are tried."""

    workload: OwnedPods
    owner: Deployment | StatefulSet
    item: AuditItem
    handles: Handles

    def of(self, key: AuditedKey, when: WhenUnsatisfiable) -> Suggestion | None:
        """Return the constraint on the key; None if it does not help, or if a hard one does not survive a loss."""
        pod, handle = bound_pods(self.workload)[0], self.handles.named(template_of(self.owner).spec.scheduler_name)
        edit = partial(_edit, key.topology_key, _wanted(self.owner, pod, handle, when))
        route = change_owner([edit], Situation(pod=like(pod, f"{pod.metadata.name}-next"), handle=handle), ())
        if route.fragment is None or not (route.effect and route.effect.followed):
            return None
        changed = resumed(with_edits(self.owner, [edit]))
        applied = Step(Verb.APPLY, "", merged=(changed,))
        outcomes = self._simulated(applied)
        ends = _ends(outcomes)
        found = [key_of(audited, key.topology_key) for *_, audited in ends if audited]
        loss = max((each.loss for each in found), default=0)
        # A risk of another key may not become worse either.
        worse = (RISKS.index(audited.risk) < RISKS.index(self.item.risk) for *_, audited in ends if audited)
        if len(found) < len(ends) or loss >= key.loss + (key.risk is Risk.UNPROTECTED) or any(worse):
            return None
        if any(own for own, *_ in ends) or _leaves_more(outcomes):
            return None
        if when is WhenUnsatisfiable.DO_NOT_SCHEDULE:
            for value in dict.fromkeys(value for each in found for value in each.worst[:MOST_LOST]):
                if any(own for own, *_ in _ends(self._simulated(applied, lose(key.topology_key, value, handle)))):
                    return None
        own = template_of(changed).spec.topology_spread_constraints
        (constraint,) = (
            each for each in own if (each.topology_key, each.when_unsatisfiable) == (key.topology_key, when)
        )
        return Suggestion(
            topology_key=key.topology_key,
            weakens=_is_hard(self.owner, key.topology_key) and when is WhenUnsatisfiable.SCHEDULE_ANYWAY,
            loss_after=loss,
            constraint=msgspec.json.decode(msgspec.json.encode(constraint)),
            route=route,
        )

    def _simulated(self, *steps: Step) -> StepOutcomes[Seen]:
        """Return what was seen of the steps."""
        ref, namespace = self.workload.ref, self.workload.namespace
        keys = tuple(key.topology_key for key in self.item.keys)

        def look(cluster: ClusterState, number: int) -> Seen:
            there = (pod for pod in cluster.pods.values() if pod.metadata.namespace == namespace and not pod.finished)
            pods = tuple(pod for pod in there if belongs_to(pod, ref, cluster.snapshot))
            seen, last = (
                OwnedPods(namespace, ref, cluster.snapshot.workload(namespace, ref.kind, ref.name), pods),
                len(steps),
            )
            audited = audit(seen, cluster.settled().of(pods[0]), keys) if number == last and pods else None
            # A quota may refuse the Pods of the new revision: none of them is Pending then.
            left = sum(pod.waits or is_of_newest_revision(pod, cluster.snapshot) is False for pod in pods)
            others = Counter(
                (each.metadata.namespace, owner)
                for each in cluster.waiting.values()
                if (owner := owner_of(each, cluster.snapshot)) != ref or each.metadata.namespace != namespace
            )
            return left + max(self.owner.spec.replicas_wanted - len(pods), 0), others, audited

        return simulate(self.handles, steps, look, most_work=MOST_WORK)


def _ends(outcomes: StepOutcomes[Seen]) -> list[Seen]:
    return [after.seen for after in outcomes.after(-1)]


def _leaves_more(outcomes: StepOutcomes[Seen]) -> bool:
    """Whether more Pods of another workload wait in any order than without the steps, as those that are preempted."""
    waiting = [others for _, others, _ in _ends(outcomes)]
    if not any(waiting):
        return False
    alone = reduce(or_, (others for _, others, _ in outcomes.left_alone()))
    return any(others - alone for others in waiting)


def key_of(item: AuditItem, topology_key: str) -> AuditedKey:
    """Return what was found of the key."""
    return next(each for each in item.keys if each.topology_key == topology_key)


def _wanted(
    owner: Deployment | StatefulSet, pod: Pod, handle: Handle, when: WhenUnsatisfiable
) -> Mapping[str, JsonValue]:
    """Return the fields of the constraint, by their names in the API, without the topology key."""
    labels = [label for label in REVISION_LABELS if label in pod.metadata.labels]
    counted = handle.profile.does(Behaviour.MATCH_LABEL_KEYS)
    return {
        "maxSkew": 1,
        "whenUnsatisfiable": when.value,
        "labelSelector": msgspec.to_builtins(owner.spec.selector),
        **({"matchLabelKeys": labels} if labels and counted else {}),
        **({"nodeTaintsPolicy": HONOR} if handle.index.tainted else {}),
    }


def _is_hard(owner: Deployment | StatefulSet, topology_key: str) -> bool:
    """Whether the first constraint on the key, which a suggestion changes, is hard."""
    own = template_of(owner).spec.topology_spread_constraints
    found = (each.when_unsatisfiable for each in own if each.topology_key == topology_key)
    return next(found, None) == WhenUnsatisfiable.DO_NOT_SCHEDULE


def _edit(topology_key: str, wanted: Mapping[str, JsonValue], template: PodTemplateSpec) -> Operations:
    """Return the operations that add the constraint, or change the first one on the key to it."""
    own = template.spec.topology_spread_constraints
    at = next((index for index, each in enumerate(own) if each.topology_key == topology_key), None)
    if at is None:
        return (append(pointer("spec", CONSTRAINTS), own, {"topologyKey": topology_key, **wanted}),)
    return tuple(_changes(msgspec.to_builtins(own[at]), wanted, pointer("spec", CONSTRAINTS, at)))


def _changes(there: Mapping[str, JsonValue], wanted: Mapping[str, JsonValue], path: str) -> Iterator[PatchOperation]:
    """Yield the operations that give a constraint these fields."""
    for field, value in wanted.items():
        if there.get(field) != value:
            yield set_to(f"{path}/{field}", value)
    if wanted["whenUnsatisfiable"] == WhenUnsatisfiable.SCHEDULE_ANYWAY and "minDomains" in there:
        yield remove(f"{path}/minDomains")
