"""The gaps of an answer: what was not read, is not modelled, or is decided by another component.

Each gap is a type with its facts. ``wording.incomplete`` has the texts; reports list them under ``incomplete``.
"""

from enum import Enum, auto
from typing import TypeAlias

import msgspec

from kubectl_spread.objects.kinds import Kind

NONE_IN_FILES = "none in the files"  # Why a kind is unread of which an object is named, though files hold none
NOT_IN_SNAPSHOT, NOT_IN_FILES = "not in the snapshot", "not in the files"
# Why a kind is unread that a snapshot, or other files, do not have.
IN_FILES = frozenset((NOT_IN_SNAPSHOT, NOT_IN_FILES))


class Purpose(Enum):
    """What a list is needed for, and so what is not known without it."""

    SCHEDULING = auto()
    ADMISSION = auto()
    PREEMPTION = auto()
    FIXES = auto()
    WORKLOADS = auto()
    SIMULATION = auto()
    APPLYING = auto()
    REBALANCE = auto()
    AUTOSCALING = auto()


class _Gap(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all gaps."""


class UnreadKind(_Gap, frozen=True, kw_only=True):
    """A list that could not be read; ``why``: in a word or two, such as ``forbidden``."""

    kind: Kind
    why: str
    purpose: Purpose


class ReadApart(_Gap, frozen=True, kw_only=True):
    """Lists that decide together and were read at different versions: (plural, resourceVersion) of each."""

    versions: tuple[tuple[str, str], ...]


class UnreadNodes(_Gap, frozen=True, kw_only=True):
    """Nodes whose Pods were not all read."""

    nodes: int  # how many (count)
    namespace: str  # the only namespace whose Pods were read on them


class UnreadRevision(_Gap, frozen=True, kw_only=True):
    """An older revision of a StatefulSet without Pods, which was not read; ``pod`` got the newest template instead."""

    revision: str
    pod: str


class GuessedVolume(_Gap, frozen=True, kw_only=True):
    """A volume that is provisioned before the Pod is scheduled."""

    claim: str
    storage_class: str


class UnreadableManifest(_Gap, frozen=True, kw_only=True):
    """A document of a manifest, by its place, that cannot be read."""

    place: str
    why: str


class UnparsableConstraint(_Gap, frozen=True, kw_only=True):
    """A constraint whose selector cannot be parsed; its workload has no rows."""

    namespace: str
    workload: str
    topology_key: str
    error: str


class NotModelled(_Gap, frozen=True, kw_only=True):
    """An enabled filter plugin that is not modelled."""

    plugin: str


class UnprovedRelease(_Gap, frozen=True, kw_only=True):
    """A release (v1.``minor``) that was not compared with the real scheduler; the rules of v1.``nearest`` were used."""

    minor: int
    nearest: int


class UnknownFeatureGate(_Gap, frozen=True, kw_only=True):
    """A feature gate that changes no answer."""

    gate: str


class UndecidedChoice(_Gap, frozen=True, kw_only=True):
    """Pods of which it is not known whether the scheduler assumed them on a node: (namespace/name, node's name)."""

    pods: tuple[tuple[str, str], ...]


class NoDryRun(_Gap, frozen=True, kw_only=True):
    """A dry run that the API server could not do."""

    why: str


class UnknownKind(_Gap, frozen=True, kw_only=True):
    """A kind of another API of which it is not known whether the cluster serves it."""

    api_version: str
    kind: str
    why: str


class UnknownManagers(_Gap, frozen=True, kw_only=True):
    """An object that is applied on the server, which was not asked: who manages which of its fields decides."""

    named: str


class UntriedPods(_Gap, frozen=True, kw_only=True):
    """Pods (count) that a step of a simulation did not try to place, because it had tried too many."""

    pods: int
    step: str


class OtherScheduler(_Gap, frozen=True, kw_only=True):
    """A scheduler that no profile describes; ``idle``: nothing that was read shows that it runs."""

    scheduler_name: str
    idle: bool = False


class NodeNamed(_Gap, frozen=True, kw_only=True):
    """A Pod (``namespace/name``) that names its node, which may not exist: no scheduler decides."""

    pod: str
    node_name: str
    absent: bool = False


class SchedulingGroup(_Gap, frozen=True, kw_only=True):
    """A group of Pods that are scheduled together or not at all."""

    pod: str  # a Pod of the group, as ``namespace/name``
    pod_group: str  # the PodGroup, or the group of the Workload
    workload: str = ""  # the Workload; empty for a PodGroup


class UndecidedDevices(_Gap, frozen=True, kw_only=True):
    """Devices that a Pod (``namespace/name``) needs; ``wanted`` are the names of ``dynamicresources.undecided``."""

    pod: str
    wanted: str


class UnreadTemplate(_Gap, frozen=True, kw_only=True):
    """A custom resource that has spread constraints, but no Pod template."""

    workload: str


class MayRollOut(_Gap, frozen=True, kw_only=True):
    """A workload of which it is not known whether a manifest changes fields of its template that are not held."""

    workload: str
    revision: str = ""  # the older revision that may have its template, and is not read; empty for the live one
    orphaned: bool = False  # whether only Pods without a controller show that revision


class MayBeRefused(_Gap, frozen=True, kw_only=True):
    """A Pod or Job of which it is not known whether a manifest changes fields that are not held: none may."""

    named: str


class MayBreakQuota(_Gap, frozen=True, kw_only=True):
    """A workload for whose Pods, or for objects beside them such as a ReplicaSet, a quota may have no room (``why``).

    ``by_chance``: it has none for Pods that come last.
    """

    workload: str
    why: str
    by_chance: bool = False


class UnreadCluster(_Gap, frozen=True, kw_only=True):
    """The Nodes, if none was read: no placement and no domain is known."""

    why: str


class UnansweredCluster(_Gap, frozen=True, kw_only=True):
    """One of several clusters that gave no answer; ``why``: the error."""

    why: str


# What decides about a Pod and is not modelled, or what is missing for any decision.
Decider: TypeAlias = UnreadCluster | OtherScheduler | NodeNamed | SchedulingGroup | UndecidedDevices
# A gap of the answer about one cluster.
ClusterGap: TypeAlias = (
    UnreadKind
    | ReadApart
    | UnreadNodes
    | UnreadRevision
    | GuessedVolume
    | UnreadableManifest
    | UnparsableConstraint
    | NotModelled
    | UnprovedRelease
    | UnknownFeatureGate
    | UndecidedChoice
    | NoDryRun
    | UnknownKind
    | UnknownManagers
    | UntriedPods
    | MayBeRefused
    | MayBreakQuota
    | MayRollOut
    | UnreadTemplate
    | UnansweredCluster
    | Decider
)


class InCluster(_Gap, frozen=True, kw_only=True):
    """A gap of the answer about one of several clusters, by the name of its context."""

    cluster: str
    gap: ClusterGap


Gap: TypeAlias = ClusterGap | InCluster  # A gap of an answer


def is_unread_list(gap: Gap) -> bool:
    """Whether a list that was asked for was not read, or not whole."""
    return isinstance(gap, UnreadKind | UnreadNodes | UnreadCluster)


def is_about_fixes(gap: Gap) -> bool:
    """Whether it matters only for what to change."""
    return isinstance(gap, UnreadKind) and gap.purpose is Purpose.FIXES


def leaves_pods_unknown(gap: Gap) -> bool:
    """Whether it is not known which Pods of the workload stay or make room, and so whether new ones find nodes."""
    of_kind = isinstance(gap, UnreadKind) and gap.purpose in {Purpose.APPLYING, Purpose.PREEMPTION}
    return of_kind or isinstance(gap, MayRollOut)
