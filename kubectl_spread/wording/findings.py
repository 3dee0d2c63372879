"""The text of each finding, worst first."""

from functools import partial, singledispatch

from kubectl_spread.diagnosis import findings
from kubectl_spread.diagnosis.findings import Finding, Severity
from kubectl_spread.diagnosis.statuses import Idle
from kubectl_spread.wording.constraints import bypassed_groups, pin_text
from kubectl_spread.wording.reasons import name_of, noun_for
from kubectl_spread.wording.statuses import IDLE
from kubectl_spread.wording.words import SHORT_KEYS, count_of, enumerated, listed, seen

_MOST_WHYS = 3
_some = partial(listed, most=3)
_pods = partial(count_of, noun="Pod")


@singledispatch
def finding_text(finding: findings.Finding) -> str:
    """Return the finding, and what to do, in a sentence or more."""
    raise TypeError(f"{finding.id} has no text")


@finding_text.register
def _(finding: findings.DuplicateConstraint) -> str:
    pair = f"{finding.constraint.topology_key} with {finding.constraint.when_unsatisfiable}"
    return f"{pair} appears {finding.times} times; the API server refuses that. Keep one of them."


@finding_text.register
def _(finding: findings.MissingTopologyKey) -> str:
    key, nodes = finding.constraint.topology_key, finding.nodes
    if not key:
        return "the topologyKey is empty: no Pod with this constraint can be scheduled. Set it, as to a label of nodes."
    if finding.severity is Severity.ERROR:
        return (
            f"no node has the label {key}: no Pod with this constraint can be scheduled. Correct the topologyKey,"
            " or label the nodes."
        )
    lack, them = ("lacks", "it") if len(nodes) == 1 else ("lack", "them")
    cannot = f"{listed(nodes, 1)} {lack} the label {key} and can take no Pod with this constraint"
    return f"{cannot}. Label {them}, or keep the Pod to labeled nodes."


@finding_text.register
def _(finding: findings.PinnedMinimum) -> str:
    by_node: dict[str, list[str]] = {}
    for pin in finding.pins:
        by_node.setdefault(pin.node, []).append(pin_text(pin))
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


@finding_text.register
def _(finding: findings.GhostPod) -> str:
    who, own = (
        (f"the Pods of {finding.owner}", "their") if finding.owner else (f"the Pod {finding.pod} itself", "the Pod's")
    )
    return (
        f"the labelSelector {finding.constraint.selector} does not match {who}, so such Pods are not counted, and any"
        f" number of them may be in one domain. Make it match {own} own labels."
    )


@finding_text.register
def _(finding: findings.NilSelector) -> str:
    return (
        "there is no labelSelector, so the constraint counts no Pod and balances nothing; it still keeps Pods off nodes"
        f" without {finding.constraint.topology_key}. Set a labelSelector."
    )


@finding_text.register
def _(finding: findings.EmptySelector) -> str:
    effect = (
        "counts every Pod of the namespace, whoever owns it"
        if finding.counts
        else "is documented to count every Pod of the namespace, but counts none in this release (kubernetes#116607)"
    )
    return f"the empty labelSelector {effect}. Select the Pods that you want to spread."


@finding_text.register
def _(finding: findings.SimilarTopologyKey) -> str:
    lack, have = ("lacks", "has") if len(finding.nodes) == 1 else ("lack", "have")
    return (
        f"{_some(finding.nodes)} {lack} {finding.constraint.topology_key} but {have} {finding.similar_key}. If you mean"
        " that label, correct the topologyKey or the nodes' labels."
    )


@finding_text.register
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


@finding_text.register
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


@finding_text.register
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
    avoid = f"To avoid this, add matchLabelKeys: [{finding.label}] to {to}: then each revision is counted alone."
    if finding.together:
        with_ = enumerated([*map(str, finding.together)])
        avoid = f"The constraint spreads them together with {with_}, so no revision can be counted alone."
    return (
        f"{_pods(len(finding.pods))} of {other} of {finding.owner} {are} counted{by} ({_some(finding.pods)}):"
        f" {does}. {avoid}"
    )


@finding_text.register
def _(finding: findings.RolloutWillStick) -> str:
    rejects = enumerated([name_of(each) for each in finding.requirements])
    rejected = f": {rejects} reject{'s' * (len(finding.requirements) == 1)} its nodes" * bool(rejects)
    ways = [f"matchLabelKeys: [pod-template-hash] in the constraint on {key}" for key in finding.topology_keys]
    if finding.max_unavailable is not None:
        ways.insert(0, f"maxSurge: 0 and maxUnavailable: {finding.max_unavailable} in spec.strategy")
    helps = f" It finishes with {enumerated(ways, word='or')}." if ways else ""
    sticks = "may stick" if finding.by_chance else "will stick"
    return (
        f"the next rollout of {finding.owner} {sticks}. A new Pod finds no node beside the old ones{rejected}.{helps}"
    )


