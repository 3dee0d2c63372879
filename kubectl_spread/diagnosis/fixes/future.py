"""What a fix does in the whole cluster, compared with the future without it."""

import msgspec

from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.fixes.conclusion import RolloutEnd


class OtherWorkload(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Another workload whose Pods a change lets in, or keeps without a node."""

    namespace: str
    workload: WorkloadRef
    admits: int  # how many more of its Pods have a node in the end (count); negative if fewer have
    admits_at_most: int  # how many more may have one by chance (count)
    pending: int  # its Pending Pods now (count)


class WorseConstraint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A hard constraint that holds without a change, and not with it."""

    namespace: str
    workload: WorkloadRef
    topology_key: str
    skew: int  # the largest that it has in the end (Pods)
    max_skew: int
    by_chance: bool = False  # whether it holds in some orders of chance


class Future(msgspec.Struct, frozen=True, kw_only=True):
    """What a change does in the whole cluster once nothing changes any more, compared with no change."""

    admits: int  # how many of the workload's Pending Pods have a node that have none otherwise, at least (count)
    admits_at_most: int  # how many may have one by chance (count)
    # how many Pending Pods of the cluster have a node that have none otherwise, at least and at most (count)
    in_all: tuple[int, int]
    pending: int  # the Pending Pods of the cluster now (count)
    others: tuple[OtherWorkload, ...]  # the other workloads that gain or lose, those that gain most first
    worse: tuple[WorseConstraint, ...]  # the constraints that it breaks
    replaced: int  # how many running Pods of the cluster are replaced (count)
    end: RolloutEnd  # how many Pods of the workload have no node then
