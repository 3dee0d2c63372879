"""Why a Pod finds no node, in one sentence, root cause first: all commands say it in these words.

Each cause has its texts, the longest first and the shortest last; the first that fits is told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain

import msgspec

from kubectl_spread.contract import constraints as report
from kubectl_spread.contract.constraints import ConstraintReport, Domain
from kubectl_spread.controllers.daemonset import pinned_node
from kubectl_spread.diagnosis.domains import SpreadDiagnosis
from kubectl_spread.diagnosis.requirements import (
    ConstraintRequirement,
    FilterRequirement,
    Requirement,
    against,
    conflict_cores,
)
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.scheduler import cycle, nodeunschedulable, tainttoleration
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Code, Handle
from kubectl_spread.wording.words import count_of, enumerated, shortening

named = partial(enumerated, most=2)
MOST_LEFT = 5
"""Nodes (count) of which it is tried what they take once those who terminate have gone."""
MOST_GISTS = 2
"""What keeps a Pod off different nodes (count), before the rest is counted."""


class Cause(msgspec.Struct, frozen=True):
    """Why a Pod finds no node.

    Attributes:
        sentences: the longest first.
        reasons: in a few words, the longest first.
    """

    sentences: Sequence[str]
    reasons: Sequence[str]


class Case(msgspec.Struct, frozen=True, dict=True):
    """A Pod that finds no node.

    Attributes:
        evaluation: every filter's verdicts.
        handle: the cluster.
        spread: what its constraints say, and what each requirement rejects.
    """

    evaluation: Evaluation
    handle: Handle
    spread: SpreadDiagnosis

    @property
    def core(self) -> tuple[Requirement, ...]:
        """The first of the smallest sets of requirements that together leave no node."""
        return next(iter(self.spread.cores), ())

    @cached_property
    def against(self) -> Mapping[str, frozenset[Requirement]]:
        """Node's name → what rejects it."""
        return against(self.spread.rejected, self.handle.node_infos)

    @cached_property
    def by_filters_alone(self) -> bool:
        """Whether no node were left without any constraint either."""
        return all(any(isinstance(each, FilterRequirement) for each in found) for found in self.against.values())

    @property
    def to_blame(self) -> tuple[ConstraintReport, ...]:
        """The constraints of the core, in spec order."""
        return tuple(self.constraints_of(self.core))

    def constraints_of(self, requirements: Iterable[Requirement]) -> Iterable[ConstraintReport]:
        """Yield the constraints that are among the requirements, in spec order."""
        wanted = set(requirements)
        return (each for each in self.spread.constraints if ConstraintRequirement(each.index) in wanted)

    def only_against(self, constraint: ConstraintReport) -> list[str]:
        """Return the nodes that nothing but the constraint rejects, by name."""
        alone = frozenset((ConstraintRequirement(constraint.index),))
        return sorted(name for name, found in self.against.items() if found == alone)

    def domain_of(self, constraint: ConstraintReport, node_name: str) -> Domain | None:
        """Return the domain that the node lies in; None where it lacks the key."""
        value = self.handle.node_infos[node_name].labels.get(constraint.topology_key)
        return self._domains[constraint.index].get(value) if value is not None else None

    @cached_property
    def _domains(self) -> Mapping[int, Mapping[str, Domain]]:
        """Constraint's index → domain's value → domain."""
        return {each.index: {domain.value: domain for domain in each.domains} for each in self.spread.constraints}


def held(constraint: ConstraintReport) -> list[Domain]:
    """Return the domains that hold the minimum."""
    minimum = frozenset(constraint.minimum_domains)
    return [domain for domain in constraint.domains if domain.value in minimum]


def is_pinned(constraint: ConstraintReport) -> bool:
    """Whether filters of the core keep the Pod from every domain that holds the minimum."""
    by = (pin.requirement.kind for domain in held(constraint) for pin in domain.pinned_by)
    return _is_shut(constraint) and all(kind == "filter" for kind in by)


def _is_shut(constraint: ConstraintReport) -> bool:
    """Whether the rest of the core keeps the Pod from every domain that holds the minimum."""
    holding = held(constraint)
    return bool(holding) and all(domain.pinned for domain in holding)


