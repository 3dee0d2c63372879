"""What autoscalers decide about Pods without a node, where the cluster has one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from kubectl_spread.commands.read_sets import KARPENTER_LABEL, STATUS_NAME, STATUS_NAMESPACE
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.findings import Finding
from kubectl_spread.errors import ManifestError, SpreadError, UsageError
from kubectl_spread.gaps import Gap, Purpose, UnreadKind
from kubectl_spread.manifest_problem import ManifestProblem
from kubectl_spread.objects import autoscaling
from kubectl_spread.objects.core import Event, Pod, PodTemplateSpec
from kubectl_spread.objects.kinds import CONFIG_MAP, NODE_POOL, Kind
from kubectl_spread.objects.workloads import Deployment
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.snapshot import Snapshot

if TYPE_CHECKING:
    from kubectl_spread.autoscalers.decision import AutoscalerDecision, AutoscalerKind
    from kubectl_spread.autoscalers.karpenter.provisioner import Scheduler
    from kubectl_spread.contract.evaluation import EvaluationReport
    from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer
    from kubectl_spread.diagnosis.fixes.conclusion import Fix
    from kubectl_spread.diagnosis.fixes.node_pools import PoolChange
    from kubectl_spread.diagnosis.fixes.situation import Situation

ItemT = TypeVar("ItemT", bound="EvaluationReport")


class AutoscalerOptions(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What the command line specifies about autoscalers: a file with instance types, and whose rules apply."""

    instance_types: str = ""
    karpenter_version: str = ""


NO_OPTIONS = AutoscalerOptions()


def beside_autoscaler(item: ItemT, situation: Situation, siblings: Sequence[Pod], options: AutoscalerOptions) -> ItemT:
    """Return the explanation of a Pod with what the cluster's autoscaler decides; the same where there is none.

    ``siblings`` are the Pending Pods of the workload, this one first.

    Raises:
        ManifestError: the file of instance types cannot be read.
        UsageError: the version makes no sense.
    """
    pod, handle = situation.pod, situation.handle
    decided = decision_of(pod, handle, options)
    if decided is None:
        return item
    from kubectl_spread.autoscalers.decision import Decision
    from kubectl_spread.contract.evaluation import with_missing

    fixes: tuple[Fix, ...] = ()
    changes: Iterable[PoolChange] = ()
    jam = getattr(item, "jam", None)
    lacks_node = item.verdict is not Verdict.SCHEDULABLE or jam is not None
    if decided.pools and decided.kind == "karpenter" and lacks_node:
        from kubectl_spread.diagnosis.fixes.new_nodes import new_node_fixes
        from kubectl_spread.diagnosis.fixes.node_pools import pool_changes

        scheduler = _scheduler(handle, options)
        fixes = new_node_fixes(situation, siblings, scheduler, decided)
        changes = pool_changes(pod, scheduler, decided)
    if lacks_node:
        item = with_missing(_with_awaited_node(item, decided, handle.snapshot), _missing(handle.snapshot, decided))
    clears = not (decided.by_constraint or decided.decision is Decision.UNKNOWN)
    if jam is not None:
        item = replace(item, jam=replace(jam, conclusion=replace(jam.conclusion, clears=clears)))
    return replace(
        item,
        autoscaler=_answer(decided, pod, handle.snapshot, fixes=fixes, changes=tuple(changes)),
        conclusion=replace(item.conclusion, clears=clears),
        new_nodes=tuple(replace(fix, decision=decided) for fix in item.new_nodes),
    )


def _with_awaited_node(item: ItemT, decided: AutoscalerDecision, snapshot: Snapshot) -> ItemT:
    """Return the explanation with the node to wait for: one that starts, which makes further ones needless."""
    from kubectl_spread.wording.autoscalers import awaited_node

    node = awaited_node(decided, snapshot)
    if node is None:
        return item
    others = (wait for wait in item.waits if not node.nodes or wait.nodes != node.nodes)
    return replace(item, waits=(node, *others), new_nodes=item.new_nodes if node.pools else ())


