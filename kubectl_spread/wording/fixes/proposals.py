"""What each change is, in words, and what to know before it is made."""

from collections.abc import Mapping, Sequence

from kubectl_spread.diagnosis.fixes import constraints, demands, moves, nodes, strategy
from kubectl_spread.diagnosis.fixes.proposals import OfConstraint, Proposal
from kubectl_spread.wording.reasons import noun_for
from kubectl_spread.wording.words import count_of, enumerated, first_and_more

# Change → what to know before it is made.
CAUTIONS: Mapping[type[Proposal], str] = {
    demands.AddToleration: "the nodes are reserved on purpose: make sure that this Pod belongs there",
    moves.RollBack: "this undoes what the newest revision changed: ask its author first",
    nodes.Uncordon: "first find out why the node is cordoned",
    nodes.RemoveTaint: "other Pods may then be scheduled there too: make sure that the taint is no longer needed",
    nodes.AddNode: "add the node yourself: scale the node group, or use the autoscaler",
}


def of_constraints(change: OfConstraint, keys: Sequence[str]) -> str:
    """Return the same change of the constraints on these topology keys."""
    on = f"the constraint{'s' * bool(keys[1:])} on {enumerated(keys)}"
    match change:
        case constraints.FixSelector():
            less = f"{count_of(change.others, 'Pod')} of {first_and_more(change.workloads)}" if change.workloads else ""
            no_longer = f", no longer {less}" * bool(less)
            keys = f" and matchLabelKeys [{change.label}]" * bool(change.label)
            return f"count only Pods with {change.selector}{keys} in {on}{no_longer}{_apart(change.apart)}"
        case constraints.FixTopologyKey():
            former = " and an older revision uses" * change.former
            return f"use the topologyKey {change.meant}, which nodes carry{former}, instead of {enumerated(keys)}"
        case constraints.AddMatchLabelKeys():
            they_count = "they count" if keys[1:] else "it counts"
            only = f"so that {they_count} only Pods of the same revision"
            no_longer = f", no longer those of {enumerated(change.apart)}" * bool(change.apart)
            return f"add matchLabelKeys [{change.label}] to {on}, {only}{no_longer}{_apart(change.apart)}"
        case constraints.HonorTaints():
            so = "so that cordoned nodes and nodes with untolerated taints do not count"
            return f"set nodeTaintsPolicy Honor in {on}, {so}"
        case constraints.IgnoreAffinity():
            return f"set nodeAffinityPolicy Ignore in {on}, so that nodes outside the Pod's node affinity count"
        case constraints.HonorAffinity():
            return f"set nodeAffinityPolicy Honor in {on}, so that nodes outside the Pod's node affinity do not count"
        case constraints.LowerMinDomains():
            few = f"no more than {count_of(change.min_domains, 'domain')} count{'s' * (change.min_domains == 1)}"
            return f"lower minDomains to {change.min_domains} in {on}, because {few}"
        case constraints.RaiseMaxSkew():
            return f"raise maxSkew to {change.max_skew} in {on}"
        case constraints.MakeSoft():
            return f"set whenUnsatisfiable ScheduleAnyway in {on}, so that it is only a preference"
        case _:
            raise NotImplementedError(change.id)


def _apart(workloads: Sequence[str]) -> str:
    does = "counts these Pods too and is" if len(workloads) == 1 else "count these Pods too and are"
    return f", although {enumerated(workloads)} {does} spread together with them" * bool(workloads)


def of_others(change: Proposal) -> str:
    """Return the change of something else than a constraint."""
    match change:
        case constraints.AddPodLabel():
            return f"label the Pod {', '.join(f'{key}={value}' for key, value in change.labels)}"
        case demands.RequireZones():
            return f"keep the Pod to zone{'s' * (len(change.zones) > 1)} {enumerated(change.zones)} by node affinity"
        case demands.AddToleration():
            return f"tolerate the taint {change.taint}"
        case demands.RelaxNodeSelector(label=None):
            return "only prefer the nodes that the required node affinity names"
        case demands.RelaxNodeSelector():
            return f"drop {'='.join(change.label or ())} from the nodeSelector"
        case demands.LowerRequests():
            whose = "the Pod" if change.container is None else f"container {change.container}"
            return f"lower the {change.resource} request of {whose} to {change.quantity}"
        case demands.RelaxPodAffinity():
            return f"only prefer the {change.field} to Pods {change.selector} in the same {change.topology_key}"
        case demands.ChangeHostPort():
            return f"drop the host port {change.port}/{change.protocol} of container {change.container}"
        case moves.MovePod():
            does = "finish the deletion of" if change.ending else "evict" if change.evicted else "delete"
            return f"{does} the Pod {change.namespace}/{change.pod} on {change.node}"
        case moves.RecreatePod(resumed=""):
            was = "was" if change.certain else "may have been"
            return f"delete the Pod {change.namespace}/{change.pod}, which {was} made before its template was changed"
        case moves.RecreatePod():
            pod = f"{change.namespace}/{change.pod}"
            return f"resume {change.resumed}, whose rollout replaces the Pod {pod} of an older template"
        case moves.RollBack():
            return f"go back to revision {change.revision} of {change.owner}"
        case strategy.ChangeStrategy():
            fewer = f"an older Pod goes before a new one comes, and up to {change.max_unavailable} of {change.replicas}"
            bounds = f"maxSurge 0 and maxUnavailable {change.max_unavailable}"
            return f"set {bounds} in the strategy of {change.owner}: {fewer} may be missing meanwhile"
        case nodes.Uncordon():
            ill = f", although its condition {enumerated(change.problems)} reports a problem" * bool(change.problems)
            return f"uncordon {change.node}{ill}"
        case nodes.LabelNode():
            return f"label {change.node} {change.key}={change.value}, to match its {change.similar}"
        case nodes.RemoveTaint():
            return f"remove the taint {change.taint} from {change.node}"
        case nodes.AddNode():
            return _add_node(change)
        case _:
            raise NotImplementedError(change.id)


def _add_node(change: nodes.AddNode) -> str:
    domains = " and ".join(
        f"{key} {value}" if value else f"another {noun_for(key, 1)}" for key, value in change.domains
    )
    where = f"in {domains}" if domains else ""
    healthy = ["healthy"] * change.repaired
    but = f", but {' and '.join((*healthy, *[where] * change.moved))}," * (change.repaired or change.moved)
    where = f" {where}" if where and not change.moved else ""
    pool = f" to the node pool {change.pool}" if change.pool else ""
    return f"add a node like {change.like}{but}{where}{pool}".removesuffix(",")