def no_nodes(case: Case) -> Cause | None:
    """Say that there is no node at all."""
    return None if case.handle.node_infos else Cause(["The cluster has no nodes."], [cycle.NO_NODES])


def refused_whole(case: Case) -> Cause | None:
    """Say why no node is even looked at, such as a claim that does not exist."""
    refusal = case.evaluation.pre_filter or case.evaluation.broken
    if refusal is None:
        return None
    said = ", ".join(refusal.status.reasons)
    claims = case.spread.explainer.of_plugin(refusal.plugin, next(iter(case.handle.node_infos.values())))
    # What quotes a name has told the claim already, but for what it is to be made from.
    whole = f"{said} ({claims})" if claims and claims != said and '"' not in said else said
    whole = claims if claims.startswith(said) else whole
    return Cause([f"{whole}: no node is looked at.", f"{said}."], [whole, said])


def leaving(case: Case) -> Cause | None:
    """Say who is being deleted and takes the room that this Pod waits for."""
    for name in _opened_by_leaving(case):
        gone = [pod for pod in case.handle.node_infos[name].pods if pod.terminating]
        after = case.handle
        for pod in gone:
            after = after.without_pod(pod)
        if name in cycle.feasible_nodes(case.evaluation.pod, after):
            who = named(["/".join(pod.key) for pod in gone])
            is_ = "is" if len(gone) == 1 else "are"
            kept = _finalizers(gone)
            room = f"{who} on {name} {is_} being deleted{kept} and still in the way"
            once = f"{name} takes this Pod once {'it is' if len(gone) == 1 else 'they are'} gone"
            return Cause([f"{room}: {once}.", f"{room}."], [f"waits for {who} on {name}, being deleted"])
    return None


def _opened_by_leaving(case: Case) -> list[str]:
    """Return nodes on which only Pods may be in the way, some of which terminate."""
    found = []
    for name, requirements in case.against.items():
        filters = all(isinstance(each, FilterRequirement) for each in requirements)
        rejections = case.evaluation.nodes[name].rejections
        by_pods = all(rejection.status.code is Code.UNSCHEDULABLE for rejection in rejections)
        if filters and by_pods and any(pod.terminating for pod in case.handle.node_infos[name].pods):
            found.append(name)
    return found[:MOST_LEFT]


def _finalizers(pods: Iterable[Pod]) -> str:
    """Return which finalizers keep the Pods; empty where none does."""
    names = sorted({finalizer for pod in pods for finalizer in pod.metadata.finalizers})
    return f", kept by finalizer {named(names)}," if names else ""


def misspelt_key(case: Case) -> Cause | None:
    """Say which nodes would take the Pod, if the key that they carry were the one that is asked for."""
    if len(case.to_blame) != 1:
        return None
    (constraint,) = case.to_blame
    alone = set(case.only_against(constraint))
    similar: dict[str, list[str]] = defaultdict(list)
    for node in constraint.bypassed_nodes:
        for key in node.similar_keys or ():
            if node.name in alone and _would_take(case, constraint, node.name, key):
                similar[key].append(node.name)
    if not similar:
        return None
    key, names = max(similar.items(), key=lambda found: len(found[1]))
    missing = constraint.topology_key
    has = f"has {key}" if len(names) == 1 else f"have {key}"
    would = f"{named(names)} would take it but {'lacks' if len(names) == 1 else 'lack'} {missing}"
    if not constraint.domains:
        nowhere = f"No node carries the label {missing} that the constraint names"
        texts = [f"{nowhere}; {named(names)} {has}.", f"{nowhere}: {key} may be meant.", f"{nowhere}."]
        return Cause(texts, [f"no node carries {missing}: {key} may be meant", f"no node carries {missing}"])
    lacking = {node.name for node in constraint.bypassed_nodes} & alone
    others = "" if lacking.difference(names) else "; no other node does"
    return Cause([f"{would} ({has}){others}.", f"{would}."], [f"{would} ({has})", would])


def _would_take(case: Case, constraint: ConstraintReport, node_name: str, key: str) -> bool:
    """Whether the constraint would allow the node, if its value of that key were one of the topology key."""
    value = case.handle.node_infos[node_name].labels[key]
    return all(domain.allowed for domain in constraint.domains if domain.value == value)


