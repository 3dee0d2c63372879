"""What ``check`` reads of a large cluster: few Pods where no first replica finds a node, and all where one does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands import read_planner
from kubectl_spread.commands.read_planner import Asked, Need
from kubectl_spread.commands.source import ReadLimits, Source
from kubectl_spread.commands.staged import Question, look_in_stages
from kubectl_spread.commands.view import SchedulerOptions, View, claiming, look
from kubectl_spread.diagnosis.manifest_outcome import Coming
from kubectl_spread.objects.core import PodSpec

FEW = 0.05
"""The part of all Pods that is read before them, at most: for most manifests all are read in the end."""

ComingIn: TypeAlias = Callable[[View], Iterable[Coming]]


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked about manifests.

    Attributes:
        reads: all that it takes to answer.
        namespaces: those of the manifests.
        specs: of the Pods they make.
        coming: what comes of each, as far as was read.
        limits: how much may be read one by one.
        fix_budget: seconds in all that the search for fixes may take; None for what suits the cluster.
    """

    reads: Sequence[Read]
    namespaces: Sequence[str]
    specs: Sequence[PodSpec]
    coming: ComingIn
    limits: ReadLimits
    fix_budget: float | None


def look_for_manifests(source: Source, asking: Asking, scheduler: SchedulerOptions, *, all_pods: int) -> View:
    """Return the cluster as far as it has to be read to tell what becomes of manifests.

    Args:
        source: the cluster.
        asking: what is asked.
        scheduler: whose rules apply.
        all_pods: how many it has (count).

    Raises:
        ClusterError: a list that is needed cannot be had.
        UsageError: the release or the scheduler's configuration makes no sense.
    """

    def is_small(namespaces: Iterable[str]) -> bool:
        return not asking.limits.confirm or sum(map(source.count_pods, namespaces)) <= FEW * all_pods

    def needed(view: View) -> Need:
        try:
            need = read_planner.to_check(tuple(asking.coming(view)), asking.limits)
        except ValueError:
            return Need(whole=True, why="a manifest cannot be judged")
        return need if is_small(need.namespaces) else Need(whole=True, why="affinity asks for many Pods")

    def asked(view: View) -> Asked:
        return tuple((each.first, each.handle) for each in asking.coming(view))

    if len(asking.namespaces) > read_planner.MOST_NAMESPACES or not is_small(asking.namespaces):
        return look(claiming(source, asking.specs), asking.reads, scheduler)
    question = Question(
        reads=asking.reads,
        namespaces=asking.namespaces,
        specs=asking.specs,
        asked=asked,
        needed=needed,
        limits=asking.limits,
        fix_budget=asking.fix_budget,
    )
    return look_in_stages(source, question, scheduler)
