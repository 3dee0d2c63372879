"""Small clusters, and what is done to them: every step of ``simulate``, every kind of workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.controlplane.api import Object
from tests.e2e.fixes_as_printed import workload
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec
from tests.e2e.simulated import Scenario, Step

LEAVES = [
    {"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
    for taint in ("unreachable", "not-ready")
]
"""Pods leave a node that does not answer after a second, not after five minutes."""
_JOB_QUIET_S = 15.0  # A Job makes a Pod again ten seconds after it has lost one


def _zones(*, cpu: str = "8", pods: str = "110", **sizes: int) -> Sequence[Object]:
    """Return so many nodes a zone, ``a1`` and on."""
    return [
        node(f"{zone}{number}", labels={ZONE: zone}, room={"cpu": cpu, "pods": pods})
        for zone, size in sizes.items()
        for number in range(1, size + 1)
    ]


def _spread(key: str = ZONE, **fields: Any) -> Object:  # noqa: ANN401 - any field, by its name
    """Return a constraint that counts every Pod of the shop."""
    return constraint(key, selector=match(group="shop"), **fields)


def _web(
    kind: str,
    *constraints: Object,
    name: str = "web",
    of: Mapping[str, Any] | None = None,
    **spec: Any,  # noqa: ANN401 - any field, by its name
) -> Object:
    """Return a workload of the shop with such constraints; ``of`` adds to its Pods' spec, ``spec`` to its own."""
    own = {**pod_spec(), "tolerations": LEAVES, "topologySpreadConstraints": [*constraints], **(of or {})}
    template = {"metadata": {"labels": {"app": name, "group": "shop"}}, "spec": own}
    return workload(kind, "", name=name, template=template, **spec)


def _deployment(replicas: int, *constraints: Object, **more: Any) -> Object:  # noqa: ANN401 - any field, by its name
    """Return a Deployment of the shop."""
    return _web("Deployment", *constraints, replicas=replicas, **more)


def _stateful(replicas: int, *constraints: Object, **more: Any) -> Object:  # noqa: ANN401 - any field, by its name
    """Return a StatefulSet of the shop."""
    return _web("StatefulSet", *constraints, replicas=replicas, **more)


def _bare(name: str, *constraints: Object) -> Object:
    """Return a Pod of the shop that nothing manages."""
    return _web("Pod", *constraints, name=name)


def _needs(cpu: str, **more: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any field, by its name
    """Return what Pods that request so much have in their spec."""
    return {"containers": pod_spec(resources={"requests": {"cpu": cpu}})["containers"], **more}


def budget(name: str = "web", **fields: Any) -> Object:  # noqa: ANN401 - any field, by its name
    """Return a PodDisruptionBudget for a workload's Pods."""
    spec = {"selector": match(app=name), **fields}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec}


def rolling(surge: int | str, unavailable: int | str = 0) -> Object:
    """Return a Deployment's strategy."""
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def _scenario(
    name: str,
    steps: Sequence[str],
    nodes: Sequence[Object],
    *made: Object,
    **more: Any,  # noqa: ANN401 - any field, by its name
) -> Scenario:
    """Return a scenario; steps as ``drain a1``."""
    return Scenario(name=name, nodes=nodes, made=made, steps=_steps(*steps), **more)


def _steps(*written: str) -> Sequence[Step]:
    """Return steps that are written as ``drain a1``."""
    return [(verb, value) for verb, _, value in (each.partition(" ") for each in written)]


_HASHED: Mapping[str, Any] = {"matchLabelKeys": ["pod-template-hash"]}
_HONOR: Mapping[str, Any] = {"nodeTaintsPolicy": "Honor"}
_SOFT: Mapping[str, Any] = {"whenUnsatisfiable": "ScheduleAnyway"}
_SIX = _zones(a=2, b=2, c=2)
_THREE = _zones(a=1, b=1, c=1)


_AUTOSCALED: Mapping[str, Mapping[str, Any]] = {
    "ignore": {"minDomains": 2},
    "honor": {"minDomains": 2, **_HONOR},
    "skew-2": {"minDomains": 2, "maxSkew": 2},
    "min-domains": {"minDomains": 3, **_HONOR},
}
"""Which node an autoscaler may take: one Pod a node, each node a domain; upstream's cases of removing a node."""