def no_selector(case: Case) -> Cause | None:
    """Say that a constraint that counts nobody keeps the Pod off nodes without its key."""
    for constraint in case.to_blame:
        alone = case.only_against(constraint)
        if len(case.to_blame) == 1 and alone and constraint.selector == "<none>" and constraint.domains:
            key = constraint.topology_key
            lack = f"{named(alone)} {'lacks' if len(alone) == 1 else 'lack'} {key}"
            asks = "asks for it though it has no labelSelector and balances nothing"
            return Cause([f"{lack}; the constraint {asks}.", f"{lack}."], [f"{lack}; no labelSelector", lack])
    return None


def ghost(case: Case) -> Cause | None:
    """Say that a constraint counts other Pods and not this one."""
    if len(case.to_blame) != 1:
        return None
    (constraint,) = case.to_blame
    if constraint.self_match or constraint.selector in {"<none>", "<all>"} or not case.only_against(constraint):
        return None
    key, selector = constraint.topology_key, constraint.selector
    says = f"The constraint on {key} counts {selector}, not this Pod itself"
    why = next((found for name_it in (pinned, constraint_alone) if (found := name_it(case)) is not None), None)
    brief = f"The constraint on {_brief(constraint)} counts {selector}, not this Pod"
    briefest = f"The constraint on {_brief(constraint)} does not count this Pod"
    longer = [f"{start}. {text}" for start in (says, brief, briefest) for text in why.sentences] if why else []
    reasons = [f"{text}; it does not count its own Pods" for text in why.reasons] if why else []
    return Cause(
        [*longer, f"{says}.", f"The constraint on {key} does not count this Pod itself."],
        [*reasons, f"it counts {selector}, not its own Pods", "it does not count its own Pods"],
    )


def min_domains(case: Case) -> Cause | None:
    """Say that minDomains asks for more domains than there are, and that nothing else is in the way."""
    for constraint in case.to_blame:
        counts = [domain.matching for domain in constraint.domains if domain.eligible]
        if counts and len(counts) < constraint.min_domains:
            found = (case.domain_of(constraint, name) for name in case.only_against(constraint))
            # skew if placed, over the minimum that there would be without minDomains <= maxSkew
            if any(each and each.skew_if_placed - min(counts) <= constraint.max_skew for each in found):
                return _too_few_domains(constraint)
    return None


def _too_few_domains(constraint: ConstraintReport) -> Cause:
    """Say that minDomains asks for more domains than there are."""
    key, values = constraint.topology_key, [domain.value for domain in constraint.domains if domain.eligible]
    one, number = len(values) == 1, count_of(len(values), "domain")
    there, brief = (
        f"There {'is' if one else 'are'} {number} of {named_so}"
        if len(values) == len(constraint.domains)
        else f"Only {number} of {named_so} {'counts' if one else 'count'} for this Pod"
        for named_so in (key, _brief(constraint))
    )
    asks = f"where minDomains asks for {constraint.min_domains}"
    most = f"none may hold more than {constraint.max_skew}."
    so = f"so the minimum counts as 0 and none may exceed maxSkew {constraint.max_skew}."
    short = f"{len(values)} of {constraint.min_domains} domains that minDomains asks for"
    return Cause(
        [
            f"{there} ({named(values)}) {asks}, {so}",
            f"{there} ({named(values)}) {asks}: {most}",
            f"{brief} ({named(values)}) {asks}: {most}",
            f"{brief} {asks}: {most}",
            f"{there} {asks}.",
        ],
        [f"{short}{limits(constraint)}", short],
    )


def no_domains(case: Case) -> Cause | None:
    """Say that no node carries a constraint's key: that leaves none, whatever filters leave none either."""
    nowhere = next((each for each in case.constraints_of(case.spread.rejected) if not each.domains), None)
    if nowhere is None or not case.by_filters_alone:
        return None
    said = _closed(nowhere, len(case.handle.node_infos))
    _, told = _blamed_filters(case)
    long, short, _ = ("; ".join(column) for column in zip(*told, strict=True))
    besides = (f"{sentence} Besides, {filters}." for sentence in said.sentences for filters in (long, short))
    return Cause([*besides, *said.sentences], said.reasons)


