"""Fixes for manifests whose replicas find no node: changes of the manifest or of the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

from msgspec.structs import replace

from kubectl_spread.commands.autoscaling import AutoscalerOptions, beside_autoscaler
from kubectl_spread.commands.fix_budget import FixBudget, now, seconds_for
from kubectl_spread.commands.manifest_answers import Answer
from kubectl_spread.commands.manifests import Manifest
from kubectl_spread.commands.view import View
from kubectl_spread.contract.check import CheckItem
from kubectl_spread.contract.fix_search import searched_fields
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.diagnosis.fixes.candidate import as_template
from kubectl_spread.diagnosis.fixes.patch import pointer
from kubectl_spread.diagnosis.fixes.search import search_fixes
from kubectl_spread.diagnosis.fixes.situation import Situation, Written
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.simulation.placement import Placed
from kubectl_spread.snapshot import Snapshot


def with_fixes(
    answered: Sequence[tuple[Manifest, Answer]],
    view: View,
    seconds: float | None,
    autoscalers: AutoscalerOptions,
) -> tuple[CheckItem, ...]:
    """Return the items, with fixes where a replica finds no node.

    Args:
        answered: each manifest and the answer about it.
        view: the cluster without the manifests.
        seconds: for all searches together; None for the default of the cluster's size.
        autoscalers: the autoscaler flags.
    """
    within = seconds_for(seconds, len(view.snapshot.nodes))
    budget = FixBudget(within, sum(answer.jammed is not None for _, answer in answered))
    bare = frozenset(manifest.obj.key for manifest, _ in answered if isinstance(manifest.obj, Pod))
    items = []
    for manifest, answer in answered:
        item, jammed = answer.item, answer.jammed
        if jammed is not None:
            situation, flags = _situation(manifest, jammed, view.snapshot, bare), view.metadata.connection_flags
            search = budget.within(partial(search_fixes, situation, jammed.waiting))
            item = replace(item, **searched_fields(search, flags))
            item = beside_autoscaler(item, situation, jammed.waiting, autoscalers, flags)
        items.append(item)
    return tuple(items)


def _situation(manifest: Manifest, jammed: Placed, before: Snapshot, bare: frozenset[tuple[str, str]]) -> Situation:
    """Return the first replica that finds no node, in the cluster with the replicas before it."""
    obj = manifest.written or manifest.obj
    template = manifest.template or (as_template(obj) if isinstance(obj, Pod) else template_of(cast("Workload", obj)))
    written = Written(
        obj=cast("Workload | Pod | None", manifest.obj),
        template=template,
        path=pointer(*manifest.pod_path.split(".")[:-1]),
        values=manifest.document.values,
        before=before,
        earlier=jammed.bound,
        bare=bare,
    )
    return Situation(jammed.waiting[0], jammed.handle, now(), written)
