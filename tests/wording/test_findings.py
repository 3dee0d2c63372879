"""The text of every finding names the thing, and what to do."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis import findings
from kubectl_spread.diagnosis.domains import BypassedNode, Pin
from kubectl_spread.diagnosis.findings import Finding, Severity
from kubectl_spread.diagnosis.reasons import UntoleratedTaints
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.scheduler.podtopologyspread import Constraint, parsable_constraints
from kubectl_spread.wording.findings import FINDINGS
from tests.build import HOSTNAME, ZONE, app, handle, spread, typed_pod
from tests.diagnosis.judged import incoming
from tests.naming import in_order


def constraint(key: str = ZONE, **fields: Any) -> Constraint:  # noqa: ANN401 - any field of a constraint
    """Return a constraint that counts the application web, or as the fields say."""
    described = incoming(spread(key, **({"selector": app("web")} | fields)))
    return parsable_constraints(typed_pod(described), handle([]))[0]


WEB = constraint()
HALF, WHOLE = ("a", "b", "c", "d"), ("a", "b", "c", "d", "e")
MISSING = findings.MissingTopologyKey
SIMILAR = findings.SimilarTopologyKey(constraint=WEB, similar_key="zone", nodes=("x",))
TAINTED = Pin(
    node="c1",
    requirement=FilterRequirement("TaintToleration"),
    reason=UntoleratedTaints(taints=("a:NoSchedule",)),
)
TAINTED_TOO = msgspec.structs.replace(TAINTED, node="c3")
TAINTED_ALL = tuple(
    msgspec.structs.replace(TAINTED, node=f"c{n}", reason=UntoleratedTaints(taints=(f"a{min(n, 5)}:NoSchedule",)))
    for n in range(1, 7)
)
FULL = Pin(node="c2", requirement=FilterRequirement("NodeResourcesFit"), reason=None)
UNLABELLED = BypassedNode(name="x", reason="MissingTopologyKey", key=ZONE, similar_keys=())
SHUT = [BypassedNode(name=name, reason="NodeTaintsPolicy") for name in "yz"]
UNCOUNTED = findings.UncountedNodes(constraint=WEB, nodes=(UNLABELLED,), pods=1)
MIXED = findings.RolloutMixesRevisions(
    constraint=WEB, owner=WorkloadRef(kind="Deployment", name="web"), pods=("old",), label="pod-template-hash"
)
SOFT = constraint(soft=True)
MIXED_SOFTLY = replace(MIXED, constraint=SOFT, among=(SOFT,))
MIXED_TWICE = replace(MIXED, among=(WEB, constraint(HOSTNAME)))


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (
            findings.DuplicateConstraint(constraint=WEB, times=2),
            f"{ZONE} with DoNotSchedule appears 2 times; the API server refuses that. Keep one of them.",
        ),
        (
            MISSING(constraint=WEB, nodes=("x",)),
            (
                f"x lacks the label {ZONE} and can take no Pod with this constraint. Label it, or keep the Pod to"
                " labeled nodes."
            ),
        ),
        (
            MISSING(constraint=WEB, nodes=WHOLE),
            (
                f"a and 4 more lack the label {ZONE} and can take no Pod with this constraint. Label them, or"
                " keep the Pod to labeled nodes."
            ),
        ),
        (
            MISSING(constraint=WEB, nodes=("x",), severity=Severity.ERROR),
            (
                f"no node has the label {ZONE}: no Pod with this constraint can be scheduled. Correct the"
                " topologyKey, or label the nodes."
            ),
        ),
        (
            findings.PinnedMinimum(constraint=WEB, global_minimum=2, domains=("c",), pins=(TAINTED, FULL, TAINTED_TOO)),
            (
                "c has the fewest matching Pods (2), but the next Pod cannot go there: c1 and c3 (taint a:NoSchedule),"
                " c2 (NodeResourcesFit). Until that changes, every other domain is limited to 3 Pods."
            ),
        ),
        (
            findings.PinnedMinimum(constraint=WEB, global_minimum=0, domains=("c",), pins=TAINTED_ALL),
            (
                "c has the fewest matching Pods (0), but the next Pod cannot go there: c1 (taint a1:NoSchedule), c2"
                " (taint a2:NoSchedule), c3 (taint a3:NoSchedule) and 3 more nodes. Until that changes, every other"
                " domain is limited to 1 Pod."
            ),
        ),
        (
            findings.GhostPod(constraint=WEB, pod="new"),
            (
                "the labelSelector app=web does not match the Pod new itself, so such Pods are not counted, and any"
                " number of them may be in one domain. Make it match the Pod's own labels."
            ),
        ),
        (
            findings.GhostPod(constraint=WEB, pod="new", owner=WorkloadRef(kind="Deployment", name="web")),
            (
                "the labelSelector app=web does not match the Pods of deployment/web, so such Pods are not counted, and"
                " any number of them may be in one domain. Make it match their own labels."
            ),
        ),
        (
            findings.NilSelector(constraint=WEB),
            (
                "there is no labelSelector, so the constraint counts no Pod and balances nothing; it still keeps Pods"
                f" off nodes without {ZONE}. Set a labelSelector."
            ),
        ),
        (
            findings.EmptySelector(constraint=WEB, counts=True),
            (
                "the empty labelSelector counts every Pod of the namespace, whoever owns it. Select the Pods that"
                " you want to spread."
            ),
        ),
        (
            findings.EmptySelector(constraint=WEB, counts=False),
            (
                "the empty labelSelector is documented to count every Pod of the namespace, but counts none in this"
                " release (kubernetes#116607). Select the Pods that you want to spread."
            ),
        ),
        (
            SIMILAR,
            f"x lacks {ZONE} but has zone. If you mean that label, correct the topologyKey or the nodes' labels.",
        ),
        (
            findings.SimilarTopologyKey(constraint=WEB, similar_key="zone", nodes=HALF),
            (
                f"a, b, c, d lack {ZONE} but have zone. If you mean that label, correct the topologyKey or the nodes'"
                " labels."
            ),
        ),
        (
            findings.MinDomainsUnreachable(constraint=constraint(minDomains=5, maxSkew=2), domains=("a", "b")),
            (
                f"minDomains requires 5 domains of {ZONE}, but there are 2 (a, b). Until there are more, the"
                f" minimum is 0 and no domain may hold more than 2. Add a node in another domain, or lower"
                f" minDomains."
            ),
        ),
        (
            findings.MinDomainsUnreachable(constraint=constraint(minDomains=5, maxSkew=2), domains=()),
            (
                f"minDomains requires 5 domains of {ZONE}, but there are 0. Until there are more, the minimum is 0"
                f" and no domain may hold more than 2. Add a node in another domain, or lower minDomains."
            ),
        ),
        (
            findings.SingleDomain(constraint=WEB, domain="a"),
            (
                f"{ZONE} has only one domain that counts for this Pod (a), so the skew is always 0 and nothing is"
                " spread. To spread the Pods, add nodes in other domains, or let the Pods use them."
            ),
        ),
        (
            findings.SingleDomain(constraint=WEB, domain="a", daemon=True),
            (
                "each Pod of a DaemonSet counts only its own node, so the skew is always 0 and nothing is spread. Drop"
                " the constraint."
            ),
        ),
        (
            findings.MinDomainsUnreachable(constraint=constraint(minDomains=5, maxSkew=2), domains=("a",), daemon=True),
            (
                f"minDomains requires 5 domains of {ZONE}, but each Pod of a DaemonSet counts only its own node. The"
                " minimum is always 0, and no node may hold more than 2 matching Pods. Drop the constraint."
            ),
        ),
        (
            MIXED,
            (
                "1 Pod of another revision of deployment/web is counted (old): while it runs it limits where new"
                " Pods may go, and after the rollout the skew may exceed maxSkew. To avoid this, add"
                " matchLabelKeys: [pod-template-hash] to the constraint: then each revision is counted alone."
            ),
        ),
        (
            MIXED_SOFTLY,
            (
                "1 Pod of another revision of deployment/web is counted by constraint 0 (topology.kubernetes.io/zone)"
                " (old): while it runs it changes which nodes are preferred, and after the rollout the Pods may be"
                " uneven. To avoid this, add matchLabelKeys: [pod-template-hash] to that constraint: then each"
                " revision is counted alone."
            ),
        ),
        (
            MIXED_TWICE,
            (
                "1 Pod of another revision of deployment/web is counted by constraint 0 (topology.kubernetes.io/zone)"
                " and constraint 0 (kubernetes.io/hostname) (old): while it runs it limits where new Pods may go, and"
                " after the rollout the skew may exceed maxSkew. To avoid this, add matchLabelKeys: [pod-template-hash]"
                " to those constraints: then each revision is counted alone."
            ),
        ),
        (
            findings.MatchLabelKeyAbsent(index=0, keys=("a", "b")),
            "the Pod has no label a, b, which matchLabelKeys names and then ignores. Label the Pod, or drop the key.",
        ),
        (
            findings.DeprecatedTopologyKey(
                constraint=constraint("beta.kubernetes.io/os"), successor="kubernetes.io/os"
            ),
            "beta.kubernetes.io/os is deprecated and new nodes may lack it. Use kubernetes.io/os.",
        ),
        (
            findings.DeprecatedTopologyKey(constraint=constraint("beta.kubernetes.io/x"), successor=""),
            (
                "beta.kubernetes.io/x is deprecated and new nodes may lack it. Use the topology.kubernetes.io or"
                " kubernetes.io label."
            ),
        ),
        (
            UNCOUNTED,
            (f"1 matching Pod is not counted, because of its node: x, without the label {ZONE}."),
        ),
        (
            findings.UncountedNodes(constraint=WEB, nodes=(UNLABELLED, *SHUT), pods=3),
            (
                f"3 matching Pods are not counted, because of their nodes: x, without the label {ZONE}; y, z, with an"
                " untolerated taint."
            ),
        ),
        (
            findings.TerminatingPods(constraint=WEB, pods=("e1",)),
            "e1 is being deleted and not counted. Its room is in use until it is gone.",
        ),
        (
            findings.TerminatingPods(constraint=WEB, pods=("e1",), in_use=False),
            "e1 is being deleted and not counted. Its room is taken as free here, as it is once it is gone.",
        ),
        (
            findings.TerminatingPods(constraint=WEB, pods=("e1", "e2")),
            "e1, e2 are being deleted and not counted. Their room is in use until they are gone.",
        ),
        (
            findings.OtherScheduler(scheduler_name="volcano"),
            "volcano decides about this Pod; the results are those of kube-scheduler's filters.",
        ),
        (
            findings.DefaultConstraints(built_in=True, constraints=(SOFT,)),
            (
                "the Pod has no constraints of its own, so the cluster's built-in defaults apply:"
                f" {ZONE} (ScheduleAnyway)."
            ),
        ),
        (
            findings.DefaultConstraints(built_in=False, constraints=(WEB,)),
            (
                "the Pod has no constraints of its own, so the cluster's configured defaults apply:"
                f" {ZONE} (DoNotSchedule)."
            ),
        ),
        (
            findings.SoftConstraintIsPreference(constraint=SOFT, skew=3),
            (
                f"the skew over {ZONE} is 3 and maxSkew is 1. With ScheduleAnyway, maxSkew is a preference. With"
                f" DoNotSchedule, it is a limit."
            ),
        ),
        (
            findings.AutoscalerBlind(constraint=SOFT, domains=("c",)),
            (
                "no node of c can take the Pod. With only soft constraints it goes elsewhere instead of staying"
                " Pending, so no autoscaler adds a node there."
            ),
        ),
        (
            findings.StaleEvent(),
            (
                "the Pod's condition is still Unschedulable, but now it can be scheduled: the scheduler has not retried"
                " since the cluster changed, or is backing off."
            ),
        ),
        (
            findings.InjectedFields(fields=("spec.tolerations", "metadata.labels.a")),
            (
                "its Pods have spec.tolerations and metadata.labels.a that the template lacks, added by a webhook"
                " or a policy. The next Pod is evaluated with them."
            ),
        ),
        (
            findings.MergedConstraints(
                topology_key=ZONE, written=("ScheduleAnyway", "DoNotSchedule"), merged=("ScheduleAnyway",)
            ),
            (
                "kubectl apply merges constraints by topologyKey alone: the manifest has 2 constraints on"
                " topology.kubernetes.io/zone (ScheduleAnyway and DoNotSchedule), but the object will have 1"
                " (ScheduleAnyway). Use kubectl apply --server-side."
            ),
        ),
        (
            findings.MergedConstraints(topology_key=ZONE, written=("DoNotSchedule",), severity=Severity.WARNING),
            (
                "kubectl apply merges constraints by topologyKey alone: the manifest has 1 constraint on"
                " topology.kubernetes.io/zone (DoNotSchedule), but the object will have 0 (none). Use kubectl apply"
                " --server-side."
            ),
        ),
        (
            findings.MergedConstraints(
                topology_key=ZONE, written=("ScheduleAnyway", "DoNotSchedule"), severity=Severity.INFO
            ),
            (
                "the manifest has 2 constraints on topology.kubernetes.io/zone (ScheduleAnyway and DoNotSchedule). A"
                " later kubectl apply merges them by key alone, and one may be lost. Use kubectl apply --server-side."
            ),
        ),
        (
            findings.MergedConstraints(topology_key=ZONE, written=("DoNotSchedule",) * 2, severity=Severity.INFO),
            (
                "the manifest has 2 constraints on topology.kubernetes.io/zone (DoNotSchedule and DoNotSchedule). A"
                " later kubectl apply merges them by key alone, and one may be lost. Keep one constraint for each"
                " whenUnsatisfiable."
            ),
        ),
    ],
    ids=in_order,
)
def test_the_text_of_a_finding(finding: Finding, text: str) -> None:
    assert FINDINGS.text(finding) == text
