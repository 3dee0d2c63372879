"""The changes that let a Pod in."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.report import Report
from kubectl_spread.diagnosis.fixes.change import Change, Disturbance, ManifestEdit, Override


class Fix(Report, frozen=True, kw_only=True):
    """A set of changes that lets the Pod in, verified by simulation on the snapshot.

    Attributes:
        id: the class of the change; joined by ``+`` if there are two.
        summary: the change in words.
        disturbs: what the change does to running Pods.
        overrides: what it overrides that somebody decided on purpose; absent if nothing.
        cost: how much it weakens the spread, or reaches beyond the Pod.
        feasible: the nodes it opens, best first.
        admits: how many of the workload's Pending Pods it lets in, once the rollout that it triggers has ended; if that
            was not simulated, placed one after another. At least that many if it was verified with only some Pods read.
        siblings: how many Pending Pods the workload has, this Pod included.
        without_node: how many Pods of the workload may have no node once the rollout that it triggers has ended; absent
            if none, or if no rollout was simulated.
        in_vain: present where the change replaces Pods and no more of them have a node in the end.
        alike: objects for which the same change has the same result.
        changes: the simulated changes, for another simulation.
        commands: what to run, in order; empty if no command changes the owner.
        starts: what the commands trigger.
        created: how many Pods an older ReplicaSet creates while the Pending ones are deleted; absent for other changes.
        ends: how many Pods have no node in the end; empty for none.
        yaml: what to write in the source of the Pod, below the identity of that object; empty for nothing.
        source: what keeps the owner as its source describes it, so that the YAML belongs there; empty if nothing shows
            it.
        new_revision: the nodes for a Pod of the owner's new revision, if they differ from ``feasible``.
        edits: what to change in the checked manifest; empty if the change is made elsewhere.
        proved_on: ``read`` if it was verified with only some Pods read.
    """

    id: str
    summary: str
    cost: int
    feasible: tuple[str, ...]
    admits: int
    siblings: int
    without_node: int | UnsetType = UNSET
    in_vain: Literal[True] | UnsetType = UNSET
    alike: tuple[str, ...]
    changes: tuple[Change, ...]
    commands: tuple[str, ...] = ()
    starts: str = ""
    created: int | UnsetType = UNSET
    ends: str = ""
    disturbs: Disturbance = Disturbance.NOTHING
    overrides: Override | UnsetType = UNSET
    yaml: str = ""
    source: str = ""
    new_revision: tuple[str, ...] | UnsetType = UNSET
    edits: tuple[ManifestEdit, ...] = ()
    proved_on: Literal["read"] | UnsetType = UNSET


class ExpectedChange(Report, frozen=True, kw_only=True):
    """What lets the Pod in, or removes it, without any action, once it is over.

    Attributes:
        kind: the class of what to wait for.
        sure: whether time alone is enough: nobody has to repair a node, and no controller to remove a finalizer.
        nodes: the nodes that take the Pod then or are removed, or the nodes of the Pods that end.
        pod: the first of the Pods that end, as namespace/name; empty for others.
        pods: the Pods that all have to end, as namespace/name; empty for others.
        workload: the owner of the rollout or of the Pod that is deleted, or the Job; empty for others.
        message: what to wait for.
    """

    kind: Literal[
        "NodeRecovery",
        "NodeRemoval",
        "PodEnding",
        "PodRemoval",
        "ClaimCreation",
        "RolloutGoesOn",
        "JobGoesOn",
        "JobEnd",
        "NodeAddition",
    ]
    sure: bool
    nodes: tuple[str, ...] = ()
    pod: str = ""
    pods: tuple[str, ...] = ()
    workload: str = ""
    message: str