def daemon_node(case: Case) -> Cause | None:
    """Say what keeps a daemon off its node: that it may go to no other is its controller's doing, and no cause."""
    owner = case.evaluation.pod.metadata.controller
    node = pinned_node(case.evaluation.pod) if owner is not None and owner.kind == DAEMON_SET.name else ""
    against = case.against.get(node, frozenset())
    filters = [each for each in case.spread.rejected if isinstance(each, FilterRequirement) and each in against]
    if not filters:
        return None
    told = [_of_filter(each.plugin, [node], case) for each in filters]
    long, short, reasons = ("; ".join(column) for column in zip(*told, strict=True))
    besides = " ".join(
        f"The constraint on {each.topology_key} rejects it too." for each in case.constraints_of(against)
    )
    first = f"{long}. {besides}" if besides else f"No constraint is to blame: {long}."
    return Cause([first, f"{long}.", f"{short}."], [reasons])


def filters_alone(case: Case) -> Cause | None:
    """Say which filters leave no node, with their numbers, where they do so without any constraint."""
    if not case.by_filters_alone:
        return None
    blamed, told = _blamed_filters(case)
    long, short, reasons = ("; ".join(column) for column in zip(*told, strict=True))
    besides = " ".join(
        f"The constraint on {each.topology_key} rejects {named(sorted(_rejected_by(each, case)))} too."
        for each in case.to_blame
    )
    first = f"{long}. {besides}" if besides else f"No constraint is to blame: {long}."
    _, shortest, _ = told[0]
    return Cause(
        [first, f"{long}.", f"{short}.", f"{shortest}{_and_more(len(told) - 1, 'filter')}.", f"{named(blamed)}."],
        [reasons, f"{told[0][2]}{_and_more(len(told) - 1)}", f"{told[0][2]}"],
    )