_DRAINS = (
    _scenario("drain-one-of-six", ["drain a1"], _SIX, _deployment(6, _spread())),
    _scenario("drain-two-of-zones", ["drain a1", "drain b1"], _SIX, _deployment(6, _spread())),
    _scenario("drain-whole-zone", ["drain a1", "drain a2"], _SIX, _deployment(6, _spread())),
    _scenario("drain-whole-zone-honor", ["drain a1", "drain a2"], _SIX, _deployment(6, _spread(**_HONOR))),
    _scenario("drain-only-node-of-zone", ["drain a1"], _THREE, _deployment(3, _spread())),
    _scenario("drain-only-node-of-zone-honor", ["drain a1"], _THREE, _deployment(3, _spread(**_HONOR))),
    _scenario("drain-only-node-of-zone-soft", ["drain a1"], _THREE, _deployment(3, _spread(**_SOFT))),
    _scenario("drain-hosts", ["drain a1"], _zones(a=4), _deployment(4, _spread(HOSTNAME))),
    _scenario("drain-hosts-skew-2", ["drain a1"], _zones(a=4), _deployment(4, _spread(HOSTNAME, maxSkew=2))),
    _scenario(
        "drain-hosts-and-zones", ["drain a1"], _SIX, _deployment(6, _spread(maxSkew=2), _spread(HOSTNAME, maxSkew=2))
    ),
    _scenario("drain-budget-none", ["drain a1"], _SIX, _deployment(6, _spread()), budget(minAvailable=6)),
    _scenario(
        "drain-budget-one-by-one",
        ["drain a1"],
        _zones(a=1, b=2),
        _deployment(6, _spread(HOSTNAME, maxSkew=4), of=_needs("1")),
        budget(maxUnavailable=1),
    ),
    _scenario(
        "drain-budget-stuck", ["drain a1", "drain a2"], _SIX, _deployment(6, _spread()), budget(maxUnavailable=1)
    ),
    _scenario("drain-budget-percent", ["drain a1"], _SIX, _deployment(5, _spread()), budget(minAvailable="60%")),
    _scenario(
        "drain-two-budgets",
        ["drain a1"],
        _SIX,
        _deployment(3, _spread()),
        budget(maxUnavailable=2),
        {**budget(maxUnavailable=1), "metadata": {"name": "second"}},
    ),
    _scenario(
        "drain-budget-of-other",
        ["drain a1", "drain b1"],
        _SIX,
        _deployment(4, _spread()),
        _deployment(2, name="api"),
        budget("api", minAvailable=2),
    ),
    _scenario("drain-stateful", ["drain a1"], _SIX, _stateful(6, _spread())),
    _scenario("drain-stateful-stuck", ["drain a1"], _THREE, _stateful(3, _spread())),
    _scenario(
        "drain-stateful-parallel-stuck",
        ["drain a1", "drain b1"],
        _THREE,
        _stateful(3, _spread(), podManagementPolicy="Parallel"),
    ),
    _scenario(
        "drain-job",
        ["drain a1"],
        _zones(a=2, b=1, c=1),
        _web("Job", _spread(), parallelism=3, completions=20),
        quiet_s=_JOB_QUIET_S,
    ),
    _scenario(
        "drain-job-stuck",
        ["drain a1"],
        _THREE,
        _web("Job", _spread(), parallelism=3, completions=20),
        quiet_s=_JOB_QUIET_S,
    ),
    _scenario(
        "drain-daemons-stay",
        ["drain a1"],
        _zones(a=2, b=1, c=1),
        _web("DaemonSet", name="agent"),
        _deployment(3, constraint(ZONE, selector=match(app="web"))),
    ),
    _scenario("drain-replicaset", ["drain a1"], _SIX, _web("ReplicaSet", _spread(), replicas=4)),
    _scenario("drain-bare-refused", ["drain a1"], _zones(a=1), _deployment(3, _spread()), _bare("alone")),
    _scenario(
        "drain-bare-forced",
        ["drain a1", "drain b1"],
        _zones(a=1, b=1),
        _deployment(3, _spread()),
        _bare("alone"),
        force=True,
    ),
    _scenario(
        "drain-counting-each-other",
        ["drain a1", "drain b2"],
        _SIX,
        _deployment(3, _spread()),
        _deployment(3, _spread(), name="api"),
    ),
    _scenario(
        "drain-tight-cpu",
        ["drain a1"],
        _zones(cpu="2", a=2, b=1, c=1),
        _deployment(6, _spread(maxSkew=2), of=_needs("1")),
    ),
    _scenario(
        "drain-preempts",
        ["drain a1"],
        _zones(cpu="2", a=3),
        _deployment(3, name="batch", of=_needs("1", priorityClassName="low")),
        _deployment(3, _spread(HOSTNAME), of=_needs("1", priorityClassName="high")),
    ),
    _scenario("drain-and-uncordon", ["drain a1", "uncordon a1"], _THREE, _deployment(3, _spread())),
    _scenario("drain-and-add", ["drain a1", "add-node a2"], _zones(a=4), _deployment(4, _spread(HOSTNAME))),
    _scenario(
        "drain-min-domains", ["drain a1"], _zones(a=3), _deployment(3, _spread(HOSTNAME, minDomains=3, **_HONOR))
    ),
    _scenario("drain-two-of-a-host", ["drain a1"], _zones(a=3), _deployment(6, _spread(HOSTNAME, maxSkew=2))),
    _scenario(
        "drain-selector",
        ["drain a1"],
        _zones(a=3, b=2),
        _deployment(4, _spread(HOSTNAME), of={"nodeSelector": {ZONE: "a"}}),
    ),
)
"""Drains, of one node and of two, with and without budgets."""


