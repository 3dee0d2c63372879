"""The findings, worst first: the text of each, and what ``explain`` prints about it."""

from __future__ import annotations

from functools import partial

from kubectl_spread.diagnosis import findings
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import EntryKind, Rules
from kubectl_spread.wording.reasons import name_of, noun_for, reason_text
from kubectl_spread.wording.words import count_of, enumerated, listed, seen

FINDINGS = Rules(EntryKind.FINDING)

_MOST_WHYS = 3
_some = partial(listed, most=3)
_pods = partial(count_of, noun="Pod")


@FINDINGS.rule(
    summary="two constraints have the same topologyKey and whenUnsatisfiable",
    meaning="A Pod may have each pair of topologyKey and whenUnsatisfiable only once. The API server refuses"
    " the second one.",
    when="As an error, if a pair repeats, whatever the other fields are.",
    action="Keep one of them. If you need both selectors, one constraint must use another key.",
)
def _(finding: findings.DuplicateConstraint) -> str:
    pair = f"{finding.constraint.topology_key} with {finding.constraint.when_unsatisfiable}"
    return f"{pair} appears {finding.times} times; the API server refuses that. Keep one of them."


@FINDINGS.rule(
    summary="nodes lack the label that a DoNotSchedule constraint spreads over",
    meaning="A node that lacks the topologyKey of even one of the Pod's DoNotSchedule constraints is in no domain: its"
    " Pods are not counted, and it cannot take the Pod.",
    when="As a warning if some nodes lack the label. As an error if all do: no such Pod can then be scheduled.",
    action="Label the nodes, correct the topologyKey, or keep the Pod to labeled nodes by nodeSelector.",
    link=entry.NODE_LABELS,
)
def _(finding: findings.MissingTopologyKey) -> str:
    key, nodes = finding.constraint.topology_key, finding.nodes
    if finding.severity is Severity.ERROR:
        return (
            f"no node has the label {key}: no Pod with this constraint can be scheduled. Correct the topologyKey,"
            " or label the nodes."
        )
    lack, them = ("lacks", "it") if len(nodes) == 1 else ("lack", "them")
    cannot = f"{listed(nodes, 1)} {lack} the label {key} and can take no Pod with this constraint"
    return f"{cannot}. Label {them}, or keep the Pod to labeled nodes."


