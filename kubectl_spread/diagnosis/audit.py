"""What an outage of one domain takes of each workload, what limits that, and whether the cluster could lower it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import chain, filterfalse, islice
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from kubectl_spread.controllers.injected_fields import has_own_claim, like
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef
from kubectl_spread.diagnosis.explainer import Explainer
from kubectl_spread.diagnosis.fixes.change import JsonValue
from kubectl_spread.diagnosis.fixes.conclusion import Command, Fragment, Keeper, Route
from kubectl_spread.diagnosis.reasons import AnyReason, RejectedByPlugin
from kubectl_spread.diagnosis.step_changes import PendingPods
from kubectl_spread.diagnosis.upcoming_pods import upcoming_pod
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.objects.well_known_labels import HOSTNAME, ZONE
from kubectl_spread.scheduler import cycle, interpodaffinity, noderesources, podtopologyspread
from kubectl_spread.scheduler.affinityterm import readable_terms
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import parsable_constraints

# The kinds of owners that an audit is not about.
LEFT_OUT = frozenset(kind.name for kind in (kinds.DAEMON_SET, kinds.JOB, kinds.CRON_JOB, kinds.POD))
OF_PLACES = frozenset((podtopologyspread.NAME, interpodaffinity.NAME))  # The filters that depend on where Pods are


class Risk(StrEnum):
    """What is wrong with how a workload is spread over the domains of a key, the worst first."""

    OUTAGE = "Outage"
    BELOW_BUDGET = "BelowBudget"
    MAJORITY = "Majority"
    UNEVEN = "Uneven"
    UNAVOIDABLE = "Unavoidable"
    UNPROTECTED = "Unprotected"
    OK = "OK"


RISKS = tuple(Risk)


class Holder(StrEnum):
    """What spreads the Pods of a workload over the domains of a key."""

    HARD = "hard"
    SOFT = "soft"
    ANTI_AFFINITY = "antiAffinity"
    PREFERRED_ANTI_AFFINITY = "preferredAntiAffinity"
    DEFAULT = "default"


class Budget(msgspec.Struct, frozen=True):
    """A PodDisruptionBudget of the workload's Pods; ``desired``: the healthy Pods that it wants (count)."""

    name: str
    desired: int


class NoNodeHasKey(msgspec.Struct, frozen=True):
    """No node has the topology key, so that there is no domain that an outage could take."""


class NoOtherDomain(msgspec.Struct, frozen=True):
    """The worst domains are the only usable ones."""

    domains: tuple[str, ...]


class EvenAlready(msgspec.Struct, frozen=True):
    """So many Pods in so many usable domains (counts) cannot be spread better."""

    pods: int
    usable: int


class NoRoom(msgspec.Struct, frozen=True):
    """These domains could have more Pods, but their nodes do not take as many; ``why``: by the filters that decide."""

    domains: tuple[str, ...]
    why: tuple[AnyReason, ...]


# Why nothing can be lost, what is below which budget, or why the loss cannot be lowered.
RiskReason: TypeAlias = NoNodeHasKey | Budget | NoOtherDomain | EvenAlready | NoRoom


class DomainPods(msgspec.Struct, frozen=True):
    """A domain with Pods of the workload."""

    value: str  # the domain
    pods: int  # how many they are


