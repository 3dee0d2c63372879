"""The report of ``show``, and what ``-o json`` adds to its rows."""

from functools import cached_property
from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.leaf import Add, Leaf
from kubectl_spread.contract.report import Metadata, Report
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.diagnosis.statuses import Headroom
from kubectl_spread.gaps import Gap
from kubectl_spread.wording import statuses as wording


class SkewReport(Report, frozen=True, kw_only=True):
    """The answer of ``show``."""

    api_version: Literal["spread.kubectl.dev/v1alpha2"] = "spread.kubectl.dev/v1alpha2"
    kind: Literal["SkewReport"] = "SkewReport"
    metadata: Metadata
    items: tuple[SkewItem, ...]
    # of several clusters each that answered; absent if one cluster was read
    clusters: tuple[Metadata, ...] | UnsetType = UNSET
    incomplete: tuple[Gap, ...] = ()


def status_reason(item: SkewItem) -> str:
    """The reason for the status; empty for OK."""
    return wording.status_text(item.worst)


def next_reason(item: SkewItem) -> str:
    """Why there is no next Pod, or why it goes to no other node; empty if the scheduler decides."""
    return wording.next_reason(item)


def then(headroom: Headroom) -> str:
    """What stops that one; empty if all tried replicas found a node."""
    return wording.stop_text(headroom.then) if headroom.then else ""


def _field(name: str) -> Add:
    """Return what gives a property of a row."""
    found: cached_property[object] = vars(SkewItem)[name]
    return found.func


HEADROOM = Leaf(added=(then,))
ROW = Leaf(
    added=(
        *map(_field, ("namespace", "workload", "revision", "pods", "own_pods", "default", "current", "status")),
        status_reason,
        *map(_field, ("constraint", "ghosts", "pending_pod", "next", "held_by", "scored")),
        next_reason,
        *map(_field, ("ready", "wanted", "pending", "evaluated_filters", "findings", "headroom")),
    ),
    left_out=frozenset({"judged", "state", "now", "worst"}),
)
PROVED = Leaf(added=(_field("proved_on"),))
