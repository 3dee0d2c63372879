"""Answer cases as kube-scheduler would: JSON lines in, JSON lines out, in the recorded format.

Run it as ``python tests/conformance/answer.py < cases.jsonl``; README.md beside it describes the format.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API
from kubectl_spread.release import REFERENCE_MINOR, minor_of
from kubectl_spread.scheduler import dynamicresources
from kubectl_spread.scheduler.cycle import PRE_FILTER_RESULT, Evaluation, Rejection, evaluate
from kubectl_spread.scheduler.framework import Code, Handle, Status, unresolvable
from kubectl_spread.scheduler.preemption import Preemption, preempt
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Inventory, Snapshot
from tests.build import configured_profile

Case = Mapping[str, Any]


def main() -> None:
    """Answer every case on standard input."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line)), separators=(",", ":"), sort_keys=True) + "\n")


def answer(case: Case) -> dict[str, Any]:
    """Return what the engine decides about one case, in the recorded format."""
    pod, handle = question(case)
    evaluation = evaluate(pod, handle)
    answered = {"id": case["id"], **recorded(evaluation)}
    if nodes := undecided(evaluation, handle):
        answered["undecided"] = nodes
    if preemption := preempt(evaluation, handle):
        answered["preemption"] = evicted(preemption)
    return answered


def question(case: Case) -> tuple[Pod, Handle]:
    """Return the case's Pod, as the API server stores it, and its cluster."""
    profile = profile_of(case)
    pod = defaulted(convert(case["pod"], Pod), profile.release)
    # A Pod that is bound would be counted among those that were there before it.
    waiting = () if pod.spec.node_name else (case["pod"],)
    return pod, Handle.build(snapshot_of((*case["objects"], *waiting), profile), profile)


def profile_of(case: Case) -> Profile:
    """Return the profile the case asks for."""
    minor = minor_of(case.get("kubeVersion", "")) or REFERENCE_MINOR
    return configured_profile(case.get("config"), minor=minor, gates=case.get("featureGates"))


def snapshot_of(objects: Iterable[Mapping[str, Any]], profile: Profile) -> Snapshot:
    """Return the objects as a Snapshot, Pods as the API server stores them; kinds nobody reads are left out."""
    found: dict[str, list[Any]] = {kind.name: [] for kind in BY_API.values()}
    for values in objects:
        kind = BY_API.get((values["apiVersion"], values["kind"]))
        if kind is not None:
            decoded = convert(dict(values), kind.struct)
            found[kind.name].append(defaulted(decoded, profile.release) if isinstance(decoded, Pod) else decoded)
    return Snapshot.without_assumed(Inventory({name: tuple(objs) for name, objs in found.items()}))


def recorded(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation in the recorded format."""
    each: dict[str, dict[str, Any]] = {}
    nodes, scores = {}, {}
    for name, verdict in evaluation.nodes.items():
        for rejection in verdict.rejections:
            each.setdefault(rejection.plugin, {})[name] = _status(_taken_alone(rejection, name, evaluation))
        first = verdict.first
        nodes[name] = _rejection(first) if first else {"code": Code.SUCCESS.value}
        if verdict.scores:
            scores[name] = dict(verdict.scores)
    result: dict[str, Any] = {"nodes": nodes, "each": each, "scores": scores}
    if evaluation.pre_filter is not None:
        result["prefilter"] = _rejection(evaluation.pre_filter)
    return result


def undecided(evaluation: Evaluation, handle: Handle) -> list[str]:
    """Return the nodes of which the engine does not claim to know whether, or why, DynamicResources rejects them."""
    decided = {
        name
        for name, verdict in evaluation.nodes.items()
        for rejection in verdict.rejections
        if rejection.plugin == dynamicresources.NAME and rejection.status.reasons != (dynamicresources.NOT_AVAILABLE,)
    }
    return [
        name
        for name in evaluation.nodes
        if name not in decided and dynamicresources.undecided(evaluation.pod, handle, [handle.node_infos[name]])
    ]


def evicted(preemption: Preemption) -> dict[str, Any]:
    """Return what would be evicted, in the recorded format."""
    candidates = {
        candidate.node_name: {
            "victims": ["/".join(victim.key) for victim in candidate.victims],
            "violations": candidate.violations,
        }
        for candidate in (*preemption.best, *preemption.others)
    }
    return {"chosen": preemption.best[0].node_name, "candidates": candidates}


def _rejection(rejection: Rejection) -> dict[str, Any]:
    """Return a rejection in the recorded format: no plugin's name where several leave no node between them."""
    anonymous = rejection.plugin == PRE_FILTER_RESULT and rejection.status.reasons
    return _status(rejection.status) if anonymous else {"plugin": rejection.plugin, **_status(rejection.status)}


def _taken_alone(rejection: Rejection, node: str, evaluation: Evaluation) -> Status:
    """Return the plugin's verdict; a node that it narrowed away is recorded without a reason of its own."""
    left = evaluation.narrowed.get(rejection.plugin)
    return rejection.status if left is None or node in left else unresolvable(PRE_FILTER_RESULT)


def _status(status: Status) -> dict[str, Any]:
    """Return a verdict in the recorded format."""
    return {"code": status.code.value, "reasons": list(status.reasons)}


if __name__ == "__main__":
    main()