class AfterLoss(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What happens to the workload once a domain is lost."""

    domain: str  # the domain: the first of the worst
    pending: PendingPods | UnsetType = UNSET  # its Pods that are Pending then; absent if there are none
    not_replaced: int = 0  # its Pods that stay Terminating on the lost nodes, and are not replaced before (count)


class AuditedKey(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an outage of one domain of a topology key takes of a workload."""

    topology_key: str
    domains: tuple[DomainPods, ...]  # the domains that have Pods of the workload, by name
    usable: tuple[str, ...]  # the domains that may have Pods of it, by name
    loss: int  # the most Pods that one domain has (count)
    worst: tuple[str, ...]  # the domains that have so many
    fair: int  # the loss if all usable domains had the same number, rounded up (Pods)
    held_by: tuple[Holder, ...]  # what spreads its Pods over these domains
    risk: Risk  # the worst thing that the loss means, or that nothing prevents it
    why: RiskReason | None = None  # the facts behind the risk; None where there are none beside the numbers
    # what happens after the loss of one of the worst domains; absent if that was not simulated
    after: AfterLoss | UnsetType = UNSET


class Suggestion(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A constraint to add to a workload, or to change there."""

    topology_key: str  # its key
    loss_after: int  # the most Pods in one domain after the rollout, in any order that was simulated (count)
    constraint: dict[str, JsonValue]  # the whole constraint, as the API has it
    weakens: bool = False  # whether it makes a hard constraint soft, so that Pods find a node after an outage
    route: Route

    @property
    def commands(self) -> tuple[Command, ...]:
        """What to run, in order."""
        return self.route.commands

    @property
    def fragment(self) -> Fragment | None:
        """What to write in the source of the workload."""
        return self.route.fragment

    @property
    def keeper(self) -> Keeper | None:
        """What keeps the workload as its source describes it; None if nothing shows it."""
        return self.route.keeper


class AuditItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an outage takes of one workload."""

    namespace: str
    workload: WorkloadRef
    pods: int  # its Pods that are on a node and are not terminating (count)
    risk: Risk  # the worst of its keys
    keys: tuple[AuditedKey, ...]  # the topology keys
    # the constraint that helps; absent if none was found, or none was searched
    suggestion: Suggestion | UnsetType = UNSET
    cluster: str | UnsetType = UNSET  # the context of its cluster; absent if one cluster was read


def is_audited(workload: OwnedPods) -> bool:
    """Whether an audit is about workloads of its kind."""
    return workload.ref.kind not in LEFT_OUT


def bound_pods(workload: OwnedPods) -> tuple[Pod, ...]:
    """Return the Pods that an outage may take."""
    return tuple(pod for pod in workload.pods if pod.spec.node_name and not pod.terminating)


def audit(workload: OwnedPods, handle: Handle, keys: Sequence[str] = ()) -> AuditItem | None:
    """Return what an outage takes of the workload; None if it has no bound Pod.

    ``keys``: the topology keys; empty for zone, hostname and those of its own constraints.
    """
    pods, upcoming = bound_pods(workload), upcoming_pod(workload, handle)
    if not pods or upcoming is None:
        return None
    asked = _Audited(workload, pods, upcoming.pod, upcoming.place(handle))
    own = (each.topology_key for each in upcoming.pod.spec.topology_spread_constraints)
    audited = tuple(map(asked.key, dict.fromkeys(keys or (ZONE, HOSTNAME, *own))))
    return AuditItem(
        namespace=workload.namespace,
        workload=workload.ref,
        pods=len(pods),
        risk=min((each.risk for each in audited), key=RISKS.index),
        keys=audited,
    )


class _Audited(msgspec.Struct, frozen=True, dict=True):
    """A workload, its Pods on nodes, and the Pod that its controller would create next, with the claims of that Pod."""

    workload: OwnedPods
    pods: tuple[Pod, ...]
    model: Pod
    handle: Handle

    @cached_property
    def _own_claims(self) -> bool:
        return any(has_own_claim(pod, self.pods) for pod in self.pods)

    def _again(self, pods: Iterable[Pod], handle: Handle) -> Iterator[tuple[Pod, Handle]]:
        """Yield the Pods that take the place of these, with the cluster: where none has its own claim, the model."""
        if self._own_claims:
            yield from ((like(pod, pod.metadata.name), handle.without_pod(pod)) for pod in pods)
        else:
            yield self.model, handle

    @cached_property
    def _usable_nodes(self) -> frozenset[str]:
        """The nodes that some Pod of the workload may use, apart from resources and from where Pods are."""
        filters = self._filters - {noderesources.NAME}
        there = self._again((pod for pod in self.pods if pod.spec.node_name in self.handle.node_infos), self.handle)
        left = (handle.index.names - cycle.rejected_by(filters, pod, handle) for pod, handle in there)
        return frozenset[str]().union(*left)

    @cached_property
    def _filters(self) -> frozenset[str]:
        return frozenset(self.handle.profile.filters) - OF_PLACES

    @cached_property
    def _budgets(self) -> Sequence[Budget]:
        """The budgets of its Pods, the strictest first."""
        found = (
            Budget(each.metadata.name, each.status.desired_healthy)
            for each in self.handle.snapshot.within(PodDisruptionBudget, self.workload.namespace)
            if any(each.selector.matches(pod.metadata.labels) for pod in self.pods)
        )
        return sorted(found, key=lambda budget: (-budget.desired, budget.name))

    def key(self, topology_key: str) -> AuditedKey:
        """Return what an outage of one domain of the key takes."""
        values = self.handle.index.values(topology_key)
        there = grouped((pod for pod in self.pods if pod.spec.node_name in values), lambda p: values[p.spec.node_name])
        counts = {value: len(pods) for value, pods in sorted(there.items())}
        usable = tuple(sorted({*counts, *self.handle.index.values_on(topology_key, self._usable_nodes)}))
        loss = max(counts.values(), default=0)
        fair = -(-len(self.pods) // len(usable)) if usable else 0
        held_by = tuple(sorted(self._held_by(topology_key), key=tuple(Holder).index))
        why: RiskReason | None = None if values else NoNodeHasKey()
        below = next((each for each in self._budgets if len(self.pods) - loss < each.desired), None)
        risk = self._risk(topology_key, loss, fair, below=below is not None)
        if risk is not Risk.OK:
            why = self._unavoidable(topology_key, usable, loss, there)
            risk, why = (Risk.UNAVOIDABLE, why) if why else (risk, below if risk is Risk.BELOW_BUDGET else None)
        elif len(usable) > 1 and {*held_by} <= {Holder.DEFAULT}:
            risk = Risk.UNPROTECTED
        return AuditedKey(
            topology_key=topology_key,
            domains=tuple(DomainPods(value, number) for value, number in counts.items()),
            usable=usable,
            loss=loss,
            worst=tuple(value for value, number in counts.items() if number == loss),
            fair=fair,
            held_by=held_by,
            risk=risk,
            why=why,
        )

    def _risk(self, topology_key: str, loss: int, fair: int, *, below: bool) -> Risk:
        """Return the worst thing that the loss means; OK for none."""
        found = {
            Risk.OUTAGE: loss == len(self.pods),
            Risk.BELOW_BUDGET: below and loss > 0,
            Risk.MAJORITY: 2 * loss > len(self.pods),
            Risk.UNEVEN: loss > fair and topology_key != HOSTNAME,
        }
        return next((risk for risk, holds in found.items() if holds), Risk.OK)

    def _held_by(self, topology_key: str) -> Iterator[Holder]:
        pod, labels = self.model, self.handle.snapshot.namespace_labels(self.workload.namespace)
        for constraint in parsable_constraints(pod, self.handle):
            if constraint.topology_key == topology_key and constraint.selector.matches(pod.metadata.labels):
                yield Holder.DEFAULT if constraint.default else Holder.HARD if constraint.hard else Holder.SOFT
        terms = readable_terms(pod)
        away = [(Holder.ANTI_AFFINITY, term) for term in terms.anti_affinity]
        away += ((Holder.PREFERRED_ANTI_AFFINITY, term) for weight, term in terms.preferred if weight < 0)
        yield from {kind for kind, term in away if term.topology_key == topology_key and term.matches(pod, labels)}

    def _unavoidable(
        self, topology_key: str, usable: Collection[str], loss: int, there: Mapping[str, Sequence[Pod]]
    ) -> RiskReason | None:
        """Return why the loss cannot be lowered: each of the worst domains has to give a Pod to another one.

        None if it can. What is tried is one arrangement; it is exact where any node takes any of the Pods.
        """
        worst = [value for value, pods in sorted(there.items()) if len(pods) == loss]
        slack = {value: loss - 1 - len(there.get(value, ())) for value in usable}
        slack = {value: more for value, more in slack.items() if more > 0}
        if len(usable) == 1:
            return NoOtherDomain(tuple(worst))
        if sum(slack.values()) < len(worst):
            return EvenAlready(len(self.pods), len(usable))
        values, handle, pod, names = self.handle.index.values(topology_key), self.handle, self.model, list[str]()
        for value in worst:
            names = [name for name in names if slack[values[name]] and not self._own_claims]
            if not names:
                domains = {each: handle.index.domains(topology_key)[each] for each in slack if slack[each]}
                again = [*self._again(there[value], handle)]
                tried = ((each, self._open(each, before, domains, slack)) for each, before in again)
                pod, names = next((found for found in tried if found[1]), (pod, []))
            if not names:
                return NoRoom(tuple(domains), tuple(self._against(chain(*domains.values()), *again[0])))
            if self._own_claims:
                handle = handle.without_pod(next(each for each in there[value] if each.key == pod.key))
            slack[values[names[0]]] -= 1
            handle = handle.with_assigned(pod, names.pop(0))
        return None

    def _open(
        self, pod: Pod, handle: Handle, domains: Mapping[str, Sequence[str]], slack: Mapping[str, int]
    ) -> list[str]:
        """Return nodes of the domains that take the Pod, of each at most its slack, those with the most first."""
        rejected = cycle.rejected_by(self._filters, pod, handle)
        left = (filterfalse(rejected.__contains__, domains[at]) for at in sorted(domains, key=lambda at: -slack[at]))
        most = sorted(map(slack.__getitem__, domains), reverse=True)
        return [name for names, number in zip(left, most, strict=True) for name in islice(names, number)]

    def _against(self, names: Iterable[str], pod: Pod, handle: Handle) -> Iterator[AnyReason]:
        """Yield why the nodes do not take the Pod: of those nodes against which the least speaks."""
        evaluation = cycle.evaluate(pod, handle.with_filters(self._filters))
        explainer, rejections = Explainer(handle, evaluation), {at: evaluation.nodes[at].rejections for at in names}
        least = min(map(len, rejections.values()))
        closed = (name for name, against in rejections.items() if len(against) == least)
        plugins = grouped(closed, lambda name: rejections[name][0].plugin)
        for plugin, rejected in plugins.items():
            for shared in explainer.shared(plugin, rejected):
                yield shared.reason or RejectedByPlugin(plugin=plugin)