_REMOVALS = (
    _scenario("remove-one", ["remove a1"], _SIX, _deployment(6, _spread())),
    _scenario("remove-zone", ["remove a1", "remove a2"], _SIX, _deployment(6, _spread())),
    _scenario("remove-only-node-of-zone", ["remove a1"], _THREE, _deployment(3, _spread())),
    _scenario("remove-below-min-domains", ["remove a1"], _THREE, _deployment(4, _spread(minDomains=3))),
    _scenario("remove-despite-budget", ["remove a1"], _SIX, _deployment(6, _spread()), budget(minAvailable=6)),
    _scenario("remove-under-stateful", ["remove a1"], _THREE, _web("DaemonSet", name="agent"), _stateful(3, _spread())),
    _scenario(
        "remove-bare",
        ["remove a1", "remove b1"],
        _zones(a=1, b=1),
        _bare("alone"),
        _deployment(2, _spread()),
        force=True,
    ),
    _scenario("remove-and-add", ["remove a1", "add-node b1=2"], _THREE, _deployment(4, _spread(minDomains=3))),
)
"""Nodes that are drained and taken away."""


_LOSSES = (
    _scenario("lose-zone-ignore", ["lose topology.kubernetes.io/zone=a"], _SIX, _deployment(6, _spread())),
    _scenario("lose-zone-honor", ["lose topology.kubernetes.io/zone=a"], _SIX, _deployment(6, _spread(**_HONOR))),
    _scenario("lose-zone-soft", ["lose topology.kubernetes.io/zone=a"], _SIX, _deployment(6, _spread(**_SOFT))),
    _scenario(
        "lose-zone-and-return",
        ["lose topology.kubernetes.io/zone=a", "return topology.kubernetes.io/zone=a"],
        _SIX,
        _deployment(6, _spread()),
    ),
    _scenario(
        "lose-zone-and-return-honor",
        ["lose topology.kubernetes.io/zone=a", "return topology.kubernetes.io/zone=a"],
        _SIX,
        _deployment(6, _spread(**_HONOR)),
    ),
    _scenario("lose-zone-stateful", ["lose topology.kubernetes.io/zone=a"], _SIX, _stateful(6, _spread(**_HONOR))),
    _scenario(
        "lose-zone-stateful-and-return",
        ["lose topology.kubernetes.io/zone=a", "return topology.kubernetes.io/zone=a"],
        _SIX,
        _stateful(6, _spread(**_HONOR)),
    ),
    _scenario(
        "lose-zone-daemons", ["lose topology.kubernetes.io/zone=a"], _THREE, _web("DaemonSet", _spread(HOSTNAME))
    ),
    _scenario("lose-node", ["lose a1"], _SIX, _deployment(6, _spread())),
    _scenario("lose-node-and-remove", ["lose a1", "remove a1"], _zones(a=2, b=1, c=1), _stateful(3, _spread())),
    _scenario("lose-two-of-three", ["lose a1", "lose a2"], _zones(a=3, b=1, c=1), _deployment(6, _spread())),
    _scenario("lose-all", ["lose a1", "lose b1", "lose c1"], _THREE, _deployment(3, _spread())),
    _scenario(
        "lose-zone-min-domains",
        ["lose topology.kubernetes.io/zone=a"],
        _SIX,
        _deployment(6, _spread(minDomains=3, **_HONOR)),
    ),
    _scenario(
        "lose-zone-min-domains-then-scale",
        ["lose topology.kubernetes.io/zone=a", "scale deployment/web=8"],
        _SIX,
        _deployment(6, _spread(minDomains=3, **_HONOR)),
    ),
    _scenario(
        "lose-zone-then-add", ["lose topology.kubernetes.io/zone=a", "add-node b1"], _SIX, _deployment(6, _spread())
    ),
    _scenario("lose-bare", ["lose a1", "lose b1"], _zones(a=1, b=1, c=1), _bare("alone"), _deployment(2, _spread())),
    _scenario(
        "lose-zone-budget",
        ["lose topology.kubernetes.io/zone=a"],
        _SIX,
        _deployment(6, _spread(**_HONOR)),
        budget(minAvailable=6),
    ),
    _scenario(
        "lose-zone-job",
        ["lose topology.kubernetes.io/zone=a"],
        _SIX,
        _web("Job", _spread(**_HONOR), parallelism=3, completions=20),
        quiet_s=_JOB_QUIET_S,
    ),
    _scenario(
        "lose-tight-cpu",
        ["lose topology.kubernetes.io/zone=a"],
        _zones(cpu="2", a=1, b=1, c=1),
        _deployment(6, _spread(**_HONOR), of=_needs("1")),
    ),
)
"""Nodes and zones that stop answering, and some that answer again."""


