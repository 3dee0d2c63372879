"""The next rollout of a workload that a manifest has placed: whether it can finish."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from kubectl_spread.controllers.templates import HASH_LABEL
from kubectl_spread.controllers.workloads import WorkloadRef, owner_of
from kubectl_spread.diagnosis.counted_together import spread_together
from kubectl_spread.diagnosis.findings import RolloutWillStick
from kubectl_spread.diagnosis.fixes.rollout import MOST_WORK
from kubectl_spread.diagnosis.requirements import rejected_nodes
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.workloads import (
    RECREATE,
    ROLLING_UPDATE,
    Deployment,
    RollingUpdate,
    UpdateStrategy,
)
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.podtopologyspread import count_all, parsable_constraints
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.outcomes import simulate
from kubectl_spread.simulation.steps import Step, Verb

# A Deployment with more replicas (count), or Pods that are tried on more nodes (count), is not simulated.
MOST_REPLICAS, MOST_VERDICTS = 100, 100_000


def next_rollout(
    deployment: Deployment, applied: Sequence[KubernetesObject], handles: Handles
) -> RolloutWillStick | None:
    """Return that a rollout of the Deployment sticks after these objects are applied; None if it finishes.

    None too if it replaces all Pods at once, is paused, or is too large to simulate.
    """
    replicas = deployment.spec.replicas_wanted
    verdicts = replicas * len(handles.snapshot.nodes)
    is_small = 0 < replicas <= MOST_REPLICAS and verdicts <= MOST_VERDICTS
    if deployment.spec.paused or deployment.spec.strategy.type == RECREATE or not is_small:
        return None
    run = partial(_ends, applied=applied, handles=handles)
    ends = run(deployment)
    stuck = [each for each in ends if each]
    if not stuck:
        return None
    waits, handle = stuck[0]
    counts = count_all(parsable_constraints(waits, handle), waits, handle)
    rejected = rejected_nodes(cycle.evaluate(waits, handle), tuple(it for it in counts if it.constraint.hard), handle)
    return RolloutWillStick(
        owner=WorkloadRef(kind=Deployment.__name__, name=deployment.metadata.name),
        by_chance=len(stuck) < len(ends),
        requirements=tuple(rejected),
        max_unavailable=_least_unavailable(deployment, run),
        topology_keys=tuple(_separable(deployment, waits, handle, run)),
    )


_End = tuple[Pod, Handle] | None
_Run = Callable[[Deployment], Sequence[_End]]


def _ends(changed: Deployment, *, applied: Sequence[KubernetesObject], handles: Handles) -> Sequence[_End]:
    """Return, for each order of chance, a Pod of the Deployment that finds no node in the end; None for none."""
    ref = WorkloadRef(kind=Deployment.__name__, name=changed.metadata.name)
    objects = tuple(changed if isinstance(each, Deployment) and each.key == changed.key else each for each in applied)
    restart = Step(Verb.RESTART, "", namespace=changed.metadata.namespace, ref=ref)

    def look(cluster: ClusterState, _: int) -> _End:
        own = (pod for pod in cluster.waiting.values() if pod.metadata.namespace == changed.metadata.namespace)
        waits = next((pod for pod in own if owner_of(pod, cluster.snapshot) == ref), None)
        return (waits, cluster.handles.of(waits)) if waits else None

    steps = (Step(Verb.APPLY, "", merged=objects), restart)
    found = simulate(handles, steps, look, most_verdicts=MOST_VERDICTS, most_work=MOST_WORK)
    before, after = found.after(0), found.after(1)
    settled = all(each.done.settled and not each.done.untried for each in (*before, *after))
    # A Deployment whose Pods wait before the rollout is told otherwise.
    return [each.seen for each in after] if settled and not any(each.seen for each in before) else ()


def _least_unavailable(deployment: Deployment, run: _Run) -> int | None:
    """Return the least maxUnavailable with which the rollout finishes without surge; None if none does."""

    def finishes(most: int) -> bool:
        bounds = RollingUpdate(max_surge=0, max_unavailable=most)
        spec = replace(deployment.spec, strategy=UpdateStrategy(type=ROLLING_UPDATE, rolling_update=bounds))
        ends = run(replace(deployment, spec=spec))
        return bool(ends) and not any(ends)

    tried = (1, deployment.spec.replicas_wanted)
    return next((most for most in dict.fromkeys(tried) if finishes(most)), None)


def _separable(deployment: Deployment, waits: Pod, handle: Handle, run: _Run) -> Iterator[str]:
    """Yield the topology keys of the constraints with which each revision counted alone lets the rollout finish."""
    template, spec = deployment.spec.template, deployment.spec.template.spec
    for constraint in parsable_constraints(waits, handle) if handle.profile.does(Behaviour.MATCH_LABEL_KEYS) else ():
        own = spec.topology_spread_constraints[constraint.index : constraint.index + 1]
        if constraint.default or not constraint.hard or not own or HASH_LABEL in own[0].match_label_keys:
            continue
        if spread_together(waits, constraint, handle):
            continue
        one = replace(own[0], match_label_keys=(*own[0].match_label_keys, HASH_LABEL))
        constraints = [one if each is own[0] else each for each in spec.topology_spread_constraints]
        changed = replace(template, spec=replace(spec, topology_spread_constraints=tuple(constraints)))
        ends = run(replace(deployment, spec=replace(deployment.spec, template=changed)))
        if ends and not any(ends):
            yield constraint.topology_key