@finding_text.register
def _(finding: findings.MatchLabelKeyAbsent) -> str:
    absent = _some(finding.keys)
    advice = f"Name {finding.revision}, the revision that its owner sets" if finding.revision else "Label the Pod"
    return f"the Pod has no label {absent}, which matchLabelKeys names and then ignores. {advice}, or drop the key."


@finding_text.register
def _(finding: findings.DeprecatedTopologyKey) -> str:
    successor = finding.successor or "the topology.kubernetes.io or kubernetes.io label"
    return f"{finding.constraint.topology_key} is deprecated and new nodes may lack it. Use {successor}."


@finding_text.register
def _(finding: findings.UncountedNodes) -> str:
    is_, its = ("is", "its") if finding.pods == 1 else ("are", "their")
    node = "node" if len(finding.nodes) == 1 else "nodes"
    where = (f"{_some(names)}, {because}" for because, names in bypassed_groups(finding.nodes).items())
    which = "; ".join(where)
    return f"{count_of(finding.pods, 'matching Pod')} {is_} not counted, because of {its} {node}: {which}."


@finding_text.register
def _(finding: findings.TerminatingPods) -> str:
    one = len(finding.pods) == 1
    are, until = ("is", "Its room is in use until it is") if one else ("are", "Their room is in use until they are")
    if not finding.in_use:
        until = (
            f"{'Its' if one else 'Their'} room is taken as free here, as it is once {'it is' if one else 'they are'}"
        )
    return f"{_some(finding.pods)} {are} being deleted and not counted. {until} gone."


@finding_text.register
def _(finding: findings.OtherScheduler) -> str:
    return f"{finding.scheduler_name} decides about this Pod; the results are those of kube-scheduler's filters."


@finding_text.register
def _(finding: findings.DefaultConstraints) -> str:
    which = "built-in" if finding.built_in else "configured"
    keys = _some([f"{each.topology_key} ({each.when_unsatisfiable})" for each in finding.constraints])
    return f"the Pod has no constraints of its own, so the cluster's {which} defaults apply: {keys}."


@finding_text.register
def _(finding: findings.SoftConstraintIsPreference) -> str:
    constraint = finding.constraint
    return (
        f"the skew over {constraint.topology_key} is {finding.skew} and maxSkew is {constraint.max_skew}. With"
        " ScheduleAnyway, maxSkew is a preference. With DoNotSchedule, it is a limit."
    )


@finding_text.register
def _(finding: findings.AutoscalerBlind) -> str:
    return (
        f"no node of {_some(finding.domains)} can take the Pod. With only soft constraints it goes elsewhere instead of"
        " staying Pending, so no autoscaler adds a node there."
    )


@finding_text.register
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


@finding_text.register
def _(finding: findings.EmptyPool) -> str:
    domain = f"{noun_for(finding.constraint.topology_key, 1)} {seen(finding.domain)}"
    pools = f"NodePool {finding.pools[0]}" if len(finding.pools) == 1 else f"NodePools {_some(finding.pools)}"
    takes = "takes" if len(finding.full) == 1 else "take"
    return (
        f"no node is in {domain}, so the scheduler does not count it. When {pools} adds one, the minimum is 0, and"
        f" {_some(finding.full)} {takes} no more Pods until {domain} has caught up."
    )


@finding_text.register
def _(finding: findings.GroupAtMaximum) -> str:
    groups, has = finding.groups, "has" if len(finding.groups) == 1 else "have"
    return (
        f"{noun_for(finding.constraint.topology_key, 1)} {seen(finding.domain)} has the fewest Pods, and"
        f" cluster-autoscaler adds no node there: {_some(groups)} {has} as many nodes as allowed."
    )


@finding_text.register
def _(finding: findings.InjectedFields) -> str:
    return (
        f"its Pods have {enumerated(finding.fields)} that the template lacks, added by a webhook or a policy. The next"
        " Pod is evaluated with them."
    )


@finding_text.register
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


@finding_text.register
def _(_: findings.StaleEvent) -> str:
    return (
        "the Pod's condition is still Unschedulable, but now it can be scheduled: the scheduler has not retried since"
        " the cluster changed, or is backing off."
    )


def in_short(finding: Finding) -> str:
    """Return a finding that matters more than that all Pods find nodes, as it goes on after "but"; empty for others."""
    if isinstance(finding, findings.RolloutWillStick):
        return f"the next rollout of {finding.owner} {'may' if finding.by_chance else 'will'} stick"
    if finding.name == finding.id or not isinstance(finding, findings.ConstraintFinding):
        return ""
    constraint = finding.constraint
    why = IDLE[finding.idle or Idle.EMPTY_SELECTOR].format(constraint.topology_key)
    if finding.idle is Idle.MATCHES_OTHERS:
        why = f"its selector {constraint.selector} does not match the Pods"
    return f"{named_constraint(constraint.index, constraint.topology_key)} has no effect: {why}"


def named_constraint(index: int, topology_key: str) -> str:
    """Return ``constraint 0 (zone)``."""
    return f"constraint {index} ({SHORT_KEYS.get(topology_key, topology_key)})"