_SCALINGS = (
    _scenario("scale-up", ["scale deployment/web=9"], _SIX, _deployment(3, _spread())),
    _scenario(
        "scale-past-the-room",
        ["scale deployment/web=8"],
        _zones(cpu="2", a=1, b=1, c=1),
        _deployment(3, _spread(), of=_needs("1")),
    ),
    _scenario(
        "scale-past-the-skew",
        ["scale deployment/web=10"],
        _zones(cpu="2", a=1, b=2, c=2),
        _deployment(3, _spread(), of=_needs("1")),
    ),
    _scenario(
        "scale-past-the-hosts",
        ["scale deployment/web=4"],
        _zones(cpu="3", a=3),
        _deployment(2, _spread(HOSTNAME), of=_needs("2")),
    ),
    _scenario("scale-down", ["scale deployment/web=5"], _SIX, _deployment(9, _spread())),
    _scenario("scale-down-to-one", ["scale deployment/web=1"], _SIX, _deployment(6, _spread())),
    _scenario(
        "scale-down-and-up",
        ["scale deployment/web=2", "scale deployment/web=7"],
        _SIX,
        _deployment(6, _spread(maxSkew=2)),
    ),
    _scenario(
        "scale-down-pending-first",
        ["scale deployment/web=3"],
        _zones(cpu="1", a=1, b=1, c=1),
        _deployment(5, _spread(), of=_needs("1")),
    ),
    _scenario(
        "scale-down-crowded",
        ["scale deployment/web=4"],
        _zones(a=3),
        _deployment(6, _spread(HOSTNAME, maxSkew=3)),
        before=_steps(*["cordon a1", "scale deployment/web=8", "uncordon a1"]),
    ),
    _scenario(
        "scale-stateful-up",
        ["scale statefulset/web=5"],
        _zones(cpu="2", a=1, b=1, c=1),
        _stateful(2, _spread(), of=_needs("1")),
    ),
    _scenario(
        "scale-stateful-stuck",
        ["scale statefulset/web=6"],
        _zones(cpu="3", a=3),
        _stateful(2, _spread(HOSTNAME), of=_needs("2")),
    ),
    _scenario(
        "scale-stateful-parallel-stuck",
        ["scale statefulset/web=6"],
        _zones(cpu="3", a=3),
        _stateful(2, _spread(HOSTNAME), of=_needs("2"), podManagementPolicy="Parallel"),
    ),
    _scenario("scale-stateful-down", ["scale statefulset/web=3"], _SIX, _stateful(6, _spread())),
    _scenario("scale-after-cordon", ["cordon a1", "scale deployment/web=6"], _THREE, _deployment(3, _spread())),
    _scenario(
        "scale-after-cordon-honor", ["cordon a1", "scale deployment/web=6"], _THREE, _deployment(3, _spread(**_HONOR))
    ),
    _scenario(
        "scale-counting-each-other",
        ["scale deployment/api=5", "scale deployment/web=5"],
        _SIX,
        _deployment(3, _spread()),
        _deployment(2, _spread(), name="api"),
    ),
    _scenario(
        "scale-uncounted-beside",
        ["scale deployment/web=8"],
        _zones(a=1, b=2),
        _deployment(3, _spread()),
        _deployment(4, name="api"),
    ),
    _scenario(
        "scale-preempts",
        ["scale deployment/web=3"],
        _zones(cpu="2", a=3),
        _deployment(4, name="batch", of=_needs("1", priorityClassName="low")),
        _deployment(1, _spread(HOSTNAME), of=_needs("1", priorityClassName="high")),
    ),
    _scenario(
        "scale-up-then-add",
        ["scale deployment/web=5", "add-node a1=2"],
        _zones(cpu="1", a=3),
        _deployment(3, _spread(HOSTNAME), of=_needs("1")),
    ),
    _scenario(
        "scale-to-nothing",
        ["scale deployment/api=0"],
        _SIX,
        _deployment(3, _spread()),
        _deployment(3, _spread(), name="api"),
    ),
)
"""Workloads that are scaled."""


