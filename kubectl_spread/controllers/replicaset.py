"""ReplicaSets and ReplicationControllers: which of their Pods are active, and which they delete first.

Source: kube-controller-manager pkg/controller/replicaset/replica_set.go manageReplicas, getPodsToDelete;
pkg/controller/controller_utils.go ActivePodsWithRanks (v1.36). Not modelled: restarts of containers.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cmp_to_key

import msgspec

from kubectl_spread.controllers.templates import is_made_up
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import POD_DELETION_COST
from kubectl_spread.objects.times import moment

_COST = re.compile(r"0|-?[1-9][0-9]{0,9}")
_LIMIT = 2**31
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
READY = "Ready"


def active(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Return the Pods that have not finished and are not terminating."""
    return tuple(pod for pod in pods if not (pod.finished or pod.terminating))


class Victims(msgspec.Struct, frozen=True):
    """The Pods that a controller deletes, in order; ``free``: whether it could have chosen others."""

    pods: tuple[Pod, ...]
    free: bool


def victims(
    pods: Sequence[Pod],
    related: Iterable[Pod],
    *,
    number: int,
    moments: Sequence[datetime],
    order: Callable[[str], str],
) -> Victims:
    """Return which of the Pods are deleted if their controller has ``number`` too many (count).

    ``related``: the Pods of all ReplicaSets of the same Deployment. ``moments``: the times that it may be; the first
    decides which Pods are deleted. ``order``: Pod's name → sort key, if nothing else decides.

    Source: replica_set.go getPodsToDelete, getPodsRankedByRelatedPodsOnSameNode.
    """
    if number >= len(pods):
        return Victims(tuple(pods), free=False)
    on_node = Counter(pod.spec.node_name for pod in active(related))
    listed = sorted(pods, key=lambda pod: order(pod.metadata.name))
    # upstream: UIDs may sort other Pods between two of the same age; then the order of the list decides.
    rankings = (cmp_to_key(_Ranking(on_node, now, order).compare) for now in moments)
    found = (sorted(each, key=ranking)[:number] for ranking in rankings for each in (listed, listed[::-1]))
    going = next(found)
    names = {pod.key for pod in going}
    return Victims(tuple(going), free=any({pod.key for pod in each} != names for each in found))


class _Ranking(msgspec.Struct, frozen=True):
    """The order in which Pods are deleted."""

    on_node: Counter[str]  # node's name → related Pods on it (count)
    now: datetime
    order: Callable[[str], str]  # Pod's name → sort key for a Pod without a UID

    def compare(self, first: Pod, second: Pod) -> int:
        """Return less than 0 if the first Pod is deleted before the second, 0 if they are equal.

        Source: controller_utils.go ActivePodsWithRanks.Less.
        """
        ours, theirs = self._rank(first), self._rank(second)
        if ours != theirs:
            return -1 if ours < theirs else 1
        both_ready = first.ready and second.ready
        of_ready = (_ready_since(first), _ready_since(second)) if both_ready else (None, None)
        # The youngest first, by the logarithm of their ages; if that is equal, by UID.
        for one, other in (of_ready, (first.metadata.creation_timestamp, second.metadata.creation_timestamp)):
            if one != other:
                difference = self._magnitude(one) - self._magnitude(other)
                return difference or (-1 if self._uid(first) < self._uid(second) else 1)
        return 0

    def _rank(self, pod: Pod) -> tuple[bool, int, bool, int, int]:
        # Source: pkg/apis/core/v1/helper/helpers.go GetDeletionCostFromPodAnnotations (v1.36).
        annotated = _COST.fullmatch(pod.metadata.annotations.get(POD_DELETION_COST, ""))
        cost = int(annotated[0]) if annotated and abs(int(annotated[0])) < _LIMIT else 0
        node, phase = pod.spec.node_name, _PHASES.get(pod.status.phase, 0)
        return bool(node), phase, pod.ready, cost, -self.on_node[node]

    def _magnitude(self, since: str | None) -> int:
        """Return the logarithm of an age (ns, base 2), -1 for none. Source: controller_utils.go logarithmicRankDiff."""
        then = moment(since)
        age = (self.now - then) / timedelta(microseconds=1) if then else 0
        return int(math.log2(age * 1000)) if age > 0 else -1

    def _uid(self, pod: Pod) -> str:
        return self.order(pod.metadata.name) if is_made_up(pod.metadata.uid) else pod.metadata.uid


def _ready_since(pod: Pod) -> str | None:
    return next((c.last_transition_time for c in pod.status.conditions if c.type == READY), None)