def _blamed_filters(case: Case) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Return the filters that leave no node, and what to say of them."""
    rejected = case.spread.rejected
    filters = [each for each in rejected if isinstance(each, FilterRequirement)]
    cores = conflict_cores({each: rejected[each] for each in filters}, case.handle.node_infos)
    # Filters of equal cores all have to give way.
    blamed = [each for each in filters if any(each in core for core in cores)]
    # Who cordons a node taints it too: that is said once.
    cordoned = rejected.get(FilterRequirement(nodeunschedulable.NAME), frozenset())
    told = [
        _of_filter(each.plugin, rejected[each], case)
        for each in blamed
        if each.plugin != tainttoleration.NAME or not rejected[each] <= cordoned
    ]
    return [each.plugin for each in blamed], told


def _of_filter(plugin: str, names: Collection[str], case: Case) -> tuple[str, str, str]:
    """Return what a filter rejects and why: with the nodes, without them, and without its name."""
    gists = case.spread.explainer.gists(plugin, sorted(names))
    rest = _and_more(len(gists) - MOST_GISTS)
    if not gists[0].text:
        rejects = f"{plugin} rejects {named(gists[0].nodes)}"
        return rejects, plugin, plugin
    everywhere = len(gists[0].nodes) == len(case.handle.node_infos)
    long = [gist.text if everywhere else f"{gist.text} ({named(gist.nodes)})" for gist in gists[:MOST_GISTS]]
    short = "; ".join(gist.text for gist in gists[:MOST_GISTS]) + rest
    return f"{plugin}: {'; '.join(long)}{rest}", f"{plugin}: {gists[0].text}{_and_more(len(gists) - 1)}", short


def _and_more(number: int, of: str = "reason") -> str:
    """Return how many reasons there are besides; empty where there is none."""
    return f" and {count_of(number, f'more {of}')}" if number > 0 else ""


def _rejected_by(constraint: ConstraintReport, case: Case) -> Collection[str]:
    """Return the nodes that the constraint rejects."""
    return case.spread.rejected[ConstraintRequirement(constraint.index)]


def pinned(case: Case) -> Cause | None:
    """Say who holds the minimum, and what keeps the Pod from there: filters alone, or beside another constraint."""
    shut_by_filters = (each for each in case.to_blame if is_pinned(each))
    by_filters_too = any(isinstance(each, FilterRequirement) for each in case.core)
    shut_by_both = (each for each in case.to_blame if by_filters_too and _is_shut(each))
    constraint = next(chain(shut_by_filters, shut_by_both), None)
    if constraint is None or len(case.core) == 1:
        return None
    domains = [domain.value for domain in held(constraint)]
    verb = "hold" if len(domains) > 1 else "holds"
    holding = f"{verb} the minimum ({count_of(constraint.global_minimum, 'Pod')}) but"
    minimum = f"{holding} this Pod cannot land there"
    shut = f"{holding} cannot take it"
    number = sum(len(domain.nodes) for domain in held(constraint))
    its = "its" if len(domains) == 1 else "their"
    all_shut = f"{holding} none of {its} {number} nodes takes it" if number > 1 else shut
    key, brief = constraint.topology_key, _brief(constraint)
    pins = _pinning(constraint, case)
    whys = [f"{named(nodes)}: {' and '.join(texts)}" for nodes, texts in pins]
    counts = [" and ".join(texts) + f" ({count_of(len(nodes), 'node')})" * (len(pins) > 1) for nodes, texts in pins]
    some, brief_some = ("; ".join(each[:MOST_GISTS]) + _and_more(len(whys) - MOST_GISTS) for each in (whys, counts))
    first = whys[0] + _and_more(len(whys) - 1)
    briefest = f"{brief} {domains[0]}" if len(domains) == 1 else f"{len(domains)} domains of {brief}"
    full, texts = _full_domains(constraint), " and ".join(pins[0][1]) + _and_more(len(whys) - 1)
    return Cause(
        [
            f"{key} {named(domains)} {minimum}: {some}.{full}",
            f"{key} {named(domains)} {shut}: {some}.{full}",
            f"{brief} {named(domains)} {shut}: {some}.{full}",
            f"{key} {named(domains)} {shut}: {some}.",
            f"{brief} {named(domains)} {shut}: {some}.",
            f"{brief} {named(domains)} {all_shut}: {brief_some}.",
            f"{brief} {named(domains)} {shut}: {brief_some}.",
            f"{brief} {named(domains)} {shut}: {first}.",
            f"{brief} {named(domains)} {shut}: {texts}.",
            f"{count_of(len(domains), 'domain')} of {key} {shut}: {texts}.",
            f"{briefest} {shut}: {texts}.",
            f"{briefest} cannot take it: {texts}.",
        ],
        pinned_by(constraint, case),
    )


def _brief(constraint: ConstraintReport) -> str:
    """Return the topology key without its prefix."""
    return constraint.topology_key.rpartition("/")[2] or constraint.topology_key


def pinned_by(constraint: ConstraintReport, case: Case) -> Sequence[str]:
    """Return what keeps the Pod from the domains that hold the minimum: the first node, and how many there are."""
    (nodes, texts), *others = _pinning(constraint, case)
    more = len(nodes) - 1 + sum(len(each) for each, _ in others)
    rest = f" and {more} more" if more else ""
    return [f"pinned by {nodes[0]} ({' and '.join(texts)}){rest}", f"pinned by {nodes[0]} ({texts[0]}){rest}"]


def _pinning(constraint: ConstraintReport, case: Case) -> list[tuple[list[str], list[str]]]:
    """Return (nodes, what keeps the Pod off all of them) of the domains that hold the minimum, the most nodes first.

    That the control plane is kept free comes last: it always was.
    """
    by_requirement: dict[report.Requirement, list[str]] = defaultdict(list)
    for domain in held(constraint):
        for pin in domain.pinned_by:
            by_requirement[pin.requirement].append(pin.node)
    by_nodes: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for requirement, names in by_requirement.items():
        for nodes, text in _pins(requirement, names, case):
            if text not in by_nodes[nodes]:
                by_nodes[nodes].append(text)
    found = ((list(nodes), texts) for nodes, texts in by_nodes.items())
    return sorted(found, key=lambda each: (all(map(_is_of_control_plane, each[1])), -len(each[0])))


def _is_of_control_plane(text: str) -> bool:
    """Whether a taint of the control plane is the reason."""
    from kubectl_spread.controllers.taints import CONTROL_PLANE

    return any(key in text for key in CONTROL_PLANE)


def _pins(requirement: report.Requirement, names: Sequence[str], case: Case) -> Iterable[tuple[tuple[str, ...], str]]:
    """Yield (nodes, why) of the nodes that the requirement keeps the Pod off."""
    if isinstance(requirement.index, int):
        yield (
            tuple(names),
            f"the constraint on {_brief(*case.constraints_of([ConstraintRequirement(requirement.index)]))}",
        )
        return
    plugin = str(requirement.plugin)
    for gist in case.spread.explainer.gists(plugin, names):
        yield gist.nodes, gist.text or plugin


def _full_domains(constraint: ConstraintReport) -> str:
    """Return how full the domains are that the constraint closes."""
    by_count: dict[int, list[str]] = defaultdict(list)
    for domain in _shut(constraint):
        by_count[domain.matching].append(domain.value)
    if not by_count:
        return ""
    parts = [f"{named(values)} {'are' if len(values) > 1 else 'is'} at {n}" for n, values in sorted(by_count.items())]
    return f" {', '.join(parts)}, maxSkew {constraint.max_skew}."


def _shut(constraint: ConstraintReport) -> Iterator[Domain]:
    """Yield the domains that may take no more."""
    return (domain for domain in constraint.domains if domain.eligible and not domain.allowed)


def limits(constraint: ConstraintReport) -> str:
    """Return the least skew that the Pod would make where it may not go, and what is allowed."""
    skew = min((domain.skew_if_placed for domain in constraint.domains if not domain.allowed), default=None)
    if skew is None:
        return f" (no node carries {constraint.topology_key})" if not constraint.domains else ""
    return f": skew would be {skew}, maxSkew {constraint.max_skew}"


def constraint_alone(case: Case) -> Cause | None:
    """Say why one constraint rejects every node by itself, and which others do too."""
    alone = [core for core in case.spread.cores if len(core) == 1]
    if not alone:
        return None
    told = _closed(case.to_blame[0], len(case.handle.node_infos))
    others = [each.topology_key for core in alone[1:] for each in case.constraints_of(core)]
    if not others:
        return told
    too = f"The constraint on {named(others)} allows none either."
    return Cause([*(f"{text} {too}" for text in told.sentences), *told.sentences], told.reasons)


def _closed(constraint: ConstraintReport, nodes: int) -> Cause:
    """Say why the constraint rejects every node."""
    key, max_skew = constraint.topology_key, constraint.max_skew
    eligible = [domain for domain in constraint.domains if domain.eligible]
    if not constraint.domains:
        return Cause([f"No node carries the label {key} that the constraint names."], [f"no node carries {key}"])
    if not eligible:
        counts = f"The constraint on {key} counts none of the {nodes} nodes, and maxSkew {max_skew} allows none."
        return Cause([counts], [f"no domain may take one more{limits(constraint)}"])
    if len(eligible) < constraint.min_domains:
        return _too_few_domains(constraint)
    every = f"Every domain of {key} where this Pod could go would exceed maxSkew {max_skew}"
    over = f"over the minimum of {constraint.global_minimum}"
    nowhere = f"held by {named(list(constraint.minimum_domains))}, where no node can be used"
    return Cause(
        [f"{every} {over}, {nowhere}.", f"{every} {over}.", f"{every}."],
        [f"no domain may take one more{limits(constraint)}"],
    )


def together(case: Case) -> Cause:
    """Say what each requirement of the core leaves, where each leaves room and all together leave none."""
    whole = set(case.handle.node_infos)
    names = [_in_full(each, case) for each in case.core]
    left = [named(sorted(whole - case.spread.rejected[each])) or "no node" for each in case.core]
    each_leaves = "; ".join(f"{name} leaves {nodes}" for name, nodes in zip(names, left, strict=True))
    short = [described(each, case) for each in case.core]
    brief = "; ".join(f"{name} leaves {nodes}" for name, nodes in zip(short, left, strict=True))
    every = f"all {len(names)}" if names[2:] else "both"
    all_of_them = f"{', '.join(short[:-1])} and {short[-1]}"
    return Cause(
        [
            f"No node satisfies {every}: {each_leaves}.",
            f"No node satisfies {every}: {brief}.",
            f"Together {all_of_them} leave no node.",
        ],
        [f"{all_of_them} together", named(short)],
    )


def described(requirement: Requirement, case: Case) -> str:
    """Return the requirement by its topology key, or by its plugin's name."""
    if isinstance(requirement, FilterRequirement):
        return requirement.plugin
    return case.spread.topology_key(requirement)


