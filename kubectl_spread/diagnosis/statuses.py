"""The status of a workload's constraint: what ``show`` concludes, one type each, with its facts."""

from __future__ import annotations

from enum import Enum, StrEnum, auto
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from kubectl_spread.diagnosis.blame import Blame
    from kubectl_spread.diagnosis.preemption import Preemption
    from kubectl_spread.gaps import Gap


class SpreadStatus(StrEnum):
    """How a workload stands to one of its constraints, worst first."""

    NO_DOMAINS = "NoDomains"
    BLOCKED = "Blocked"
    FAILED_CREATE = "FailedCreate"
    UNSCHEDULABLE = "Unschedulable"
    VIOLATED = "Violated"
    NO_EFFECT = "NoEffect"
    INCOMPLETE = "Incomplete"
    UNEVEN = "Uneven"
    OK = "OK"


class Idle(Enum):
    """Why a constraint balances nothing."""

    NO_NODE_HAS_KEY = auto()
    NO_NODE_COUNTS = auto()
    NO_SELECTOR = auto()
    EMPTY_SELECTOR = auto()
    MATCHES_OTHERS = auto()
    EACH_ALONE = auto()
    ONE_DOMAIN = auto()


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all; each has the name of its type."""

    @property
    def name(self) -> SpreadStatus:
        """The status in a word."""
        return SpreadStatus(type(self).__name__)


class NoDomains(Status, frozen=True, kw_only=True):
    """No node carries the topology key of a hard constraint.

    Attributes:
        similar: a label of nodes that may be meant; empty for none.
    """

    topology_key: str
    similar: str = ""


class Blocked(Status, frozen=True, kw_only=True):
    """The constraint, by its index, is among what leaves the next Pod no node."""

    index: int
    blame: Blame


class FailedCreate(Status, frozen=True, kw_only=True):
    """The API server would refuse the next Pod, with this message."""

    message: str


class Unschedulable(Status, frozen=True, kw_only=True):
    """The next Pod finds no node, and no constraint is to blame."""

    blame: Blame


class Violated(Status, frozen=True, kw_only=True):
    """The skew of a hard constraint is more than allowed (Pods)."""

    skew: int
    max_skew: int


class NoEffect(Status, frozen=True, kw_only=True):
    """The constraint balances nothing."""

    why: Idle
    topology_key: str


class Incomplete(Status, frozen=True, kw_only=True):
    """Something that may decide about the next Pod is not known."""

    gap: Gap


class Uneven(Status, frozen=True, kw_only=True):
    """The skew of a soft constraint is more than it prefers (Pods)."""

    skew: int
    max_skew: int


class OK(Status, frozen=True, kw_only=True):
    """Nothing worse holds.

    Attributes:
        preemption: whom the scheduler evicts for the next Pod; None where nobody.
        manager: who makes the Pods of a Job instead of kube-controller-manager; empty where that does.
    """

    preemption: Preemption | None = None
    manager: str = ""


class BlockedBy(msgspec.Struct, frozen=True, kw_only=True):
    """Constraints keep one more replica from every node.

    Attributes:
        constraints: for each, the domains that nothing can fill; its topology key where there are none.
    """

    constraints: tuple[tuple[str, ...], ...]


class NoMoreWanted(msgspec.Struct, frozen=True):
    """The workload has all the Pods that it wants."""


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """How many more replicas find a node, one after another.

    Attributes:
        more: how many do (count), before the first that does not.
        tried: how many were tried (count).
        then: what stops that one; None where all that were tried found a node.
    """

    more: int
    tried: int
    then: Status | BlockedBy | NoMoreWanted | None = None
