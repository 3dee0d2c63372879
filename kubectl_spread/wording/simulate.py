"""What is to be known of a step of a simulation, in words."""

from __future__ import annotations

from typing import assert_never

from kubectl_spread.controllers.job import FailureReason, JobFailure
from kubectl_spread.controllers.nodelifecycle import EvictionsStopped
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.diagnosis.step_changes import (
    BlockedByChance,
    CreateRefused,
    MixedRevisions,
    OutcomeNote,
    Unsettled,
)
from kubectl_spread.simulation.control_loop import JobFailed, WaitsForReady
from kubectl_spread.simulation.steps import (
    Blocked,
    BlockReason,
    DaemonSetGone,
    DrainFlags,
    DrainRefused,
    DrainWaits,
    EvictionRefused,
    MirrorRemade,
    NotScaled,
    StepNote,
    StuckPods,
    UnknownController,
    Unmanaged,
)
from kubectl_spread.wording.words import enumerated, listed


def blocked_text(blocked: Blocked) -> str:
    """Return why a Pod that should go does not."""
    return f"{_reason(blocked.reason)}{', and it goes with its node' if blocked.goes_with_node else ''}"


def _reason(reason: BlockReason) -> str:
    match reason:
        case Unmanaged():
            return "nothing manages it, so kubectl refuses the drain without --force"
        case DaemonSetGone(name):
            return f"its DaemonSet {name} does not exist, so kubectl refuses the drain without --force"
        case DrainRefused():
            return "the drain was refused"
        case DrainWaits(node):
            return f"kubectl still waits for {node} to be drained"
        case EvictionRefused(message):
            return message
        case _:
            assert_never(reason)


def note_text(note: StepNote) -> str:
    """Return what else is to be known of a step."""
    match note:
        case DrainFlags(nodes, pods):
            needs = [f"{flag} for {listed(['/'.join(key) for key in keys])}" for flag, keys in pods.items()]
            words, flags = ((), ("-l", nodes, *pods)) if "=" in nodes else ((nodes,), pods)
            drain = kubectl("drain", *words, flags=flags)
            return f"this step is `{drain}`: kubectl evicts no Pod of a node without {enumerated(needs)}"
        case MirrorRemade(pod, node):
            return (
                f"the kubelet of {node} makes the mirror Pod {'/'.join(pod)} again, and its containers run on."
                f" To stop them, remove its manifest on {node}"
            )
        case StuckPods(pods, node_silent):
            why = "on a node that does not answer" if node_silent else "until finalizers are removed"
            return f"the drain waits for {listed(['/'.join(key) for key in pods])}, Terminating {why}"
        case EvictionsStopped(silent, nodes) if silent < nodes:
            return f"{silent} of {nodes} nodes of its zone do not answer, so nothing is evicted there"
        case EvictionsStopped():
            return "no node answers, so nothing is evicted"
        case JobFailed(namespace, name, failure):
            return f"job/{name} of {namespace} fails, and its Pods go: {_failure(failure)}"
        case WaitsForReady(namespace, ref, first, missing):
            return f"{ref} of {namespace} makes {enumerated(missing)} only once {first} is ready"
        case UnknownController(ref):
            return f"what makes the Pods of {ref} is not known"
        case NotScaled(ref):
            return f"{ref} scales nothing here"
        case _:
            assert_never(note)


def _failure(failure: JobFailure) -> str:
    failed, limit = failure.failed, failure.limit
    match failure.reason:
        case FailureReason.POD_FAILURE_POLICY:
            return "its podFailurePolicy has it fail with a Pod that was disrupted"
        case FailureReason.BACKOFF_LIMIT_EXCEEDED:
            return f"{failed} of its Pods have failed and its backoffLimit is {limit}"
        case FailureReason.MAX_FAILED_INDEXES_EXCEEDED:
            return f"{failed} of its indexes have failed and its maxFailedIndexes is {limit}"
        case FailureReason.FAILED_INDEXES:
            return "every index has come to an end"
        case _:
            assert_never(failure.reason)


def outcome_text(note: OutcomeNote) -> str:
    """Return what else is to be known of the orders that were tried."""
    match note:
        case CreateRefused(ref, message, before):
            return f"the API server refuses Pods of {ref}{', as before' if before else ''}: {message}"
        case MixedRevisions(ref, topology_key, label):
            return (
                f"the rollout of {ref} counts Pods of the old revision too, so it may end beyond maxSkew."
                f" matchLabelKeys: [{label}] in the constraint on {topology_key} counts each revision alone, which"
                " keeps it even"
            )
        case BlockedByChance(first, pods):
            names = listed(["/".join(key) for key in pods])
            are = "is" if len(pods) == 1 else "are"
            return f"in other orders of chance {names} {are} held back: {blocked_text(first)}"
        case Unsettled():
            return "it does not come to rest: controllers and scheduler would go on like this"
        case _:
            assert_never(note)
