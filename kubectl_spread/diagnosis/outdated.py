"""Pods that wait with an older template than their controller has now, and that it does not replace."""

from __future__ import annotations

from kubectl_spread.controllers.next_pod import is_of_template, replacement
from kubectl_spread.controllers.workloads import controller_of
from kubectl_spread.diagnosis.evaluation import Judgement, judge
from kubectl_spread.objects.core import ReplicationController
from kubectl_spread.objects.workloads import DaemonSet, ReplicaSet, StatefulSet
from kubectl_spread.scheduler import cycle

RECREATING = (StatefulSet, ReplicaSet, ReplicationController, DaemonSet)
"""Controllers that recreate a deleted Pod from their own template."""


def judged_anew(judgement: Judgement) -> Judgement | None:
    """Return the decision about the Pod that replaces this one once it is deleted.

    None if some node takes this one, or if its template is the newest.

    Raises:
        ValueError: as for ``judge``.
    """
    pod, handle = judgement.evaluation.pod, judgement.handle
    owner = controller_of(pod, handle.snapshot)
    if judgement.blame is None or not isinstance(owner, RECREATING):
        return None
    again = replacement(pod, handle.snapshot, handle.profile)
    if again.refusals or is_of_template(pod, again.pod, owner):
        return None
    after = again.place(handle)
    return judge(cycle.evaluate(again.pod, after), after)