def _missing(snapshot: Snapshot, decided: AutoscalerDecision) -> tuple[Gap, ...]:
    """Return the lists without which the decision is made."""
    kinds = (*decided.unread, *((NODE_POOL,) if decided.beside and decided.kind == "cluster-autoscaler" else ()))
    why = {unread.kind: unread.why for unread in snapshot.inventory.unread}
    return tuple(
        UnreadKind(kind=kind, why=why.get(kind, "not in all namespaces"), purpose=Purpose.AUTOSCALING) for kind in kinds
    )


def autoscaler_of(pod: Pod, handle: Handle, options: AutoscalerOptions) -> AutoscalerAnswer | UnsetType:
    """Return what the cluster's autoscaler decides about the Pod, without fixes; absent where there is none.

    Raises as above.
    """
    decided = decision_of(pod, handle, options)
    return _answer(decided, pod, handle.snapshot) if decided else UNSET


def copy_decision(item: ItemT, like: ItemT) -> ItemT:
    """Return the explanation of a Pod with the decision about the first of its template, which is an upper bound."""
    if like.autoscaler is UNSET:
        return item
    conclusion = replace(item.conclusion, clears=like.conclusion.clears)
    return replace(item, autoscaler=replace(like.autoscaler, event=None), conclusion=conclusion)


def decision_of(pod: Pod, handle: Handle, options: AutoscalerOptions) -> AutoscalerDecision | None:
    """Return what the cluster's autoscaler decides about the Pod; None where there is none.

    Raises as above.
    """
    # Most clusters have no autoscaler, and pay nothing for its rules.
    snapshot = handle.snapshot
    if any(snapshot.all(autoscaling.NodePool)):
        from kubectl_spread.autoscalers.karpenter.scheduler import solve

        beside = snapshot.get(autoscaling.ConfigMap, STATUS_NAMESPACE, STATUS_NAME) is not None
        decided, release = solve(pod, _scheduler(handle, options)), _release(snapshot, options)
        runs = ".".join(map(str, release or ()))
        return replace(decided, beside=beside, other_release=runs if runs != decided.version else None)
    groups = _node_groups(snapshot)
    if groups is not None:
        from kubectl_spread.autoscalers.cluster_autoscaler import decide

        beside = snapshot.inventory.lacks(NODE_POOL) and _has_trace(snapshot, "karpenter")
        return replace(decide(pod, handle, groups), beside=beside)
    kinds: tuple[tuple[AutoscalerKind, Kind], ...] = (("karpenter", NODE_POOL), ("cluster-autoscaler", CONFIG_MAP))
    for kind, unread in kinds:
        if snapshot.inventory.lacks(unread) and _has_trace(snapshot, kind):
            from kubectl_spread.autoscalers.decision import AutoscalerDecision, Decision

            return AutoscalerDecision(kind=kind, decision=Decision.UNKNOWN, unread=(unread,))
    return None


def _has_trace(snapshot: Snapshot, autoscaler: AutoscalerKind) -> bool:
    """Whether a node, an event or a Pod shows that the cluster has the autoscaler, though its objects are unread."""
    nodes = snapshot.nodes.values()
    return (
        (autoscaler == "karpenter" and any(KARPENTER_LABEL in node.metadata.labels for node in nodes))
        or any(event.speaker == autoscaler for event in snapshot.all(Event))
        or any(_tags(snapshot.all(Pod), autoscaler))
    )


def autoscaler_findings(pod: Pod, handle: Handle, options: AutoscalerOptions) -> tuple[Finding, ...]:
    """Return what the cluster's autoscaler will do to the Pod's constraints before any Pod waits.

    Raises as above.
    """
    groups = None
    if not any(handle.snapshot.all(autoscaling.NodePool)) and not (groups := _node_groups(handle.snapshot)):
        return ()
    from kubectl_spread.diagnosis.autoscaled import of_cluster_autoscaler, of_karpenter

    if groups:
        return tuple(of_cluster_autoscaler(pod, handle, groups))
    return tuple(of_karpenter(pod, handle, _scheduler(handle, options)))


