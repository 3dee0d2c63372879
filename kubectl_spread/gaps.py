"""What an answer may not rest on: what was not read, is not modelled, or is decided by somebody else.

Each is a type with its facts. ``wording.incomplete`` has the texts, a report lists them under ``incomplete``.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TypeAlias

import msgspec

from kubectl_spread.objects.kinds import Kind


class Purpose(Enum):
    """What a list was wanted for, and so what is not known without it."""

    SCHEDULING = auto()
    ADMISSION = auto()
    FIXES = auto()
    WORKLOADS = auto()
    SIMULATION = auto()
    REBALANCE = auto()


class _Gap(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all."""


class UnreadKind(_Gap, frozen=True, kw_only=True):
    """A list that could not be read.

    Attributes:
        why: in a word or two, such as ``forbidden``.
    """

    kind: Kind
    why: str
    purpose: Purpose


class ReadApart(_Gap, frozen=True, kw_only=True):
    """Lists that decide together and were read at different times.

    Attributes:
        versions: (plural, resourceVersion) of each list.
    """

    versions: tuple[tuple[str, str], ...]


class UnreadNodes(_Gap, frozen=True, kw_only=True):
    """Nodes whose Pods were not all read.

    Attributes:
        nodes: how many (count).
        namespace: the only one whose Pods there were read.
    """

    nodes: int
    namespace: str


class UnreadRevision(_Gap, frozen=True, kw_only=True):
    """An older revision of a StatefulSet of which no Pod is alive, and which was not read.

    Attributes:
        pod: the Pod of that revision, to which the newest template was applied.
    """

    revision: str
    pod: str


class GuessedVolume(_Gap, frozen=True, kw_only=True):
    """A volume that its provisioner makes before the Pod is scheduled."""

    claim: str
    storage_class: str


class UnreadableManifest(_Gap, frozen=True, kw_only=True):
    """A document of a manifest, by its place, that cannot be read, and why."""

    place: str
    why: str


class UnparsableConstraint(_Gap, frozen=True, kw_only=True):
    """A constraint whose selector cannot be parsed, so that its workload has no rows."""

    namespace: str
    workload: str
    topology_key: str
    error: str


class NotModelled(_Gap, frozen=True, kw_only=True):
    """A filter plugin that is enabled and was not evaluated."""

    plugin: str


class UnprovedRelease(_Gap, frozen=True, kw_only=True):
    """A release (v1.``minor``) with whose scheduler the answers have not been compared; v1.``nearest`` was applied."""

    minor: int
    nearest: int


class UnknownFeatureGate(_Gap, frozen=True, kw_only=True):
    """A feature gate that changes nothing here."""

    gate: str


class UndecidedChoice(_Gap, frozen=True, kw_only=True):
    """Nodes that were chosen for Pods, where it is not known whether the scheduler has refused the Pods since.

    Attributes:
        pods: (namespace/name, node's name) of each.
    """

    pods: tuple[tuple[str, str], ...]


class NoDryRun(_Gap, frozen=True, kw_only=True):
    """A dry run that the API server could not make, and why."""

    why: str


class UnknownLastApplied(_Gap, frozen=True, kw_only=True):
    """An object of which it is not known what was applied last, and its fields that a manifest leaves out."""

    named: str
    fields: tuple[str, ...]


class UnknownManagers(_Gap, frozen=True, kw_only=True):
    """An object that is applied on the server, which was not asked: who manages which of its fields decides."""

    named: str


class UntriedPods(_Gap, frozen=True, kw_only=True):
    """Pods (count) that a step of a simulation did not try on any node, since it had tried so many."""

    pods: int
    step: str


class OtherScheduler(_Gap, frozen=True, kw_only=True):
    """A scheduler that no profile describes."""

    scheduler_name: str


class NodeNamed(_Gap, frozen=True, kw_only=True):
    """A Pod (``namespace/name``) that names its node, past all schedulers."""

    pod: str
    node_name: str


class SchedulingGroup(_Gap, frozen=True, kw_only=True):
    """A group of Pods that are scheduled together or not at all.

    Attributes:
        pod: the Pod that belongs to it, as ``namespace/name``.
        pod_group: the PodGroup, or the group of the Workload.
        workload: the Workload; empty where a PodGroup is named.
    """

    pod: str
    pod_group: str
    workload: str = ""


class UndecidedDevices(_Gap, frozen=True, kw_only=True):
    """Devices that a Pod needs, where it is not modelled which nodes have them.

    Attributes:
        pod: as ``namespace/name``.
        wanted: the claims and resources, as ``dynamicresources.undecided`` names them.
    """

    pod: str
    wanted: str


class UnreadTemplate(_Gap, frozen=True, kw_only=True):
    """An object of another API that says how Pods are to be spread, and has no Pod template."""

    workload: str


class MayRollOut(_Gap, frozen=True, kw_only=True):
    """A workload of which it is not known whether a manifest changes fields of its template that are not held.

    Attributes:
        revision: the older revision that may have its template, and is not read; empty for the live one.
    """

    workload: str
    revision: str = ""


class MayBeRefused(_Gap, frozen=True, kw_only=True):
    """A Pod or Job of which it is not known whether a manifest changes fields that are not held: none may."""

    named: str


class UnreadCluster(_Gap, frozen=True, kw_only=True):
    """The Nodes, of which none was read, and why: where a Pod goes, or which domains there are, is not known."""

    why: str


Decider: TypeAlias = UnreadCluster | OtherScheduler | NodeNamed | SchedulingGroup | UndecidedDevices
"""Somebody whose decision about a Pod is not modelled, or what is missing for any decision."""
Gap: TypeAlias = (
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
    | UnknownLastApplied
    | UnknownManagers
    | UntriedPods
    | MayBeRefused
    | MayRollOut
    | UnreadTemplate
    | Decider
)
"""Something that an answer does not rest on."""
