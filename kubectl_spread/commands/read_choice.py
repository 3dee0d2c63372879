"""Whether a cluster is read whole or, where it is large, in stages."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.commands import read_sets
from kubectl_spread.commands.source import ReadMode, Source
from kubectl_spread.commands.view import Question, SchedulerOptions, View, claiming, look


def pods_of_large(source: Source, namespaces: Sequence[str], read: ReadMode) -> int:
    """Return how many Pods the cluster has (count) where it is read in stages; 0 where it is read whole.

    Args:
        source: the cluster.
        namespaces: those that are asked about; an empty name stands for all, whose Pods are read in any case.
        read: how much of a large cluster is read.
    """
    counted = source.count_pods() if all(namespaces) and read != "all" else 0
    return counted if counted > read_sets.WHOLE_CLUSTER_PODS else 0


def look_for(source: Source, question: Question, scheduler: SchedulerOptions, *, read: ReadMode) -> View:
    """Return the cluster as far as it has to be read to answer.

    Raises:
        ClusterError: a list that is needed cannot be had.
        ManifestError: a file cannot be read.
        UsageError: the release or the scheduler's configuration makes no sense.
    """
    if pods := pods_of_large(source, question.namespaces, read):
        from kubectl_spread.commands.staged import look_in_stages

        return look_in_stages(source, question, scheduler, all_pods=pods)
    return look(claiming(source, question.specs), question.reads, scheduler)
