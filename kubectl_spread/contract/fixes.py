"""What ``-o json`` adds to the changes that let a Pod in, and to what happens without any."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.leaf import Leaf
from kubectl_spread.diagnosis.fixes.change import Override
from kubectl_spread.diagnosis.fixes.conclusion import ExpectedChange, Fix, PodEnding, PodPreemption, Wait
from kubectl_spread.diagnosis.fixes.future import OtherWorkload, WorseConstraint
from kubectl_spread.diagnosis.fixes.nodes import AddNode
from kubectl_spread.diagnosis.fixes.shell import command_line
from kubectl_spread.diagnosis.planned_evictions import RebalanceItem
from kubectl_spread.wording import fixes
from kubectl_spread.wording.fixes.routes import fragment_text
from kubectl_spread.wording.fixes.waits import wait_text


def waits(item: EvaluationReport | RebalanceItem) -> tuple[ExpectedChange, ...] | UnsetType:
    """What lets the Pod in, or removes it, without any action; absent if nothing does."""
    return item.waits or UNSET


def kind(
    wait: Wait,
) -> Literal[
    "NodeRecovery",
    "NodeRemoval",
    "PodEnding",
    "PodPreemption",
    "PodRemoval",
    "ClaimCreation",
    "RolloutGoesOn",
    "JobGoesOn",
    "JobEnd",
    "NodeAddition",
]:
    """The class of what to wait for."""
    return type(wait).__name__  # type: ignore[return-value]


def pod(wait: Wait) -> str:
    """The first of the Pods that end or are evicted, as namespace/name; empty for others."""
    return next(iter(pods(wait)), "")


def pods(wait: Wait) -> tuple[str, ...]:
    """The Pods that all have to end or are evicted, as namespace/name; empty for others."""
    return tuple(map(str, wait.pods)) if isinstance(wait, PodEnding | PodPreemption) else ()


def message(wait: Wait) -> str:
    """What to wait for."""
    return wait_text(wait)


def left_alone(item: EvaluationReport) -> tuple[str, ...]:
    """What would let the Pod in too but is not offered, with the reason: a sentence each."""
    return tuple(map(fixes.left_alone, item.left_alone))


def summary(fix: Fix) -> str:
    """The change in words."""
    return fixes.summary(fix)


def then(fix: Fix) -> str | UnsetType:
    """What the autoscaler decides after the change, in a sentence; absent if that is not why the change helps."""
    if fix.decision is None or isinstance(fix.proposals[0], AddNode):
        return UNSET
    from kubectl_spread.wording.autoscalers import decision_text  # Most clusters have no autoscaler.

    return decision_text(fix.decision)


def alike(fix: Fix) -> tuple[str, ...]:
    """Objects for which the same change has the same result."""
    return tuple(map(fixes.alike_text, fix.alike))


def commands(fix: Fix, flags: Sequence[str]) -> tuple[str, ...]:
    """What to run, in order; empty if no command changes the owner."""
    return tuple(command_line(command, flags) for command in fix.commands)


def starts(fix: Fix) -> str:
    """What the commands trigger."""
    return "; ".join(fixes.starts(fix))


def ends(fix: Fix) -> str:
    """How many Pods have no node in the end; empty for none."""
    return fixes.ends(fix)


def without_node(fix: Fix) -> int | UnsetType:
    """How many Pods of the workload may have no node once the rollout that it triggers has ended.

    It is absent if none, or if no rollout was simulated.
    """
    return fix.without_node or UNSET


def in_vain(fix: Fix) -> Literal[True] | UnsetType:
    """Present where the change replaces Pods and no more Pods have a node in the end."""
    return fix.in_vain or UNSET


def others(fix: Fix) -> tuple[OtherWorkload, ...] | UnsetType:
    """What the change does for other workloads; absent if they were not simulated."""
    return UNSET if fix.future is None else fix.future.others


def worse(fix: Fix) -> tuple[WorseConstraint, ...] | UnsetType:
    """The constraints that hold now and not after the change; absent if other workloads were not simulated."""
    return UNSET if fix.future is None else fix.future.worse


def replaced(fix: Fix) -> int | UnsetType:
    """How many running Pods are replaced in the end; absent if other workloads were not simulated."""
    return UNSET if fix.future is None else fix.future.replaced


def admits_at_most(fix: Fix) -> int | UnsetType:
    """How many of the workload's Pending Pods it may let in by chance; absent if that is `admits`."""
    return fix.admits_at_most if fix.admits_at_most > fix.admits else UNSET


def created(fix: Fix) -> int | UnsetType:
    """How many Pods an older ReplicaSet creates while the Pending ones are deleted; absent for other changes."""
    return UNSET if fix.created is None else fix.created


def overrides(fix: Fix) -> Override | UnsetType:
    """What it overrides that somebody decided on purpose; absent if nothing."""
    return UNSET if fix.overrides is Override.NOTHING else fix.overrides


def yaml(fix: Fix) -> str:
    """What to write in the source of the Pod, below the identity of that object; empty for nothing."""
    return fragment_text(fix.fragment) if fix.fragment else ""


def source(fix: Fix) -> str:
    """What keeps the owner as its source describes it, so that the YAML belongs there; empty if nothing shows it."""
    return fix.keeper.name if fix.keeper else ""


def new_revision(fix: Fix) -> tuple[str, ...] | UnsetType:
    """The nodes for a Pod of the owner's new revision, if they differ from `feasible`."""
    return UNSET if fix.new_revision is None else fix.new_revision


def proved_on(fix: Fix) -> Literal["read"] | UnsetType:
    """`read` if it was verified with only some Pods read."""
    return "read" if fix.on_read_pods else UNSET


_OF_ENGINE: Sequence[Callable[..., Any]] = [vars(Fix)[name].fget for name in ("id", "cost", "disturbs", "edits")]
FIX = Leaf(
    added=(
        *_OF_ENGINE,
        *(summary, then, alike, commands, starts, ends, without_node, in_vain, created, overrides, yaml, source),
        *(new_revision, proved_on, others, worse, replaced, admits_at_most),
    ),
    left_out=frozenset(
        (
            *("proposals", "after_deletion", "mends", "alike", "routes", "new_revision", "rollout_end"),
            *("on_read_pods", "for_good", "warnings", "decision", "future", "alone"),
        )
    ),
)
SEARCHED = Leaf(added=(left_alone, waits))
WAIT = Leaf(added=(kind, pod, pods, message))
