"""What becomes of audited workloads once a domain is lost: as ``simulate --lose`` has it."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import OwnedPods
from kubectl_spread.diagnosis.audit import AfterLoss, AuditedKey, AuditItem
from kubectl_spread.diagnosis.observer import Observer
from kubectl_spread.diagnosis.step_changes import SimulatedStep, step_changes
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.simulation.outcomes import simulate
from kubectl_spread.simulation.steps import NotReplaced, Step, Verb

MOST_NODES = 16_000  # Nodes (count) of all simulations of a loss together; those of the worst workloads come first
LEAST_LOSSES = 3  # Domains (count) whose loss is simulated in any case


def lose(topology_key: str, value: str, handle: Handle) -> Step:
    """Return the step in which all nodes of a domain fail."""
    return Step(Verb.LOSE, f"{topology_key}={value}", nodes=handle.index.domains(topology_key)[value])


def with_losses(items: Sequence[AuditItem], handles: Handles) -> Iterator[AuditItem]:
    """Yield the items with what happens after the loss of the first of the worst domains of each key."""
    most = max(MOST_NODES // max(len(handles.default.node_infos), 1), LEAST_LOSSES)
    audited, known = {(each.namespace, each.workload) for each in items}, dict[tuple[str, str], SimulatedStep]()

    def is_audited(workload: OwnedPods) -> bool:
        return (workload.namespace, workload.ref) in audited

    def after(item: AuditItem, key: AuditedKey) -> AuditedKey:
        lost = key.topology_key, next(iter(key.worst), "")
        if not key.worst or (lost not in known and len(known) >= most):
            return key
        if lost not in known:
            steps = [lose(*lost, handles.default)]
            (known[lost],) = step_changes(
                steps, simulate(handles, steps, Observer(handles.snapshot, is_audited, defaults=False))
            )
        pending = (
            each for each in known[lost].pending if (each.namespace, each.workload) == (item.namespace, item.workload)
        )
        stay = (each for each in known[lost].done if isinstance(each, NotReplaced) and each.ref == item.workload)
        own = [each for each in stay if each.pods[0][0] == item.namespace]
        not_replaced = sum(len(each.pods) for each in own)
        return replace(key, after=AfterLoss(domain=lost[1], pending=next(pending, UNSET), not_replaced=not_replaced))

    for item in items:
        yield replace(item, keys=tuple(after(item, key) for key in item.keys))