@FINDINGS.rule(
    summary="the emptiest domain cannot take the Pod, which limits all other domains",
    meaning="The domain with the fewest matching Pods sets the global minimum. Every node in it rejects this"
    " Pod for a reason other than this constraint: a taint, a cordon, node affinity, or too few free resources. The"
    " domain gets no more Pods, so the other domains may only grow to that minimum plus maxSkew.",
    when="As an error, if a constraint rejects nodes by skew, and all nodes of the domains with the fewest Pods are"
    " rejected for other reasons.",
    action="Stop counting the domain. If taints are the reason, set nodeTaintsPolicy to Honor; otherwise exclude the"
    " domain by node affinity. Or remove the reason, such as a taint, if it is no longer needed. Raising maxSkew"
    " only moves the limit.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.PinnedMinimum) -> str:
    by_node: dict[str, list[str]] = {}
    for pin in finding.pins:
        by_node.setdefault(pin.node, []).append(reason_text(pin.reason) or name_of(pin.requirement))
    alike: dict[str, list[str]] = {}
    for node, reasons in by_node.items():
        alike.setdefault("; ".join(reasons), []).append(node)
    each = [f"{enumerated(nodes, 1)} ({why})" for why, nodes in alike.items()]
    rest = sum(map(len, [*alike.values()][_MOST_WHYS:]))
    pins = f"{', '.join(each[:_MOST_WHYS])} and {rest} more nodes" if len(each) > _MOST_WHYS + 1 else ", ".join(each)
    has, most = "has" if len(finding.domains) == 1 else "have", finding.global_minimum + finding.constraint.max_skew
    return (
        f"{_some(finding.domains)} {has} the fewest matching Pods ({finding.global_minimum}), but the next Pod"
        f" cannot go there: {pins}. Until that changes, every other domain is limited to {_pods(most)}."
    )


@FINDINGS.rule(
    summary="the constraint does not count its own Pod",
    meaning="The labelSelector does not match the Pod's own labels. Placing the Pod changes no count, so any number"
    " of these Pods may be in one domain, and the constraint is still met.",
    when="As a warning, for a selector that is neither missing nor empty and that the Pod's labels do not match.",
    action="Make the selector match the labels of the Pod template.",
    link=entry.CONVENTIONS,
)
def _(finding: findings.GhostPod) -> str:
    who, own = (
        (f"the Pods of {finding.owner}", "their") if finding.owner else (f"the Pod {finding.pod} itself", "the Pod's")
    )
    return (
        f"the labelSelector {finding.constraint.selector} does not match {who}, so such Pods are not counted, and any"
        f" number of them may be in one domain. Make it match {own} own labels."
    )


@FINDINGS.rule(
    summary="a constraint without labelSelector counts no Pod",
    meaning="Without a labelSelector every domain counts zero Pods, so the skew never grows and nothing is spread."
    " The topologyKey still matters: a DoNotSchedule constraint keeps the Pod off nodes without it.",
    when="As a warning, if labelSelector is not set.",
    action="Set a labelSelector that matches the Pod's own labels.",
)
def _(finding: findings.NilSelector) -> str:
    return (
        "there is no labelSelector, so the constraint counts no Pod and balances nothing; it still keeps Pods off nodes"
        f" without {finding.constraint.topology_key}. Set a labelSelector."
    )


@FINDINGS.rule(
    summary="the selector {} may not select what you expect",
    meaning="In the API an empty selector matches every Pod of the namespace. The effect in kube-scheduler"
    " depends on the release. In some releases {} counts no Pod, so the constraint balances nothing. In others {}"
    " counts all Pods of the namespace.",
    when="As a warning, if labelSelector is {} and no key of matchLabelKeys narrows it.",
    action="Name the labels of the Pods to spread.",
)
def _(finding: findings.EmptySelector) -> str:
    effect = (
        "counts every Pod of the namespace, whoever owns it"
        if finding.counts
        else "is documented to count every Pod of the namespace, but counts none in this release (kubernetes#116607)"
    )
    return f"the empty labelSelector {effect}. Select the Pods that you want to spread."


@FINDINGS.rule(
    summary="nodes lack the topologyKey but have a similar label",
    meaning="Nodes that lack the key have a similar one. It has the same last segment, it differs in a few letters, or"
    " one of the two continues the other after a hyphen, underscore or dot. If no node has the key, these are similar"
    " too: a key that an older revision uses, and the label whose topology the key names, such as zone.",
    when="As a warning, for nodes that lack the key of a DoNotSchedule constraint, unless another constraint of the Pod"
    " uses the similar label.",
    action="Correct the topologyKey in the Pod template, or the labels of the nodes.",
    link=entry.CONVENTIONS,
)
def _(finding: findings.SimilarTopologyKey) -> str:
    lack, have = ("lacks", "has") if len(finding.nodes) == 1 else ("lack", "have")
    return (
        f"{_some(finding.nodes)} {lack} {finding.constraint.topology_key} but {have} {finding.similar_key}. If you mean"
        " that label, correct the topologyKey or the nodes' labels."
    )


@FINDINGS.rule(
    summary="there are fewer domains than minDomains requires",
    meaning="While there are fewer eligible domains than minDomains, the global minimum is 0. No domain may then"
    " have more than maxSkew matching Pods.",
    when="As a warning, for a DoNotSchedule constraint whose minDomains is above 1 and above the number of eligible"
    " domains.",
    action="Add a node in another domain, or lower minDomains. An autoscaler adds the node if it has a pool there."
    " For a DaemonSet, drop the constraint.",
)
def _(finding: findings.MinDomainsUnreachable) -> str:
    constraint, domains = finding.constraint, finding.domains
    which = f" ({_some(domains)})" if domains else ""
    are = "is" if len(domains) == 1 else "are"
    if finding.daemon:
        return (
            f"minDomains requires {constraint.min_domains} domains of {constraint.topology_key}, but each Pod of a"
            " DaemonSet counts only its own node. The minimum is always 0, and no node may hold more than"
            f" {count_of(constraint.max_skew, 'matching Pod')}. Drop the constraint."
        )
    return (
        f"minDomains requires {constraint.min_domains} domains of {constraint.topology_key}, but there {are}"
        f" {len(domains)}{which}. Until there are more, the minimum is 0 and no domain may hold more"
        f" than {constraint.max_skew}. Add a node in another domain, or lower minDomains."
    )


@FINDINGS.rule(
    summary="all nodes that count are in one domain, so nothing is spread",
    meaning="Skew is the difference from the emptiest domain. With a single domain it is always 0, so the constraint"
    " allows any distribution.",
    when="As a warning, if only one domain is eligible, minDomains is at most 1, and the constraint is the Pod's own.",
    action="Add nodes in other domains, or let the Pods use them. minDomains only makes Pods wait until there are more."
    " For a DaemonSet, drop the constraint.",
)
def _(finding: findings.SingleDomain) -> str:
    if finding.daemon:
        return (
            "each Pod of a DaemonSet counts only its own node, so the skew is always 0 and nothing is spread. Drop the"
            " constraint."
        )
    return (
        f"{finding.constraint.topology_key} has only one domain that counts for this Pod ({seen(finding.domain)}), so"
        " the skew is always 0 and nothing is spread. To spread the Pods, add nodes in other domains, or let the Pods"
        " use them."
    )


@FINDINGS.rule(
    summary="Pods of old revisions are counted along with the new ones",
    meaning="During a rollout the new Pods are spread together with the old ones. When the old ones are gone, the"
    " new ones may be uneven, or one of them may stay Pending.",
    when="If the selector matches Pods of another revision of the same workload. As a warning if the constraint is"
    " DoNotSchedule, otherwise for information. Several such constraints are reported together.",
    action="Add the revision's label to matchLabelKeys: pod-template-hash for a Deployment,"
    " controller-revision-hash for a StatefulSet or DaemonSet.",
)
def _(finding: findings.RolloutMixesRevisions) -> str:
    one, among = len(finding.pods) == 1, finding.among
    are, they, other = ("is", "it runs it", "another revision") if one else ("are", "they run they", "other revisions")
    several = "s" * bool(among[1:])
    by = f" by {enumerated([f'constraint {it.index} ({it.topology_key})' for it in among])}" if among else ""
    does = (
        f"while {they} limit{'s' * one} where new Pods may go, and after the rollout the skew may exceed maxSkew"
        if finding.constraint.hard
        else f"while {they} change{'s' * one} which nodes are preferred, and after the rollout the Pods may be uneven"
    )
    to = f"th{'ose' if several else 'at'} constraint{several}" if among else "the constraint"
    return (
        f"{_pods(len(finding.pods))} of {other} of {finding.owner} {are} counted{by} ({_some(finding.pods)}):"
        f" {does}. To avoid this, add matchLabelKeys: [{finding.label}] to {to}: then each revision is counted alone."
    )


@FINDINGS.rule(
    summary="matchLabelKeys names a label that the Pod does not have",
    meaning="A key of matchLabelKeys takes its value from the Pod's own labels. A key that the Pod lacks is ignored.",
    when="As a warning, for each constraint with such a key.",
    action="Add the label to the Pod template, or drop the key.",
)
def _(finding: findings.MatchLabelKeyAbsent) -> str:
    absent = _some(finding.keys)
    return (
        f"the Pod has no label {absent}, which matchLabelKeys names and then ignores. Label the Pod, or drop the key."
    )


@FINDINGS.rule(
    summary="the topologyKey is a label that newer nodes may lack",
    meaning="Labels under failure-domain.beta.kubernetes.io and beta.kubernetes.io were replaced by"
    " topology.kubernetes.io and kubernetes.io. A node without the old label can take no Pod with such a"
    " DoNotSchedule constraint.",
    when="As a warning, for every constraint on such a key.",
    action="Use the label that replaced it, and check that all nodes have it.",
    link=entry.NODE_LABELS,
)
def _(finding: findings.DeprecatedTopologyKey) -> str:
    successor = finding.successor or "the topology.kubernetes.io or kubernetes.io label"
    return f"{finding.constraint.topology_key} is deprecated and new nodes may lack it. Use {successor}."


@FINDINGS.rule(
    summary="matching Pods run on nodes that the constraint does not count",
    meaning="Their nodes lack a topologyKey, or nodeAffinityPolicy or nodeTaintsPolicy excludes them. The real"
    " spread and the counted spread differ by these Pods.",
    when="For information, if at least one matching Pod is on such a node.",
    action="Nothing, if that is intended. Otherwise label the nodes, or set the policies to Ignore.",
    link=entry.CONVENTIONS,
)
def _(finding: findings.UncountedNodes) -> str:
    from kubectl_spread.wording.constraints import bypassed_groups

    is_, its = ("is", "its") if finding.pods == 1 else ("are", "their")
    node = "node" if len(finding.nodes) == 1 else "nodes"
    where = (f"{_some(names)}, {because}" for because, names in bypassed_groups(finding.nodes).items())
    which = "; ".join(where)
    return f"{count_of(finding.pods, 'matching Pod')} {is_} not counted, because of {its} {node}: {which}."


@FINDINGS.rule(
    summary="matching Pods are being deleted and no longer count",
    meaning="kube-scheduler does not count a terminating Pod for spreading. Its resources, ports and volumes stay"
    " in use until it is gone.",
    when="For information, if matching Pods have a deletion timestamp.",
    action="Wait. If they stay for long, check their finalizers and the node's kubelet.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.TerminatingPods) -> str:
    one = len(finding.pods) == 1
    are, until = ("is", "Its room is in use until it is") if one else ("are", "Their room is in use until they are")
    if not finding.in_use:
        until = (
            f"{'Its' if one else 'Their'} room is taken as free here, as it is once {'it is' if one else 'they are'}"
        )
    return f"{_some(finding.pods)} {are} being deleted and not counted. {until} gone."


@FINDINGS.rule(
    summary="an unknown scheduler schedules the Pod",
    meaning="The Pod's schedulerName is in no known profile. The report has the results of kube-scheduler's"
    " filters; the other scheduler may decide differently.",
    when="For information, if schedulerName is neither default-scheduler nor one of --scheduler-config.",
    action="If it is a kube-scheduler, give its configuration with --scheduler-config. Otherwise check the logs of"
    " that scheduler.",
    link=entry.DEFAULTS,
)
def _(finding: findings.OtherScheduler) -> str:
    return f"{finding.scheduler_name} decides about this Pod; the results are those of kube-scheduler's filters."


@FINDINGS.rule(
    summary="the cluster's default constraints apply, because the Pod has none",
    meaning="A Pod without constraints gets those of the scheduler's configuration, or the built-in ones: soft, for"
    " hostname and zone. Their selector comes from the Services and the controller of the Pod.",
    when="For information, if such defaults apply.",
    action="Nothing, or set constraints in the Pod template to replace them.",
    link=entry.DEFAULTS,
)
def _(finding: findings.DefaultConstraints) -> str:
    which = "built-in" if finding.built_in else "configured"
    keys = _some([f"{each.topology_key} ({each.when_unsatisfiable})" for each in finding.constraints])
    return f"the Pod has no constraints of its own, so the cluster's {which} defaults apply: {keys}."


@FINDINGS.rule(
    summary="the spread exceeds maxSkew, which a soft constraint allows",
    meaning="ScheduleAnyway only adds to the score of nodes that reduce the skew. Its maxSkew is not a limit.",
    when="For information, if the skew of a ScheduleAnyway constraint is larger than its maxSkew.",
    action="Use DoNotSchedule for a limit. Pods may then stay Pending.",
)
def _(finding: findings.SoftConstraintIsPreference) -> str:
    constraint = finding.constraint
    return (
        f"the skew over {constraint.topology_key} is {finding.skew} and maxSkew is {constraint.max_skew}. With"
        " ScheduleAnyway, maxSkew is a preference. With DoNotSchedule, it is a limit."
    )


@FINDINGS.rule(
    summary="a domain has no node for the Pod, and no autoscaler adds one",
    meaning="Soft constraints never keep a Pod Pending. If a domain has no node for the Pod, the Pod goes to"
    " another domain. Autoscalers add nodes only for Pending Pods.",
    when="For information, if all constraints are soft, one is uneven, and some domain has no node for the Pod.",
    action="Use DoNotSchedule where the balance matters, or add nodes to that domain yourself.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.AutoscalerBlind) -> str:
    return (
        f"no node of {_some(finding.domains)} can take the Pod. With only soft constraints it goes elsewhere instead of"
        " staying Pending, so no autoscaler adds a node there."
    )


@FINDINGS.rule(
    summary="Karpenter counts a domain where it adds no node for this Pod",
    meaning="Karpenter counts the domains of all NodePools, including those that the Pod cannot use. A domain that only"
    " such NodePools offer has no Pods, so the minimum is 0. Karpenter then adds no node in a domain where one more"
    " Pod would exceed maxSkew. The scheduler does not count the domain while no node is in it.",
    when="As a warning in show and check, if a domain of a DoNotSchedule constraint has no counted node, and no"
    " NodePool that offers it adds a node for the Pod.",
    action="Set nodeTaintsPolicy: Honor if taints are the reason. Otherwise set node affinity for the other domains, or"
    " add a NodePool that the Pod can use there.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.PhantomDomain) -> str:
    from kubectl_spread.wording.autoscalers import reason_text

    domain = f"{noun_for(finding.constraint.topology_key, 1)} {seen(finding.domain)}"
    why = "; ".join(f"NodePool {name}: {reason_text(reason)}" for name, reason in [*finding.refused.items()][:2])
    honor = f" nodeTaintsPolicy: Honor excludes {domain}." if finding.fixed_by_honor else ""
    most = _pods(finding.constraint.max_skew)
    return (
        f"Karpenter counts {domain} with 0 Pods, but adds no node there for this Pod ({why}). So it adds nodes in each"
        f" other domain for at most {most}.{honor}"
    )


@FINDINGS.rule(
    summary="an empty domain of a NodePool will limit the other domains once it has a node",
    meaning="The scheduler counts only domains that have a node. When Karpenter adds the first node of another"
    " domain, the minimum falls to 0. Domains that have maxSkew or more Pods then take no more until the new one has"
    " caught up. Karpenter counts the domain even while it has no node.",
    when="For information in show and check, if a NodePool that the Pod can use offers such a domain of a"
    " DoNotSchedule constraint.",
    action="Set minDomains to the number of domains: the scheduler then counts them from the start. Or set node"
    " affinity for the domains that you need.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.EmptyPool) -> str:
    domain = f"{noun_for(finding.constraint.topology_key, 1)} {seen(finding.domain)}"
    pools = f"NodePool {finding.pools[0]}" if len(finding.pools) == 1 else f"NodePools {_some(finding.pools)}"
    takes = "takes" if len(finding.full) == 1 else "take"
    return (
        f"no node is in {domain}, so the scheduler does not count it. When {pools} adds one, the minimum is 0, and"
        f" {_some(finding.full)} {takes} no more Pods until {domain} has caught up."
    )


@FINDINGS.rule(
    summary="the domain with the fewest Pods gets no more nodes",
    meaning="All node groups in that domain are at their maximum. When their nodes are full, the domain"
    " keeps the fewest Pods, and nodes that cluster-autoscaler adds in other domains do not help.",
    when="For information in show and check, if all node groups of a domain with the fewest Pods are at their maximum.",
    action="Raise the maximum of a node group in that domain.",
    link=entry.LIMITATIONS,
)
def _(finding: findings.GroupAtMaximum) -> str:
    groups, has = finding.groups, "has" if len(finding.groups) == 1 else "have"
    return (
        f"{noun_for(finding.constraint.topology_key, 1)} {seen(finding.domain)} has the fewest Pods, and"
        f" cluster-autoscaler adds no node there: {_some(groups)} {has} as many nodes as allowed."
    )


@FINDINGS.rule(
    summary="running Pods have fields that their template lacks",
    meaning="A webhook or a policy changes Pods when they are created. The next Pod will most likely be changed in"
    " the same way, so it is evaluated with these fields.",
    when="For information, if the newest Pod has fields that neither the template nor admission explains. Labels,"
    " tolerations and resources may change later, so they are reported only if all Pods have them.",
    action="Nothing, if you expect it. check --dry-run=server calls the webhook.",
    link=entry.SPREAD,
)
def _(finding: findings.InjectedFields) -> str:
    return (
        f"its Pods have {enumerated(finding.fields)} that the template lacks, added by a webhook or a policy. The next"
        " Pod is evaluated with them."
    )


@FINDINGS.rule(
    summary="kubectl apply confuses two constraints that have the same topologyKey",
    meaning="A Pod may have a DoNotSchedule and a ScheduleAnyway constraint on one topologyKey, and both are"
    " created as written. But kubectl apply and strategic patches merge constraints by topologyKey alone: in an"
    " existing object, one of the two may disappear, take fields of the other, or make the object invalid.",
    when="By check, as a warning, if the merged object does not have the constraints of the manifest."
    " For information, if the object is new, or both stay. Not with --server-side, which merges by"
    " topologyKey and whenUnsatisfiable.",
    action="Use kubectl apply --server-side, or only one constraint for each key. kubectl patch --type=json can change"
    " one constraint and keep the other.",
    link=entry.APPLY,
)
def _(finding: findings.MergedConstraints) -> str:
    has = f"the manifest has {count_of(len(finding.written), 'constraint')} on {finding.topology_key}"
    written, merged = enumerated(finding.written) or "none", enumerated(finding.merged) or "none"
    # The API server refuses two of one kind.
    repeated = len({*finding.written}) < len(finding.written)
    advice = "Keep one constraint for each whenUnsatisfiable." if repeated else "Use kubectl apply --server-side."
    if finding.severity is Severity.INFO:
        return f"{has} ({written}). A later kubectl apply merges them by key alone, and one may be lost. {advice}"
    return (
        f"kubectl apply merges constraints by topologyKey alone: {has} ({written}), but the object will have"
        f" {len(finding.merged)} ({merged}). {advice}"
    )


@FINDINGS.rule(
    summary="the Pod's condition is Unschedulable, but the Pod can be scheduled now",
    meaning="kube-scheduler retries a Pod after a relevant change, and waits longer after each failure. The"
    " condition is from its last attempt.",
    when="For information, if the condition PodScheduled has the reason Unschedulable and a node is feasible,"
    " unless the scheduler has already chosen a node and waits for the Pod's volumes.",
    action="Wait a few minutes. If the Pod stays Pending, check that the scheduler runs, and what could not be read.",
    link=entry.SPREAD,
)
def _(_: findings.StaleEvent) -> str:
    return (
        "the Pod's condition is still Unschedulable, but now it can be scheduled: the scheduler has not retried since"
        " the cluster changed, or is backing off."
    )