def _in_full(requirement: Requirement, case: Case) -> str:
    """Return the requirement as part of a sentence."""
    name = described(requirement, case)
    return name if isinstance(requirement, FilterRequirement) else f"the constraint on {name}"


LINE = 200
"""Characters of a first line, the Pod's name included."""
AT_WORK = len(" (none of 10 runs)")
"""Characters of that line that say how much of the Pod's workload is at work."""
SHORTEST = 100
"""Characters that a sentence may have, however long the name is."""
REASON = 120
"""Characters of a reason in a table."""

ORDER: Sequence[Callable[[Case], Cause | None]] = (
    no_nodes,
    refused_whole,
    leaving,
    misspelt_key,
    no_selector,
    ghost,
    min_domains,
    no_domains,
    daemon_node,
    filters_alone,
    pinned,
    constraint_alone,
    together,
)
"""What may be the root cause, the one that explains most first."""


class Blame(msgspec.Struct, frozen=True, dict=True):
    """What leaves a Pod no node; put into words only where they are read.

    Attributes:
        case: the Pod.
        lead: what the sentence begins with.
    """

    case: Case
    lead: str

    @property
    def core(self) -> tuple[Requirement, ...]:
        """The first of the smallest sets of requirements that together leave none."""
        return self.case.core

    @cached_property
    def _cause(self) -> Cause:
        """The root cause."""
        return next(found for found in (name_it(self.case) for name_it in ORDER) if found is not None)

    @property
    def sentence(self) -> str:
        """The root cause in a sentence."""
        pod = self.case.evaluation.pod.metadata
        at_work = AT_WORK if pod.controller else 0
        return self.lead + self.in_room(LINE - len(f"{pod.namespace}/{pod.name} is Pending. {self.lead}") - at_work)

    def in_room(self, room: int) -> str:
        """Return the root cause in the room there is on a line (characters), or in little where there is less."""
        return fitting(self._cause.sentences, max(room, SHORTEST))

    @property
    def reason(self) -> str:
        """The same in a few words."""
        return fitting(self._cause.reasons, REASON, self.case.handle.node_infos.keys())

    @cached_property
    def blocking(self) -> Mapping[int, str]:
        """Index → in a few words why, for each constraint that is in any of the smallest sets.

        None where no node were left without the constraints either.
        """
        if self.case.by_filters_alone:
            return {}
        return {each.index: _blocking(each, self.case) for each in _in_cores(self.case)}