def _node_groups(snapshot: Snapshot) -> tuple[autoscaling.NodeGroupStatus, ...] | None:
    status = snapshot.get(autoscaling.ConfigMap, STATUS_NAMESPACE, STATUS_NAME)
    if status is None and not any(snapshot.all(autoscaling.MachineDeployment)):
        return None
    from kubectl_spread.autoscalers.cluster_autoscaler import groups_of

    groups = groups_of(snapshot, _status_of(status) if status else None)
    return groups if status or groups else None


def _scheduler(handle: Handle, options: AutoscalerOptions) -> Scheduler:
    """Return the cluster as Karpenter sees it, which is the same for all Pods that are asked about."""
    from kubectl_spread.autoscalers.karpenter.provisioner import new_scheduler
    from kubectl_spread.autoscalers.karpenter.releases import nearest

    last: Scheduler | None = vars(options).get("last")
    if last is not None and last.snapshot is handle.snapshot:
        return last
    release = _release(handle.snapshot, options)
    specs = _instance_types(options.instance_types) if options.instance_types else None
    scheduler = new_scheduler(handle.snapshot, handle.profile, specs=specs, release=nearest(release))
    vars(options)["last"] = scheduler
    return scheduler


def _release(snapshot: Snapshot, options: AutoscalerOptions) -> tuple[int, ...] | None:
    """Return Karpenter's release: the given one, else that of its image; None for unknown."""
    from kubectl_spread.autoscalers.karpenter.releases import release_of

    given = release_of(options.karpenter_version)
    if options.karpenter_version and given is None:
        raise UsageError(f"unknown Karpenter version {options.karpenter_version!r}", hint="want one such as 1.14")
    templates = (each.spec.template for each in snapshot.all(Deployment))
    return given or next(filter(None, map(release_of, _tags(templates, "karpenter"))), None)


def _status_of(status: autoscaling.ConfigMap) -> autoscaling.AutoscalerStatus | None:
    """Return what cluster-autoscaler has written, None where that is not in the form of 1.30 and later."""
    from kubectl_spread.cluster.files.yaml_values import split

    try:
        document = next(iter(split(status.data.status)))
        return msgspec.convert(document.values(), autoscaling.AutoscalerStatus)
    except (StopIteration, msgspec.MsgspecError, SpreadError, ValueError):
        return None


def _answer(
    decided: AutoscalerDecision,
    pod: Pod,
    snapshot: Snapshot,
    *,
    fixes: tuple[Fix, ...] = (),
    changes: tuple[PoolChange, ...] = (),
) -> AutoscalerAnswer:
    from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer, AutoscalerEvent

    events = (
        event
        for event in snapshot.all(Event)
        if event.speaker == decided.kind
        and (event.involved_object.namespace, event.involved_object.name) == pod.key
        and event.involved_object.uid in {"", pod.metadata.uid}
    )
    last = max(events, key=lambda event: event.time, default=None)
    said = AutoscalerEvent(reason=last.reason, message=last.message, time=last.time) if last else None
    return AutoscalerAnswer(**asdict(decided), event=said, fixes=fixes, changes=changes)


def _tags(pods: Iterable[Pod | PodTemplateSpec], autoscaler: str) -> Iterator[str]:
    """Yield the tags of the autoscaler's images that these Pods have."""
    images = (container.image for pod in pods for container in pod.spec.containers)
    # Of tens of thousands of images hardly any has the name.
    for image in (image for image in images if autoscaler in image):
        repository, _, tag = image.partition("@")[0].rpartition(":")
        if autoscaler in repository.split("/"):
            yield tag


def _instance_types(path: str) -> tuple[autoscaling.InstanceTypeSpec, ...]:
    """Return the instance types of a file such as kwok's; ManifestError if it cannot be read."""
    from kubectl_spread.cluster.files.sources import read_inputs

    found = next(iter(read_inputs([path], recursive=False, urls=False, stdin=None)))
    if isinstance(found, ManifestProblem):
        raise ManifestError([found])
    try:
        return msgspec.json.decode(found.content, type=tuple[autoscaling.InstanceTypeSpec, ...])
    except msgspec.MsgspecError as error:
        raise ManifestError([ManifestProblem(found.source, f"holds no instance types: {error}")]) from error