_RESTARTS = (
    *(
        _scenario(
            f"restart-surge-{surge}{suffix}".replace("%", ""),
            ["restart deployment/web"],
            _THREE,
            _deployment(6, _spread(**fields), strategy=rolling(surge, unavailable)),
            quiet_s=4.0,
        )
        for surge, unavailable in ((0, 1), ("25%", "25%"), ("100%", 0), (1, 0))
        for suffix, fields in (("", {}), ("-hashed", _HASHED))
    ),
    _scenario(
        "restart-one-a-host",
        ["restart deployment/web"],
        _zones(cpu="3", a=3),
        _deployment(3, _spread(HOSTNAME), of=_needs("2"), strategy=rolling(1)),
        quiet_s=4.0,
    ),
    _scenario(
        "restart-one-a-host-surge-0",
        ["restart deployment/web"],
        _zones(cpu="3", a=3),
        _deployment(3, _spread(HOSTNAME), of=_needs("2"), strategy=rolling(0, 1)),
        quiet_s=4.0,
    ),
    _scenario(
        "restart-recreate",
        ["restart deployment/web"],
        _THREE,
        _deployment(6, _spread(), strategy={"type": "Recreate"}),
        quiet_s=4.0,
    ),
    _scenario("restart-stateful", ["restart statefulset/web"], _THREE, _stateful(4, _spread()), quiet_s=4.0),
    _scenario(
        "restart-daemons",
        ["restart daemonset/web"],
        _THREE,
        _web("DaemonSet", name="web"),
        _deployment(3, _spread(), name="api"),
        quiet_s=4.0,
    ),
    _scenario(
        "restart-after-cordon",
        ["cordon a1", "restart deployment/web"],
        _THREE,
        _deployment(6, _spread(), strategy=rolling("25%", "25%")),
        quiet_s=4.0,
    ),
    _scenario(
        "restart-tight-cpu",
        ["restart deployment/web"],
        _zones(cpu="3", a=1, b=1, c=1),
        _deployment(6, _spread(), of=_needs("1"), strategy=rolling("100%")),
        quiet_s=4.0,
    ),
)
"""Rollouts, to their end or to where they stick."""


_OTHERS = (
    _scenario(
        "add-lets-in", ["add-node a1=2"], _zones(cpu="1", a=3), _deployment(5, _spread(HOSTNAME), of=_needs("1"))
    ),
    _scenario(
        "add-under-daemons",
        ["add-node a1", "cordon b1", "add-node c1"],
        _THREE,
        _web("DaemonSet", _spread(HOSTNAME), name="agent"),
    ),
    _scenario(
        "uncordon-lets-in",
        ["uncordon a1"],
        _THREE,
        _deployment(3, _spread()),
        before=_steps(*["cordon a1", "scale deployment/web=5"]),
    ),
    _scenario("delete-bare", ["delete pod/alone-0"], _THREE, _bare("alone", _spread()), _deployment(4, _spread())),
    _scenario("delete-of-stateful", ["delete pod/web-1"], _THREE, _stateful(4, _spread())),
    *(
        _scenario(f"{phase}-{name}", [step], _THREE, _deployment(3, _spread(HOSTNAME, **fields)))
        for name, fields in _AUTOSCALED.items()
        for phase, step in (("emptied", "drain a1"), ("gone", "remove a1"))
    ),
)
"""What is left: Pods that are deleted, nodes that come, the four spread cases of an autoscaler."""


_APART = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": HOSTNAME, "labelSelector": match(app="web")}
            ]
        }
    }
}
"""Pods of web keep off each other's nodes."""

