"""Small clusters in which one Pod is Pending, and what is offered for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from kubectl_spread.contract.form import to_form
from kubectl_spread.controllers.workloads import living_pods
from kubectl_spread.diagnosis.fixes.company import Company
from kubectl_spread.diagnosis.fixes.conclusion import FixSearch
from kubectl_spread.diagnosis.fixes.search import search_fixes, siblings_of
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.profile import Profile, default_profile
from kubectl_spread.snapshot import Inventory, Snapshot, Unread
from kubectl_spread.wording.fixes import left_alone
from tests.build import ZONE, Object, app, node, pod, snapshot, spread, typed_pod

WEB = {"app": "web"}
HASH = "pod-template-hash"
JsonFix: TypeAlias = Any  # A fix as JSON has it, with texts and commands


def zones(**fields: Mapping[str, object]) -> list[Object]:
    """Return one node in each of the zones a, b and c; ``fields`` of the node, by its zone."""
    return [node(f"{zone}1", zone=zone, **fields.get(zone, {})) for zone in "abc"]  # type: ignore[arg-type] # any field, by the builder's own names


def web(name: str = "web", *, on: str = "", **fields: object) -> Object:
    """Return a Pod of the application web, which spreads over zones unless ``fields`` say otherwise."""
    constraints = [spread(ZONE, selector=app("web"))]
    return pod(name, on=on, **{"labels": WEB, "topologySpreadConstraints": constraints, **fields})  # type: ignore[arg-type] # any field, by the builder's own names


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """What the search found, as it is reported."""

    fixes: tuple[JsonFix, ...]
    new_nodes: tuple[JsonFix, ...]
    left_alone: tuple[str, ...]
    waits: tuple[Any, ...]
    fix_search: str


def conclusion(
    objects: Sequence[Object],
    pending: Object,
    *,
    siblings: Iterable[Object] = (),
    unread: Iterable[Kind] = (),
    spent: Callable[[], bool] = lambda: False,
    profile: Profile | None = None,
    now: str = "",
    together: bool = False,
) -> FixSearch:
    """Return what the search concludes for the Pod.

    Args:
        objects: the cluster.
        pending: the Pod.
        siblings: other Pods without a node.
        unread: kinds that could not be listed.
        spent: whether the time is over.
        profile: whose rules apply; the reference release's unless given.
        now: the moment it is asked; empty where nobody knows.
        together: whether the whole cluster is simulated, not only the workload's Pods.
    """
    found = snapshot([*objects, pending, *siblings], profile).inventory
    missing = tuple(Unread(kind, "forbidden") for kind in unread)
    cluster = Snapshot.build(Inventory(found.objects, unread=missing))
    seen_by = profile or default_profile()
    asked = typed_pod(pending, profile)
    handle = Handle.build(cluster, seen_by)
    situation, company = Situation(asked, handle, now), Company(Handles(handle)) if together else None
    others = [typed_pod(each, profile) for each in (pending, *siblings)]
    return search_fixes(situation, siblings_of(asked, living_pods(others, cluster), cluster), spent, company)


def search(objects: Sequence[Object], pending: Object, **options: object) -> Reported:
    """Return what is offered for the Pod; the options are those of ``conclusion``."""
    return reported(conclusion(objects, pending, **options))  # type: ignore[arg-type] # any field, by the builder's own names


def reported(found: FixSearch) -> Reported:
    return Reported(
        fixes=to_form(found.fixes),
        new_nodes=to_form(found.new_nodes),
        left_alone=tuple(map(left_alone, found.left_alone)),
        waits=to_form(found.waits),
        fix_search="complete" if found.complete else "bounded",
    )


def fixes(objects: Sequence[Object], pending: Object, **options: object) -> dict[str, JsonFix]:
    """Return what is offered for the Pod, by class; the last of a class that is offered more than once."""
    return {fix.id: fix for fix in search(objects, pending, **options).fixes}


def patch_of(fix: JsonFix) -> list[tuple[str, str, object]]:
    """Return the operations of a fix that patches one object: (op, path, value), None for no value."""
    (change,) = fix.changes
    operations = msgspec.json.decode(msgspec.json.encode(change.json_patch))
    return [(each["op"], each["path"], each.get("value")) for each in operations]
