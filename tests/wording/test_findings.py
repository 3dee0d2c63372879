"""The text of every finding names the thing, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from kubectl_spread.autoscalers.decision import NotAsked
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis import findings
from kubectl_spread.diagnosis.domains import BypassedNode, Pin
from kubectl_spread.diagnosis.findings import ConstraintFinding, Finding, Severity
from kubectl_spread.diagnosis.reasons import UntoleratedTaints
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement
from kubectl_spread.scheduler.podtopologyspread import Constraint, parsable_constraints
from kubectl_spread.wording.findings import finding_text
from tests.build import HOSTNAME, ZONE, app, handle, spread, typed_pod
from tests.diagnosis.judged import incoming


def constraint(key: str = ZONE, **fields: Any) -> Constraint:  # noqa: ANN401 - any field of a constraint
    """Return a constraint that counts the application web, or as the fields say."""
    described = incoming(spread(key, **({"selector": app("web")} | fields)))
    return parsable_constraints(typed_pod(described), handle([]))[0]


WEB = constraint()
HALF, WHOLE = ("a", "b", "c", "d"), ("a", "b", "c", "d", "e")
MISSING = findings.MissingTopologyKey
SIMILAR = findings.SimilarTopologyKey(constraint=WEB, similar_key="zone", nodes=("x",))
TAINTED = Pin(
    node="c1", requirement=FilterRequirement("TaintToleration"), reason=UntoleratedTaints(taints=("a:NoSchedule",))
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
STICKS = findings.RolloutWillStick(owner=WorkloadRef(kind="Deployment", name="web"), requirements=())
SOFT = constraint(soft=True)
MIXED_SOFTLY = replace(MIXED, constraint=SOFT, among=(SOFT,))
MIXED_TWICE = replace(MIXED, among=(WEB, constraint(HOSTNAME)))


NOT_READY = NotAsked(why="not ready", detail="no AMI")
FINDINGS_TOLD = (
    findings.DuplicateConstraint(constraint=WEB, times=2),
    MISSING(constraint=WEB, nodes=("x",)),
    MISSING(constraint=WEB, nodes=WHOLE),
    MISSING(constraint=WEB, nodes=("x",), severity=Severity.ERROR),
    findings.PinnedMinimum(constraint=WEB, global_minimum=2, domains=("c",), pins=(TAINTED, FULL, TAINTED_TOO)),
    findings.PinnedMinimum(constraint=WEB, global_minimum=0, domains=("c",), pins=TAINTED_ALL),
    findings.GhostPod(constraint=WEB, pod="new"),
    findings.GhostPod(constraint=WEB, pod="new", owner=WorkloadRef(kind="Deployment", name="web")),
    findings.NilSelector(constraint=WEB),
    findings.EmptySelector(constraint=WEB, counts=True),
    findings.EmptySelector(constraint=WEB, counts=False),
    SIMILAR,
    findings.SimilarTopologyKey(constraint=WEB, similar_key="zone", nodes=HALF),
    findings.MinDomainsUnreachable(constraint=constraint(minDomains=5, maxSkew=2), domains=("a", "b")),
    findings.MinDomainsUnreachable(constraint=constraint(minDomains=5, maxSkew=2), domains=()),
    findings.SingleDomain(constraint=WEB, domain="a"),
    findings.SingleDomain(constraint=WEB, domain="a", daemon=True),
    findings.MinDomainsUnreachable(constraint=constraint(minDomains=5, maxSkew=2), domains=("a",), daemon=True),
    MIXED,
    MIXED_SOFTLY,
    MIXED_TWICE,
    replace(MIXED, together=(WorkloadRef(kind="Deployment", name="canary"),)),
    STICKS,
    replace(STICKS, by_chance=True, requirements=(ConstraintRequirement(0), FilterRequirement("NodePorts"))),
    replace(STICKS, max_unavailable=1, topology_keys=(ZONE, HOSTNAME)),
    findings.MatchLabelKeyAbsent(index=0, keys=("a", "b")),
    findings.DeprecatedTopologyKey(constraint=constraint("beta.kubernetes.io/os"), successor="kubernetes.io/os"),
    findings.DeprecatedTopologyKey(constraint=constraint("beta.kubernetes.io/x"), successor=""),
    UNCOUNTED,
    findings.UncountedNodes(constraint=WEB, nodes=(UNLABELLED, *SHUT), pods=3),
    findings.TerminatingPods(constraint=WEB, pods=("e1",)),
    findings.TerminatingPods(constraint=WEB, pods=("e1",), in_use=False),
    findings.TerminatingPods(constraint=WEB, pods=("e1", "e2")),
    findings.OtherScheduler(scheduler_name="volcano"),
    findings.DefaultConstraints(built_in=True, constraints=(SOFT,)),
    findings.DefaultConstraints(built_in=False, constraints=(WEB,)),
    findings.SoftConstraintIsPreference(constraint=SOFT, skew=3),
    findings.AutoscalerBlind(constraint=SOFT, domains=("c",)),
    findings.StaleEvent(),
    findings.InjectedFields(fields=("spec.tolerations", "metadata.labels.a")),
    findings.MergedConstraints(
        topology_key=ZONE, written=("ScheduleAnyway", "DoNotSchedule"), merged=("ScheduleAnyway",)
    ),
    findings.MergedConstraints(topology_key=ZONE, written=("DoNotSchedule",), severity=Severity.WARNING),
    findings.MergedConstraints(topology_key=ZONE, written=("ScheduleAnyway", "DoNotSchedule"), severity=Severity.INFO),
    findings.MergedConstraints(topology_key=ZONE, written=("DoNotSchedule",) * 2, severity=Severity.INFO),
    findings.PhantomDomain(constraint=WEB, domain="d", refused={"spot": NOT_READY}, fixed_by_honor=True),
    findings.PhantomDomain(constraint=WEB, domain="", refused={"spot": NOT_READY}, fixed_by_honor=False),
    findings.EmptyPool(constraint=WEB, domain="d", pools=("spot",), full=("a", "b")),
    findings.EmptyPool(constraint=WEB, domain="d", pools=("spot", "arm"), full=("a",)),
    findings.GroupAtMaximum(constraint=WEB, domain="d", groups=("workers-a",)),
)


def test_the_text_of_each_finding(same_as_golden: Callable[[str, str], None]) -> None:
    told = "".join(f"{each.id} ({each.severity}): {finding_text(each)}\n" for each in FINDINGS_TOLD)
    same_as_golden(told, "phrasebook/findings.txt")


def test_every_finding_has_a_text() -> None:
    bases: tuple[type[Finding], ...] = (Finding, ConstraintFinding)
    made = {finding for base in bases for finding in base.__subclasses__() if finding not in bases}
    assert {type(each) for each in FINDINGS_TOLD} == made