_MIXED = (
    _scenario("mixed-apart", ["drain a1", "scale deployment/web=6"], _SIX, _deployment(4, _spread(), of=_APART)),
    _scenario(
        "mixed-budget-of-stateful", ["drain a1"], _zones(a=1, b=1), _stateful(5, _spread()), budget(maxUnavailable=1)
    ),
    _scenario(
        "mixed-budget-short",
        ["drain b1"],
        _THREE,
        _deployment(4, _spread(HOSTNAME)),
        budget(minAvailable=4),
        before=_steps("cordon a1", "scale deployment/web=7"),
    ),
    _scenario(
        "mixed-budget-unready-go",
        ["lose a1", "drain b1"],
        _THREE,
        _deployment(3, _spread(**_HONOR)),
        budget(minAvailable=3, unhealthyPodEvictionPolicy="AlwaysAllow"),
    ),
    _scenario(
        "mixed-restart-while-lost",
        [f"lose {ZONE}=a", "restart deployment/web"],
        _SIX,
        _deployment(6, _spread(**_HONOR), strategy=rolling("25%", "25%")),
    ),
    _scenario(
        "mixed-restart-of-the-stuck",
        ["restart deployment/web"],
        _zones(cpu="2", a=1, b=1, c=1),
        _deployment(8, _spread(), of=_needs("1"), strategy=rolling("25%", "50%")),
    ),
    _scenario(
        "mixed-restart-partition",
        ["restart statefulset/web"],
        _THREE,
        _stateful(4, _spread(), updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}),
    ),
    _scenario(
        "mixed-restart-on-delete",
        ["restart statefulset/web", "delete pod/web-0"],
        _THREE,
        _stateful(3, _spread(), updateStrategy={"type": "OnDelete"}),
    ),
    _scenario(
        "mixed-restart-stateful-stuck",
        ["cordon a1", "restart statefulset/web"],
        _THREE,
        _stateful(3, _spread(HOSTNAME)),
    ),
    _scenario(
        "mixed-restart-daemons-surge",
        ["restart daemonset/web"],
        _zones(cpu="2", a=1, b=1, c=1),
        _web(
            "DaemonSet",
            of=_needs("1"),
            updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        ),
        _deployment(3, constraint(ZONE, selector=match(app="api")), name="api", of=_needs("1")),
    ),
    _scenario(
        "mixed-restart-daemons-on-delete",
        ["restart daemonset/web", "drain a1"],
        _THREE,
        _web("DaemonSet", _spread(HOSTNAME), updateStrategy={"type": "OnDelete"}),
        _deployment(3, _spread(), name="api"),
    ),
    _scenario(
        "mixed-affinity-ignored",
        ["drain b1", "scale deployment/web=5"],
        _zones(a=2, b=1),
        _deployment(3, _spread(nodeAffinityPolicy="Ignore"), of={"nodeSelector": {ZONE: "a"}}),
    ),
    _scenario(
        "mixed-two-keys-one-drain-of-many",
        ["drain a1", "drain b1", "uncordon a1", "restart deployment/web"],
        _SIX,
        _deployment(8, _spread(), _spread(HOSTNAME, maxSkew=2, **_SOFT), strategy=rolling("25%", "25%")),
    ),
    _scenario(
        "mixed-preempts-after-loss",
        ["lose a1"],
        _zones(cpu="2", a=1, b=1, c=1),
        _deployment(3, name="batch", of=_needs("1", priorityClassName="low")),
        _deployment(3, _spread(**_HONOR), of=_needs("1", priorityClassName="high")),
    ),
    _scenario(
        "mixed-indexed-job",
        ["drain a1", "add-node b1"],
        _THREE,
        _web("Job", _spread(HOSTNAME), parallelism=4, completions=8, completionMode="Indexed"),
        quiet_s=_JOB_QUIET_S,
    ),
    _scenario(
        "mixed-counted-by-nobody",
        ["scale deployment/web=7", "drain a1"],
        _THREE,
        _deployment(3, constraint(ZONE, selector=match(app="nobody"))),
        _deployment(2, _spread(), name="api"),
    ),
)
"""What meets in a real cluster: several causes at once."""


_IGNORED_IF_EVICTED = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
_FAILED_IF_EVICTED = {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}]}


def _batch(**spec: Any) -> Object:  # noqa: ANN401 - any field of a Job's spec
    """Return a Job, four of whose Pods run at once, two on each of two nodes."""
    return _web("Job", _spread(HOSTNAME, maxSkew=2), **{"parallelism": 4, "completions": 20, **spec})


def _job(name: str, steps: Sequence[str], nodes: Sequence[Object], *made: Object) -> Scenario:
    """Return a scenario about a Job."""
    return _scenario(f"job-{name}", steps, nodes, *made, quiet_s=_JOB_QUIET_S)


