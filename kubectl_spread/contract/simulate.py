"""The report of ``simulate``, and what ``-o json`` adds to its steps."""

from collections.abc import Sequence
from typing import Literal

from kubectl_spread.contract.leaf import Leaf
from kubectl_spread.contract.report import Metadata, Report
from kubectl_spread.diagnosis.step_changes import PendingPods, SimulatedStep
from kubectl_spread.gaps import Gap
from kubectl_spread.simulation.steps import Blocked
from kubectl_spread.wording.simulate import blocked_text, outcome_notes, step_notes, why_pending


class SimulateReport(Report, frozen=True, kw_only=True):
    """The answer of ``simulate``."""

    api_version: Literal["spread.kubectl.dev/v1alpha2"] = "spread.kubectl.dev/v1alpha2"
    kind: Literal["SimulateReport"] = "SimulateReport"
    metadata: Metadata
    steps: tuple[SimulatedStep, ...]
    incomplete: tuple[Gap, ...] = ()


def namespace(blocked: Blocked) -> str:
    """The namespace of the Pod."""
    return blocked.pod.metadata.namespace


def pod(blocked: Blocked) -> str:
    """The name of the Pod."""
    return blocked.pod.metadata.name


def why(blocked: Blocked) -> str:
    """Why it is not evicted."""
    return blocked_text(blocked)


def summary(pending: PendingPods) -> str:
    """What is to blame, in a sentence or two."""
    return why_pending(pending.reasons)


def step(simulated: SimulatedStep) -> str:
    """The step, as ``drain n1``."""
    return str(simulated.step)


def notes(simulated: SimulatedStep, flags: Sequence[str]) -> tuple[str, ...]:
    """What else matters, a sentence each."""
    return (*step_notes(simulated, flags), *outcome_notes(simulated))


BLOCKED = Leaf((namespace, pod, why), frozenset({"reason", "goes_with_node"}))
PENDING = Leaf((summary,), frozenset({"reasons", "judged"}))
STEP = Leaf((step, notes), frozenset({"may_be_refused", "done", "of_manifests", "outcome"}))
