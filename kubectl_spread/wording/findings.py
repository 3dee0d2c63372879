"""The findings, worst first: the text of each, and what ``explain`` prints about it."""

from __future__ import annotations

from functools import partial

from kubectl_spread.diagnosis import findings
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import EntryKind, Rules
from kubectl_spread.wording.reasons import brief_key
from kubectl_spread.wording.words import count_of, enumerated, listed, seen

FINDINGS = Rules(EntryKind.FINDING)

_some = partial(listed, most=3)
_pods = partial(count_of, noun="Pod")


@FINDINGS.rule(
    summary="two constraints have the same topologyKey and whenUnsatisfiable",
    meaning="A Pod may have each pair of topologyKey and whenUnsatisfiable only once. The API server refuses"
    " the second one.",
    when="An error, where a pair repeats, whatever else the constraints say.",
    action="Keep one of them. Where both selectors are meant, one of the two constraints has to use another key.",
)
def _(finding: findings.DuplicateConstraint) -> str:
    pair = f"{finding.constraint.topology_key} with {finding.constraint.when_unsatisfiable}"
    return f"{pair} appears {finding.times} times; the API server refuses that. Keep one of them."


@FINDINGS.rule(
    summary="nodes lack the label that a DoNotSchedule constraint spreads over",
    meaning="A node without the topologyKey of every DoNotSchedule constraint is in no domain: its Pods are not"
    " counted, and it can take no Pod that has the constraint.",
    when="A warning where some nodes lack the label, an error where all do: then no such Pod is ever scheduled.",
    action="Label the nodes, correct the topologyKey, or keep the Pod to labelled nodes by nodeSelector.",
    link=entry.NODE_LABELS,
)
def _(finding: findings.MissingTopologyKey) -> str:
    key, nodes = finding.constraint.topology_key, finding.nodes
    if finding.severity is Severity.ERROR:
        return (
            f"no node carries the label {key}: no Pod with this constraint can be scheduled. Correct the topologyKey,"
            " or label the nodes."
        )
    lack, them = ("lacks", "it") if len(nodes) == 1 else ("lack", "them")
    return (
        f"{_some(nodes)} {lack} the label {key} and can take no Pod with this constraint. Label {them}, or keep the Pod"
        " to labelled nodes."
    )


