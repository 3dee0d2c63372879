"""The status of a workload's constraint: what ``show`` concludes, one type for each, with its facts."""

from __future__ import annotations

from enum import Enum, StrEnum, auto
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from kubectl_spread.diagnosis.preemption import Preemption
    from kubectl_spread.diagnosis.root_cause import Blame
    from kubectl_spread.gaps import Gap


class SpreadStatus(StrEnum):
    """The status of a workload for one of its constraints, worst first."""

    NO_DOMAINS = "NoDomains"
    BLOCKED = "Blocked"
    FAILED_CREATE = "FailedCreate"
    UNSCHEDULABLE = "Unschedulable"
    VIOLATED = "Violated"
    NO_EFFECT = "NoEffect"
    INCOMPLETE = "Incomplete"
    UNEVEN = "Uneven"
    OK = "OK"


# The statuses of a constraint that is broken, or of a next Pod that is not created or finds no node.
SEVERE = frozenset(tuple(SpreadStatus)[: tuple(SpreadStatus).index(SpreadStatus.VIOLATED) + 1])


class Idle(Enum):
    """Why a constraint has no effect."""

    NO_NODE_HAS_KEY = auto()
    NO_NODE_COUNTS = auto()
    NO_SELECTOR = auto()
    EMPTY_SELECTOR = auto()
    MATCHES_OTHERS = auto()
    EACH_ALONE = auto()
    ONE_DOMAIN = auto()


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all; the name of each is its type's."""

    @property
    def name(self) -> SpreadStatus:
        """The name of the status."""
        return SpreadStatus(type(self).__name__)


class NoDomains(Status, frozen=True, kw_only=True):
    """No node has the topology key of a hard constraint; ``similar`` is a label that may be meant, empty for none."""

    topology_key: str
    similar: str = ""


class Blocked(Status, frozen=True, kw_only=True):
    """The constraint, by its index, is one of those that leave no node for the next Pod."""

    index: int
    blame: Blame


class FailedCreate(Status, frozen=True, kw_only=True):
    """The API server would refuse the next Pod, with this message."""

    message: str


class Unschedulable(Status, frozen=True, kw_only=True):
    """The next Pod finds no node, and no constraint is the cause."""

    blame: Blame


class Violated(Status, frozen=True, kw_only=True):
    """The skew of a hard constraint exceeds its maxSkew (Pods)."""

    skew: int
    max_skew: int


class NoEffect(Status, frozen=True, kw_only=True):
    """The constraint has no effect."""

    why: Idle
    topology_key: str


class Incomplete(Status, frozen=True, kw_only=True):
    """Something that may decide about the next Pod is unknown."""

    gap: Gap


class Uneven(Status, frozen=True, kw_only=True):
    """The skew of a soft constraint exceeds its maxSkew (Pods)."""

    skew: int
    max_skew: int


class OK(Status, frozen=True, kw_only=True):
    """Nothing worse holds."""

    preemption: Preemption | None = None  # the Pods that the scheduler evicts for the next Pod; None for none
    manager: str = ""  # what creates the Pods of a Job instead of kube-controller-manager; empty if that does
    gates: tuple[str, ...] = ()  # the scheduling gates that hold the Pod back


class BlockedBy(msgspec.Struct, frozen=True, kw_only=True):
    """Constraints keep one more replica from every node.

    They are given by the domains that nothing can fill, or else by the topology key.
    """

    constraints: tuple[tuple[str, ...], ...]


class NoMoreWanted(msgspec.Struct, frozen=True):
    """The workload has all the Pods that it wants."""


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """How many more replicas find a node, one after another."""

    more: int  # how many do (count), before the first that does not
    tried: int  # how many were tried (count)
    # what stops that one; None if all tried replicas found a node
    then: Status | BlockedBy | NoMoreWanted | None = None