_JOBS = (
    _job("within-its-limit", ["drain a1"], _zones(a=2), _batch(backoffLimit=2)),
    _job("beyond-its-limit", ["drain a1"], _zones(a=2), _batch(backoffLimit=1)),
    _job(
        "beyond-its-limit-with-others",
        ["drain a1"],
        _zones(a=2, b=1),
        _batch(backoffLimit=0),
        _deployment(2, _spread(), name="api"),
    ),
    _job("lost-beyond-its-limit", ["lose a1"], _zones(a=3), _batch(backoffLimit=0)),
    _job("deleted-within-its-limit", ["drain a1", "uncordon a1", "drain a2"], _zones(a=3), _batch(backoffLimit=3)),
    _job("ignores-evictions", ["drain a1"], _zones(a=2), _batch(backoffLimit=0, podFailurePolicy=_IGNORED_IF_EVICTED)),
    _job("fails-if-evicted", ["drain a1"], _zones(a=2), _batch(podFailurePolicy=_FAILED_IF_EVICTED)),
    _job("replaces-failed", ["drain a1"], _zones(a=2), _batch(podReplacementPolicy="Failed")),
    _job("replaces-failed-not-lost", ["lose a1"], _zones(a=3), _batch(podReplacementPolicy="Failed")),
    _job(
        "indexes-fail",
        ["drain a1"],
        _zones(a=2),
        _batch(completions=8, completionMode="Indexed", backoffLimitPerIndex=0),
    ),
    _job(
        "too-many-indexes-fail",
        ["drain a1"],
        _zones(a=2),
        _batch(completions=8, completionMode="Indexed", backoffLimitPerIndex=0, maxFailedIndexes=1),
    ),
    _job(
        "indexes-again",
        ["drain a1"],
        _zones(a=2),
        _batch(completions=8, completionMode="Indexed", backoffLimitPerIndex=1, maxFailedIndexes=1),
    ),
)
"""What becomes of Jobs that lose Pods."""

_AVAILABLE_LATE_S = 6.0  # How long to wait where Pods are available two seconds after they are ready
_CALM: Mapping[str, Any] = {"minReadySeconds": 2}


def _slow(name: str, steps: Sequence[str], nodes: Sequence[Object], *made: Object) -> Scenario:
    """Return a scenario in which Pods are available later than they are ready."""
    return _scenario(f"min-ready-{name}", steps, nodes, *made, quiet_s=_AVAILABLE_LATE_S)


