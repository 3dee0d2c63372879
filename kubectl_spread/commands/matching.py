"""Of all Pods only those that some workloads own or count: what ``show deployment/web`` needs of a large cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace  # noqa: TID251 - a Read is a dataclass
from typing import TYPE_CHECKING, cast

from kubectl_spread.commands.source import Source, SourceWithin
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.labels import Selector, from_set
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod, PodSpec, ReplicationController
from kubectl_spread.objects.kinds import KubernetesObject, Workload
from kubectl_spread.objects.meta import parse_label_selector
from kubectl_spread.objects.workloads import CronJob, Deployment, ReplicaSet
from kubectl_spread.snapshot import Inventory, Snapshot, oldest

if TYPE_CHECKING:
    from kubectl_spread.cluster.reads import Read


class MatchingSource(SourceWithin):
    """A source that is asked for the Pods of some workloads, and for those their constraints select.

    Where that cannot be told beforehand, all Pods that are wanted are read.

    Args:
        source: the whole cluster.
        namespace: of the workloads.
        names: the workloads' (kind in lower case, name).
    """

    def __init__(self, source: Source, namespace: str, names: Sequence[tuple[str, str]]) -> None:
        super().__init__(source)
        self._namespace = namespace
        self._names = names

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for, of Pods what matters.

        Raises:
            ClusterError: a list that is needed cannot be had.
        """
        of_pods = [read for read in reads if read.kind == kinds.POD]
        around = self._source.read([read for read in reads if read.kind != kinds.POD])
        try:
            return together(around, self._matching(of_pods, Snapshot.build(around)))
        except (LookupError, ValueError):
            return together(around, self._source.read(of_pods))

    def _matching(self, of_pods: Sequence[Read], around: Snapshot) -> Inventory:
        """Return the Pods of the workloads, and those that these and the workloads' templates select.

        Raises:
            LookupError: a workload is not among those that were read, or its selectors take all Pods.
            ValueError: a selector cannot be read.
        """
        made = [each for name in self._names for each in self._makers(name, around)]
        owners = {owner_of(each, around) for each in made}
        asked = {*_own_selectors(made), *_counted_by(template_of(each).spec for each in made)}
        found = self._source.read(_selecting(of_pods, asked))
        pods = cast("tuple[Pod, ...]", found.objects.get(kinds.POD.name, ()))
        further = set(_counted_by(pod.spec for pod in pods if owner_of(pod, around) in owners)) - asked
        return together(found, self._source.read(_selecting(of_pods, further))) if further else found

    def _makers(self, name: tuple[str, str], around: Snapshot) -> list[Workload]:
        """Return the workload and what it owns that makes Pods."""
        kind = kinds.named(name[0])
        struct = kinds.WORKLOADS.get(kind.name) if kind else None
        named = around.get(struct, self._namespace, name[1]) if struct else None
        if named is None:
            raise LookupError(name)
        owner = owner_of(named, around)
        listed = (each for struct in kinds.WORKLOADS.values() for each in around.all(struct))
        here = (each for each in listed if each.metadata.namespace == self._namespace)
        return [each for each in here if owner_of(each, around) == owner]


def _own_selectors(made: Sequence[Workload]) -> Iterator[Selector]:
    """Yield what selects the Pods of the workloads themselves.

    A Deployment's selector takes the Pods of its ReplicaSets too, and a CronJob has none: its Jobs do.
    """
    deployed = any(isinstance(workload, Deployment) for workload in made)
    for workload in made:
        if isinstance(workload, ReplicationController):
            yield from_set(workload.spec.selector)
        elif not isinstance(workload, CronJob) and not (deployed and isinstance(workload, ReplicaSet)):
            yield parse_label_selector(workload.spec.selector)


def _counted_by(specs: Iterable[PodSpec]) -> Iterator[Selector]:
    """Yield what the constraints select, in all revisions; an absent selector selects nothing."""
    for spec in specs:
        for constraint in spec.topology_spread_constraints:
            selector = parse_label_selector(constraint.label_selector)
            if not selector.nothing:
                yield selector


def _selecting(of_pods: Iterable[Read], selectors: Collection[Selector]) -> list[Read]:
    """Return the reads with each of the selectors.

    Raises:
        LookupError: one selects all Pods, or none there can be told of.
    """
    texts = sorted(map(str, selectors))
    if not texts or any(not selector.requirements for selector in selectors):
        raise LookupError("all Pods")
    return [replace(read, label_selector=text) for read in of_pods for text in texts]


def together(first: Inventory, second: Inventory) -> Inventory:
    """Return what two readings found, each object once."""
    objects: dict[str, tuple[KubernetesObject, ...]] = dict(first.objects)
    for kind, found in second.objects.items():
        held = {(each.metadata.namespace, each.metadata.name): each for each in (*objects.get(kind, ()), *found)}
        objects[kind] = tuple(held.values())
    versions = {
        oldest(inventory.resource_versions[kind.plural])
        for inventory in (first, second)
        for kind in (kinds.NODE, kinds.POD)
        if kind.plural in inventory.resource_versions
    }
    return Inventory(
        objects=objects,
        resource_versions={**first.resource_versions, **second.resource_versions},
        unread=tuple(dict.fromkeys((*first.unread, *second.unread))),
        apart=first.apart or second.apart or len(versions) > 1,
        pods_read=first.pods_read or second.pods_read,
    )
