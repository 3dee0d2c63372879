"""SchedulingGates: a gated Pod does not enter the scheduling queue.

Source: kube-scheduler schedulinggates/scheduling_gates.go PreEnqueue (v1.36), KEP-3521.
"""

from __future__ import annotations

from kubectl_spread.objects.core import Pod

NAME = "SchedulingGates"


def gates(pod: Pod) -> tuple[str, ...]:
    """Return the names of the gates that keep the Pod out of the queue; empty for none."""
    return tuple(gate.name for gate in pod.spec.scheduling_gates)