_TIMES = (
    _slow(
        "restart",
        ["restart deployment/web"],
        _THREE,
        _deployment(6, _spread(), strategy=rolling("25%", "25%"), **_CALM),
    ),
    _slow(
        "restart-surge-0",
        ["restart deployment/web"],
        _THREE,
        _deployment(4, _spread(), strategy=rolling(0, 2), **_CALM),
    ),
    _slow("restart-stateful", ["restart statefulset/web"], _THREE, _stateful(3, _spread(), **_CALM)),
    _slow("restart-daemons", ["restart daemonset/web"], _THREE, _web("DaemonSet", **_CALM)),
    _slow("drain-budget", ["drain a1"], _zones(a=1, b=2), _deployment(6, **_CALM), budget(maxUnavailable=1)),
    _scenario(
        "lose-tolerated-forever",
        ["lose a1"],
        _SIX,
        _deployment(6, _spread(), of={"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}),
    ),
    _scenario(
        "lose-tolerated-not-a-second",
        ["lose a1"],
        _SIX,
        _deployment(6, _spread(), of={"tolerations": [{**each, "tolerationSeconds": 0} for each in LEAVES]}),
    ),
    _scenario(
        "lose-some-of-two-zones",
        ["lose a1", "lose b1"],
        _zones(a=3, b=3),
        _deployment(6, _spread(**_HONOR)),
    ),
    _scenario("drain-one-then-the-other", ["drain a1", "uncordon a1", "drain b1"], _SIX, _deployment(6, _spread())),
    _scenario("drain-twice", ["drain a1", "drain a1"], _SIX, _deployment(6, _spread())),
)
"""What depends on time, and on what came before."""

_NUMBERED: Mapping[str, Any] = {"ordinals": {"start": 5}}
_AT_ONCE: Mapping[str, Any] = {"podManagementPolicy": "Parallel"}


def _daemons(**rolling: Any) -> Object:  # noqa: ANN401 - any field of rollingUpdate
    """Return a DaemonSet, of whose Pods a node has room for one."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    return _web("DaemonSet", of=_needs("2"), updateStrategy=strategy)


_ROLLOUTS = (
    _scenario("stateful-ordinals-drain", ["drain a1"], _SIX, _stateful(6, _spread(), **_NUMBERED)),
    _scenario(
        "stateful-ordinals-scale",
        ["scale statefulset/web=2", "scale statefulset/web=5"],
        _THREE,
        _stateful(4, _spread(), **_NUMBERED),
    ),
    _scenario(
        "stateful-ordinals-partition",
        ["restart statefulset/web", "drain a1"],
        _SIX,
        _stateful(
            4, _spread(), **_NUMBERED, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
        ),
        quiet_s=4.0,
    ),
    _scenario(
        "stateful-parallel-scale-while-lost",
        ["lose a1", "scale statefulset/web=5"],
        _THREE,
        _stateful(3, _spread(**_HONOR), **_AT_ONCE),
    ),
    _scenario(
        "stateful-scale-while-lost",
        ["lose a1", "scale statefulset/web=5"],
        _THREE,
        _stateful(3, _spread(**_HONOR)),
    ),
    _scenario(
        "stateful-parallel-restart-stuck",
        ["drain a1", "restart statefulset/web"],
        _THREE,
        _stateful(3, _spread(), **_AT_ONCE),
        quiet_s=4.0,
    ),
    _scenario(
        "stateful-parallel-restart-while-lost",
        ["lose a1", "restart statefulset/web"],
        _SIX,
        _stateful(6, _spread(**_HONOR), **_AT_ONCE),
        quiet_s=4.0,
    ),
    _scenario(
        "stateful-scale-down-while-lost",
        ["lose b1", "scale statefulset/web=1"],
        _THREE,
        _stateful(3, _spread(**_HONOR)),
    ),
    _scenario("daemons-two-at-once", ["restart daemonset/web"], _zones(cpu="2", a=4), _daemons(maxUnavailable=2)),
    _scenario(
        "daemons-half-at-once-while-lost",
        ["lose a1", "restart daemonset/web"],
        _zones(cpu="2", a=4),
        _daemons(maxUnavailable="50%"),
        quiet_s=4.0,
    ),
    _scenario(
        "daemons-stuck-while-lost", ["lose a1", "restart daemonset/web"], _zones(cpu="2", a=3), _daemons(), quiet_s=4.0
    ),
    _scenario(
        "daemons-surge-two",
        ["restart daemonset/web"],
        _zones(cpu="2", a=4),
        _daemons(maxSurge=2, maxUnavailable=0),
        quiet_s=4.0,
    ),
    _scenario(
        "daemons-surge-with-room",
        ["restart daemonset/web"],
        _zones(cpu="4", a=4),
        _daemons(maxSurge="50%", maxUnavailable=0),
        quiet_s=4.0,
    ),
    _scenario(
        "stuck-then-scaled",
        ["restart deployment/web", "scale deployment/web=9"],
        _zones(cpu="6", a=3),
        _deployment(6, _spread(HOSTNAME, **_HASHED), of=_needs("3"), strategy=rolling(2)),
        quiet_s=4.0,
    ),
    _scenario(
        "stuck-then-scaled-down",
        ["restart deployment/web", "scale deployment/web=2"],
        _zones(cpu="6", a=3),
        _deployment(6, _spread(HOSTNAME), of=_needs("3"), strategy=rolling(3)),
        quiet_s=4.0,
    ),
    _scenario(
        "stuck-then-restarted",
        ["restart deployment/web", "restart deployment/web"],
        _zones(cpu="6", a=3),
        _deployment(6, _spread(HOSTNAME), of=_needs("3"), strategy=rolling(2, 1)),
        quiet_s=4.0,
    ),
    _scenario(
        "recreated-while-lost",
        ["lose a1", "restart deployment/web"],
        _THREE,
        _deployment(3, _spread(**_HONOR), strategy={"type": "Recreate"}),
        quiet_s=4.0,
    ),
    _scenario("lost-then-scaled-down", ["lose a1", "scale deployment/web=3"], _SIX, _deployment(6, _spread(**_HONOR))),
)
"""Rollouts and scalings of every kind, with what is in their way."""


SCENARIOS: Mapping[str, Scenario] = {
    each.name: each
    for each in (
        *(*_DRAINS, *_REMOVALS, *_LOSSES, *_SCALINGS, *_RESTARTS, *_OTHERS, *_MIXED),
        *(*_JOBS, *_TIMES, *_ROLLOUTS),
    )
}
