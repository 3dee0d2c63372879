"""The changes that let a Pod in."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.report import Report
from kubectl_spread.diagnosis.fixes.change import Change, Disturbance, ManifestEdit


class Fix(Report, frozen=True, kw_only=True):
    """A set of changes that lets the Pod in, tried on the snapshot.

    Attributes:
        id: the class of the change; joined by ``+`` where there are two.
        summary: the change in words.
        disturbs: what making it does to Pods that run.
        cost: how much it weakens or reaches beyond the Pod.
        feasible: the nodes it opens, best first.
        admits: how many of the Pending Pods of the same workload it lets in, placed one after another; at least that
            many where it was tried with the Pods that were read.
        siblings: how many of them there are, this Pod included.
        alike: objects for which the same change does the same.
        changes: what was tried, so that it can be tried again.
        commands: what a person runs, in order; empty where no command changes the owner.
        starts: what running them sets off.
        yaml: what to write where the Pod comes from, below the identity of that object; empty where nothing is.
        source: what keeps the owner as it is, so that the YAML belongs there; empty where nothing says so.
        new_revision: the nodes a Pod of the owner's new revision may go to, where they differ from ``feasible``.
        edits: what to change in the manifest that is checked; empty where the change is made elsewhere.
        proved_on: ``read`` where it was tried on the Pods that were read, which are not all.
    """

    id: str
    summary: str
    cost: int
    feasible: tuple[str, ...]
    admits: int
    siblings: int
    alike: tuple[str, ...]
    changes: tuple[Change, ...]
    commands: tuple[str, ...] = ()
    starts: str = ""
    disturbs: Disturbance = Disturbance.NOTHING
    yaml: str = ""
    source: str = ""
    new_revision: tuple[str, ...] | UnsetType = UNSET
    edits: tuple[ManifestEdit, ...] = ()
    proved_on: Literal["read"] | UnsetType = UNSET
