"""What lets a Pod in without any action, in words."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from msgspec import UNSET

from kubectl_spread.controllers.taints import LEAVING, NodeTrouble
from kubectl_spread.diagnosis.fixes import conclusion
from kubectl_spread.wording.words import count_of, enumerated, first_and_more, listed

# What a node is called that an autoscaler has added, and that has not joined the cluster.
STARTING = "a node that starts"
TROUBLES: Mapping[NodeTrouble, str] = {
    NodeTrouble.UNREACHABLE: "kubelet unreachable",
    NodeTrouble.NOT_READY: "not ready",
    NodeTrouble.MEMORY_PRESSURE: "low on memory",
    NodeTrouble.DISK_PRESSURE: "low on disk",
    NodeTrouble.PID_PRESSURE: "low on process IDs",
    NodeTrouble.NETWORK_UNAVAILABLE: "network not set up",
    NodeTrouble.OUT_OF_SERVICE: "shut down",
    NodeTrouble.CORDONED: "cordoned",
    NodeTrouble.UNHEALTHY: "unhealthy",
    NodeTrouble.CLOUD: "not set up by its cloud, or shut down there",
    NodeTrouble.STATUS: "unhealthy, by the taint of an agent",
    NodeTrouble.UNREGISTERED: "not registered yet",
    NodeTrouble.NO_CILIUM_AGENT: "Cilium's agent does not run there",
    NodeTrouble.NO_EBS_DRIVER: "the EBS CSI driver does not run there",
    NodeTrouble.MACHINE_LEAVES: "about to be removed",
    NodeTrouble.SET_APART_BY_GKE: "reserved by Google Kubernetes Engine",
    NodeTrouble.CLUSTER_API: "not set up, or being replaced, by Cluster API",
    NodeTrouble.NO_CSI_DRIVER: "a CSI driver does not run there",
    NodeTrouble.NO_AGENT: "a required agent does not run there",
    NodeTrouble.AUTOSCALER_DELETES: "about to be deleted by an autoscaler",
    NodeTrouble.STARTING: "not ready for Pods yet",
    NodeTrouble.BEING_DELETED: "its Node object is being deleted",
}
# How a taint goes that no recovery clears.
#
# Source: the page Non-Graceful Node Shutdown, for out-of-service.
_LIFTED: Mapping[NodeTrouble, str] = {
    NodeTrouble.OUT_OF_SERVICE: "; somebody set the taint, and has to remove it once the node is back",
    NodeTrouble.SET_APART_BY_GKE: "",
}


def _node_recovery(wait: conclusion.NodeRecovery) -> str:
    any_of = " or ".join(wait.nodes)
    if wait.nodes[2:]:
        any_of = f"any of {len(wait.nodes)} nodes, such as {wait.nodes[0]},"
    if not (wait.taints or wait.problems):
        return f"{any_of} to be uncordoned: maintenance goes on there"
    trouble = f"condition {enumerated(wait.problems)}" if wait.problems else TROUBLES[wait.trouble]
    lifted = ", and to be uncordoned" * wait.cordoned
    ended = f", and for {enumerated([*map(str, wait.ending)])} to end there" if wait.ending else ""
    return f"{any_of} to recover ({trouble}){lifted}{ended}"


def wait_text(wait: conclusion.Wait) -> str:
    """Return what is waited for."""
    match wait:
        case conclusion.NodeRecovery():
            return _node_recovery(wait)
        case conclusion.NodeRemoval():
            without = "it" if len(wait.nodes) == 1 else "them"
            leaves = f"{first_and_more(wait.nodes)} to be removed ({TROUBLES[wait.trouble]})"
            return f"{leaves}: without {without}, the Pod can be scheduled"
        case conclusion.PodEnding():
            where = f"{enumerated([*map(str, wait.pods)])} on {enumerated(wait.nodes)}"
            return f"{where}: {ending_text(wait.ending, wait.nodes, one=len(wait.pods) == 1)}"
        case conclusion.PodPreemption():
            victims = listed([*map(str, wait.pods)]) if len(wait.nodes) == 1 else "Pods of a lower priority"
            on = enumerated(wait.nodes, word="or") or "a node"
            return f"the scheduler to evict {victims} from {on} at its next attempt"
        case conclusion.PodRemoval():
            return f"this Pod to be deleted: {wait.workload} {wait.why}"
        case conclusion.ClaimCreation():
            return f"the controller of the Pod to create the PersistentVolumeClaim {enumerated(wait.claims)}"
        case conclusion.RolloutGoesOn():
            then = "deletes old Pods as new ones become Ready, which makes room for this one"
            then = "replaces this Pod, which is of an older revision" if wait.replaces else then
            return f"the rollout of {wait.workload}: it {then}"
        case conclusion.JobGoesOn():
            which = "the running Pod" if wait.pods == 1 else f"one of the {wait.pods} running Pods"
            where = f" on {enumerated(wait.nodes)}" if wait.pods < wait.running else ""
            then = "then this Pod, or another one of the Job, can be scheduled. The Job goes on meanwhile"
            return f"{which} of {wait.workload}{where} to end: {then}"
        case conclusion.JobEnd():
            suspend = "suspend it" if wait.ours else f"ask the owner of namespace {wait.namespace} to suspend it"
            use = f"its {count_of(wait.pods, 'Pod')} with priority {wait.priority} use{'s' * (wait.pods == 1)} the room"
            return f"job {wait.namespace}/{wait.name} to end, or {suspend}: {use} on {first_and_more(wait.nodes)}"
        case conclusion.NodeAddition() if wait.pools:
            return f"a node that {wait.autoscaler} may add from {wait.pools}"
        case conclusion.NodeAddition():
            sees = f"it is not Ready yet, and {wait.autoscaler} sees room for the Pod there"
            return f"{listed(wait.nodes) or STARTING}: {sees}"
        case _:
            assert_never(wait)


def between(least: int, most: int) -> str:
    """Return a number of Pods that chance decides."""
    return str(most) if least == most else f"{max(least, 0)} to {most}"


def lets_in(wait: conclusion.Wait) -> str:
    """Return how many of the workload's Pending Pods have a node then; empty if all have, or if that is not known."""
    if wait.admits is UNSET or wait.siblings is UNSET:
        return ""
    least, most = wait.admits
    any_of = isinstance(wait, conclusion.NodeRecovery) and len(wait.nodes) > 1
    if wait.siblings in {least, most * any_of}:
        return ""
    if wait.siblings == 1:
        return "Then this Pod can be scheduled, unless other Pods take that room first."
    number = f"at most {most}" if any_of else between(least, most)
    return f"Then {number} of {wait.siblings} Pending Pods can be scheduled."


def suffering_text(what: conclusion.SufferingNodes) -> str:
    """Return which nodes suffer, from what, and how that ends."""
    clears = "the taint clears" if len(what.nodes) == len(what.taints) == 1 else "the taints clear"
    recovery = "" if what.trouble in LEAVING else _LIFTED.get(what.trouble, f"; {clears} on recovery")
    return f"{first_and_more(what.nodes)} ({TROUBLES[what.trouble]}{recovery})"


def ending_text(what: conclusion.Ending, nodes: Sequence[str], *, one: bool = True) -> str:
    """Return until when Pods that are being deleted end, and what may keep them."""
    deleted, whose = ("it is being deleted", "its") if one else ("they are being deleted", "their")
    if what.over_since:
        ended = f"{'its' if one else 'the first'} grace period ended at {what.over_since}"
        return f"{deleted}, and {ended}: check the kubelet of {listed(nodes)}"
    within = f"{what.grace_seconds}s" if what.grace_seconds else f"{whose} grace period"
    unless = f", unless finalizers keep {'it' if one else 'them'}: {listed(what.finalizers)}" * bool(what.finalizers)
    return f"{deleted} and end{'s' * one} within {within}{unless}"