@FINDINGS.rule(
    summary="the emptiest domain cannot take the Pod, and so holds all others back",
    meaning="The domain with the fewest matching Pods sets the global minimum. Every node in it is closed to this"
    " Pod by something else: a taint, a cordon, missing room, node affinity. It cannot fill up, so the others may"
    " only grow to that minimum plus maxSkew.",
    when="An error, where a constraint rejects nodes by skew and other filters close all of its emptiest domains.",
    action="Stop counting the domain: nodeTaintsPolicy: Honor for taints, node affinity that leaves it out for the"
    " rest. Or open it, where what closes it has no purpose any more. Raising maxSkew only moves the limit.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.PinnedMinimum) -> str:
    from kubectl_spread.wording.reasons import name_of, reason_text

    by_node: dict[str, list[str]] = {}
    for pin in finding.pins:
        by_node.setdefault(pin.node, []).append(reason_text(pin.reason) or name_of(pin.requirement))
    pins = _some([f"{node} ({'; '.join(reasons)})" for node, reasons in by_node.items()])
    return (
        f"the minimum ({finding.global_minimum}) is held by {_some(finding.domains)}, where this Pod cannot go: {pins}."
        f" Until that changes, every other domain stops at {finding.global_minimum + finding.constraint.max_skew}."
    )


@FINDINGS.rule(
    summary="the constraint does not count the Pod that carries it",
    meaning="The labelSelector does not match the Pod's own labels. Placing the Pod changes no count, so any number"
    " of them may end up in one domain without the constraint being broken.",
    when="A warning, for a selector that is neither missing nor empty and that the Pod's labels do not match.",
    action="Make the selector match the labels of the Pod template.",
    link=entry.CONVENTIONS,
)
def _(finding: findings.GhostPod) -> str:
    return (
        f"the labelSelector {finding.constraint.selector} does not match {finding.pod} itself: Pods like it are not"
        " counted, however many are in one domain. Make it match the Pod's own labels."
    )


@FINDINGS.rule(
    summary="a constraint without labelSelector counts no Pod",
    meaning="Without a labelSelector every domain counts zero Pods, so the skew never grows and nothing is spread."
    " The topologyKey still matters: nodes without it are out of reach for a DoNotSchedule constraint.",
    when="A warning, where labelSelector is not set.",
    action="Set a labelSelector that matches the Pod's own labels.",
)
def _(finding: findings.NilSelector) -> str:
    return (
        "there is no labelSelector, so the constraint counts no Pod and balances nothing; it still keeps Pods off nodes"
        f" without {finding.constraint.topology_key}. Set a labelSelector."
    )


@FINDINGS.rule(
    summary="the selector {} does not select what it seems to",
    meaning="By the API an empty selector matches every Pod of the namespace. What kube-scheduler makes of it"
    " depends on the release: where it counts none, the constraint balances nothing; where it counts all, Pods of"
    " other workloads decide.",
    when="A warning, where labelSelector is {} and no key of matchLabelKeys narrows it.",
    action="Name the labels of the Pods to spread.",
)
def _(finding: findings.EmptySelector) -> str:
    effect = (
        "counts every Pod of the namespace, whoever owns it"
        if finding.counts
        else "is documented to count every Pod of the namespace, but counts none in this release (kubernetes#116607)"
    )
    return f"the empty labelSelector {effect}. Select the Pods that are meant."


@FINDINGS.rule(
    summary="nodes have a label that looks like the topologyKey but is another one",
    meaning="Nodes that lack the key carry one that was probably meant: the same last segment, the deprecated or"
    " the well-known spelling, a few letters off, or with something appended.",
    when="A warning, for nodes that lack the key of a DoNotSchedule constraint; never for a key that another"
    " constraint of the Pod uses.",
    action="Correct the topologyKey in the Pod template, or the labels of the nodes.",
    link=entry.CONVENTIONS,
)
def _(finding: findings.SimilarTopologyKey) -> str:
    lack, have = ("lacks", "has") if len(finding.nodes) == 1 else ("lack", "have")
    return (
        f"{_some(finding.nodes)} {lack} {finding.constraint.topology_key} but {have} {finding.similar_key}. If that"
        " is what is meant, correct the topologyKey or the nodes' labels."
    )


@FINDINGS.rule(
    summary="there are fewer domains than minDomains asks for",
    meaning="While there are fewer eligible domains than minDomains, the global minimum counts as 0. No domain may"
    " then hold more than maxSkew matching Pods.",
    when="A warning, for a DoNotSchedule constraint with minDomains above 1 and above the eligible domains.",
    action="Add a node in another domain, which an autoscaler does if it knows of one, or lower minDomains.",
)
def _(finding: findings.MinDomainsUnreachable) -> str:
    constraint, domains = finding.constraint, finding.domains
    which = f" ({_some(domains)})" if domains else ""
    return (
        f"minDomains asks for {constraint.min_domains} domains of {constraint.topology_key} and there are"
        f" {len(domains)}{which}: until there are more, the minimum counts as 0 and no domain may hold more"
        f" than {constraint.max_skew}. Add a node in another domain, or lower minDomains."
    )


@FINDINGS.rule(
    summary="all nodes that count are in one domain, so nothing is spread",
    meaning="Skew is the difference to the emptiest domain. With a single domain it is always 0, and the constraint"
    " is kept wherever the Pods go.",
    when="A warning, where exactly one domain is eligible, minDomains is at most 1, and the constraint is the Pod's"
    " own.",
    action="Set minDomains to the domains you count on, or widen the node affinity that leaves only one.",
)
def _(finding: findings.SingleDomain) -> str:
    remedy = (
        f"It may go to {finding.daemon_node} alone: drop the constraint"
        if finding.daemon_node
        else "Set minDomains, or widen the node affinity"
    )
    return (
        f"{finding.constraint.topology_key} has only one domain this Pod counts ({seen(finding.domain)}), so the skew"
        f" is always 0 and nothing is spread. {remedy}."
    )


@FINDINGS.rule(
    summary="Pods of old revisions are counted along with the new ones",
    meaning="During a rollout the new Pods have to fit around the old ones. Once the old ones are gone, the new"
    " ones may be spread unevenly, or one of them may find no node.",
    when="A warning, where the selector matches Pods of the same workload of another revision.",
    action="Add the revision's label to matchLabelKeys: pod-template-hash for a Deployment,"
    " controller-revision-hash for a StatefulSet or DaemonSet.",
)
def _(finding: findings.RolloutMixesRevisions) -> str:
    are = "is" if len(finding.pods) == 1 else "are"
    return (
        f"{_pods(len(finding.pods))} of other revisions of {finding.owner} {are} counted ({_some(finding.pods)}):"
        " during a rollout the new Pods must fit around the old ones, and may end beyond maxSkew. matchLabelKeys:"
        f" [{finding.label}] counts each revision alone, which keeps it even."
    )


@FINDINGS.rule(
    summary="matchLabelKeys names a label that the Pod does not have",
    meaning="A key of matchLabelKeys takes its value from the Pod's own labels. A key that the Pod lacks is passed"
    " over, as if it were not there.",
    when="A warning, for each constraint with such a key.",
    action="Add the label to the Pod template, or drop the key.",
)
def _(finding: findings.MatchLabelKeyAbsent) -> str:
    absent = _some(finding.keys)
    return f"the Pod has no label {absent}, so matchLabelKeys does nothing there. Label the Pod, or drop the key."


@FINDINGS.rule(
    summary="the topologyKey is a label that newer nodes may not carry",
    meaning="Labels under failure-domain.beta.kubernetes.io and beta.kubernetes.io were replaced by"
    " topology.kubernetes.io and kubernetes.io. A node without the old label can take no Pod with such a"
    " DoNotSchedule constraint.",
    when="A warning, for every constraint on such a key.",
    action="Use the label that replaced it, and check that all nodes carry it.",
    link=entry.NODE_LABELS,
)
def _(finding: findings.DeprecatedTopologyKey) -> str:
    successor = finding.successor or "the topology.kubernetes.io or kubernetes.io label"
    return f"{finding.constraint.topology_key} is deprecated and new nodes may lack it. Use {successor}."


@FINDINGS.rule(
    summary="matching Pods run on nodes that the constraint passes over",
    meaning="Their nodes lack a topologyKey, or nodeAffinityPolicy or nodeTaintsPolicy leaves them out. Real"
    " distribution and counted distribution differ by these Pods.",
    when="For information, where at least one matching Pod is on such a node.",
    action="Nothing, if that is intended. Otherwise label the nodes, or set the policies to Ignore.",
    link=entry.CONVENTIONS,
)
def _(finding: findings.UncountedNodes) -> str:
    are = "is" if finding.pods == 1 else "are"
    lack = "the node lacks" if len(finding.nodes) == 1 else "the nodes lack"
    return (
        f"{_pods(finding.pods)} on {_some(finding.nodes)} would match but {are} not counted: {lack} a topology key,"
        " or the constraint's policies leave them out."
    )


@FINDINGS.rule(
    summary="matching Pods are being deleted and no longer count",
    meaning="kube-scheduler stops counting a Pod for spreading as soon as it is being deleted, while the room, the"
    " ports and the volumes that it uses stay taken until it is gone.",
    when="For information, where matching Pods carry a deletion timestamp.",
    action="Wait. Look at finalizers, or at the node's kubelet, if they stay for long.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.TerminatingPods) -> str:
    are = "is" if len(finding.pods) == 1 else "are"
    return f"{_some(finding.pods)} {are} being deleted and no longer counted; until then the room stays taken."


@FINDINGS.rule(
    summary="a scheduler that is not described here decides about the Pod",
    meaning="The Pod's schedulerName is in no profile that is known. What is reported is what the filters of"
    " kube-scheduler would do; the other scheduler may do something else.",
    when="For information, where schedulerName is neither default-scheduler nor one of --scheduler-config.",
    action="Name its configuration with --scheduler-config if it is a kube-scheduler, else ask that scheduler.",
    link=entry.DEFAULTS,
)
def _(finding: findings.OtherScheduler) -> str:
    return (
        f"{finding.scheduler_name} decides about this Pod; what is said here is what kube-scheduler's filters would do."
    )


@FINDINGS.rule(
    summary="the cluster's default constraints apply, for the Pod has none",
    meaning="A Pod without constraints of its own gets those of the scheduler's configuration, or the built-in"
    " ones: soft, over hostname and zone. They select by the Services and the controller of the Pod.",
    when="For information, where such defaults apply.",
    action="Nothing, unless they are not wanted: constraints in the Pod template take their place.",
    link=entry.DEFAULTS,
)
def _(finding: findings.DefaultConstraints) -> str:
    which = "built-in" if finding.built_in else "configured"
    keys = _some([f"{each.topology_key} ({each.when_unsatisfiable})" for each in finding.constraints])
    return f"the Pod has no constraints of its own, so the cluster's {which} defaults apply: {keys}."


@FINDINGS.rule(
    summary="the spread exceeds maxSkew, which a soft constraint allows",
    meaning="ScheduleAnyway only adds to the score of nodes that even things out, beside all other scores. Its"
    " maxSkew is no limit.",
    when="For information, where the skew of a ScheduleAnyway constraint is larger than its maxSkew.",
    action="Use DoNotSchedule if it must never happen, knowing that Pods may then stay Pending.",
)
def _(finding: findings.SoftConstraintIsPreference) -> str:
    constraint = finding.constraint
    return (
        f"the skew over {constraint.topology_key} is {finding.skew}, maxSkew {constraint.max_skew}: ScheduleAnyway only"
        " prefers nodes, and maxSkew is no limit there. DoNotSchedule would be one."
    )


@FINDINGS.rule(
    summary="no autoscaler will add a node to the domain that lacks one",
    meaning="With soft constraints alone the Pod goes to another domain when one has no room. It never stays"
    " Pending, and autoscalers add nodes for Pending Pods only.",
    when="For information, where all constraints are soft, one is uneven, and some domain has no node for the Pod.",
    action="Use DoNotSchedule where the balance matters, or add nodes to that domain yourself.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.AutoscalerBlind) -> str:
    return (
        f"no node of {_some(finding.domains)} can take the Pod, and with soft constraints alone it goes elsewhere"
        " instead of staying Pending, so no autoscaler adds a node there."
    )


@FINDINGS.rule(
    summary="Karpenter counts a domain in which it brings no node for this Pod",
    meaning="Karpenter counts the domains of all NodePools, also of those that the Pod cannot use. A domain that only"
    " such NodePools offer has no Pods, so it holds the minimum: Karpenter brings no node in a domain where one more"
    " Pod would exceed maxSkew. The scheduler does not count the domain while no node is in it.",
    when="A warning in show and check, where only NodePools that bring no node for the Pod offer a domain of a"
    " DoNotSchedule constraint, and no counted node is in it.",
    action="nodeTaintsPolicy: Honor where taints are the reason. Else node affinity for the other domains, or a"
    " NodePool that the Pod can use there.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.PhantomDomain) -> str:
    from kubectl_spread.wording.autoscalers import reason_text

    domain = f"{brief_key(finding.constraint.topology_key)} {seen(finding.domain)}"
    why = "; ".join(f"NodePool {name}: {reason_text(reason)}" for name, reason in [*finding.refused.items()][:2])
    honor = " nodeTaintsPolicy: Honor leaves it out." if finding.fixed_by_honor else ""
    most = _pods(finding.constraint.max_skew)
    return (
        f"Karpenter counts {domain} with 0 Pods, but brings no node there for this Pod ({why}). So it brings no node in"
        f" another domain for more than {most}.{honor}"
    )


@FINDINGS.rule(
    summary="a domain that a NodePool offers has no node, and closes others when it gets one",
    meaning="The scheduler counts only domains in which a node is. When Karpenter brings the first node of another"
    " domain, the minimum falls to 0, and the domains that have maxSkew Pods take no more until the new one has caught"
    " up. Karpenter counts the domain all the time.",
    when="For information in show and check, where a NodePool that the Pod can use offers such a domain of a"
    " DoNotSchedule constraint.",
    action="minDomains with the number of domains makes the scheduler count them from the start. Or node affinity for"
    " the domains that are meant.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.EmptyPool) -> str:
    domain = f"{brief_key(finding.constraint.topology_key)} {seen(finding.domain)}"
    pools = f"NodePool {finding.pools[0]}" if len(finding.pools) == 1 else f"NodePools {_some(finding.pools)}"
    takes = "takes" if len(finding.full) == 1 else "take"
    return (
        f"no node is in {domain}, so the scheduler does not count it. When {pools} brings one, the minimum is 0, and"
        f" {_some(finding.full)} {takes} no more Pods until it has caught up."
    )


@FINDINGS.rule(
    summary="the domain that holds the minimum gets no more nodes",
    meaning="All node groups in that domain have as many nodes as they may have. When their nodes are full, the domain"
    " holds the minimum, and nodes that cluster-autoscaler adds in other domains do not help.",
    when="For information in show and check, where all node groups of a domain with the fewest Pods are at their"
    " maximum.",
    action="Raise the maximum of a node group in that domain.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.GroupAtMaximum) -> str:
    groups, has = finding.groups, "has" if len(finding.groups) == 1 else "have"
    return (
        f"{brief_key(finding.constraint.topology_key)} {seen(finding.domain)} holds the minimum, and cluster-autoscaler"
        f" adds no node there: {_some(groups)} {has} as many nodes as allowed."
    )


@FINDINGS.rule(
    summary="living Pods carry what their template does not say",
    meaning="A webhook or a policy changes Pods as they are created. The next Pod will most likely be changed the"
    " same way, so it is judged with what the living Pods of its revision have beyond the template.",
    when="For information, where the newest Pod has more than the template and admission explain, and, of what may"
    " change later (labels, tolerations, resources), where all Pods have it.",
    action="Nothing, where the webhook is meant to. check --dry-run=server asks it.",
    link=entry.SPREAD,
)
def _(finding: findings.InjectedFields) -> str:
    return (
        f"its living Pods carry {enumerated(finding.fields)} beyond the template, as a webhook or a policy writes it:"
        " the next Pod is judged with the same."
    )


@FINDINGS.rule(
    summary="kubectl apply cannot tell two constraints on one topologyKey apart",
    meaning="A Pod may have a DoNotSchedule and a ScheduleAnyway constraint on one topologyKey, and both are created as"
    " written. But kubectl apply and strategic patches merge constraints by topologyKey alone: in an object that lives,"
    " one of the two may vanish, take fields of the other, or make the object invalid.",
    when="By check. A warning where the merge with the object that lives gives other constraints than the manifest has;"
    " for information where the object is new, or both stay. Not with --server-side, which merges by both fields.",
    action="kubectl apply --server-side, or one constraint on each key. kubectl patch --type=json changes one of two.",
    link=entry.APPLY,
)
def _(finding: findings.MergedConstraints) -> str:
    has = f"the manifest has {count_of(len(finding.written), 'constraint')} on {finding.topology_key}"
    written, merged = enumerated(finding.written) or "none", enumerated(finding.merged) or "none"
    if finding.severity is Severity.INFO:
        return (
            f"{has} ({written}). A later kubectl apply merges them by key alone, and one may be lost. Use kubectl apply"
            " --server-side."
        )
    return (
        f"kubectl apply merges constraints by topologyKey alone: {has} ({written}), the object then has"
        f" {len(finding.merged)} ({merged}), not as written. Use kubectl apply --server-side."
    )


@FINDINGS.rule(
    summary="the Pod's condition says unschedulable, but a node would take it now",
    meaning="kube-scheduler tries a Pod again when something changes that may help it, and waits longer after each"
    " failure. The condition is what it said the last time.",
    when="For information, where the condition says Unschedulable and some node is feasible, unless the scheduler"
    " has chosen one since and waits for its volumes.",
    action="Wait a few minutes. If it stays, look for a scheduler that is down, or for what could not be read.",
    link=entry.SPREAD,
)
def _(_: findings.StaleEvent) -> str:
    return (
        "the Pod's condition still says it cannot be scheduled, but now it can: the scheduler has not retried since"
        " the cluster changed, or is backing off."
    )