def fitting(texts: Sequence[str], most: int, nodes: Collection[str] = ()) -> str:
    """Return the first of the texts that is no longer than that (characters), or else what there is room for.

    What all nodes' names end in does not count: where there is little room it is left out.
    """
    if len(texts[0]) <= most:
        return texts[0]
    _, short = shortening(nodes)
    return next((text for text in texts if len(short(text)) <= most), f"{short(texts[-1])[: most - 1]}…")


def _in_cores(case: Case) -> tuple[ConstraintReport, ...]:
    """Return the constraints that are in any of the smallest sets."""
    return tuple(case.constraints_of(each for core in case.spread.cores for each in core))


def _blocking(constraint: ConstraintReport, case: Case) -> str:
    """Return in a few words why the constraint leaves no node, with its numbers."""
    this = ConstraintRequirement(constraint.index)
    core = next(core for core in case.spread.cores if this in core)
    numbers = limits(constraint)
    if is_pinned(constraint) and len(core) > 1:
        told = [f"min {text}{numbers}" for text in pinned_by(constraint, case)]
        return fitting(told, REASON, case.handle.node_infos.keys())
    others = [described(each, case) for each in core if each != this]
    if not others:
        return f"no domain may take one more{numbers}"
    return fitting([f"no node left together with {' and '.join(others)}{numbers}"], REASON)
