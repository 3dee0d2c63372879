"""Sentences of ``why-pending`` and ``show`` about clusters made from seeds, read back and counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, show
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import why_pending
from kubectl_spread.contract.pending import PendingItem
from kubectl_spread.controllers.workloads import Replicas
from tests.build import Object
from tests.commands.memory import Memory
from tests.sentences.clusters import cluster
from tests.sentences.grammar import Facts, wrong


def sentences(item: PendingItem, facts: Facts) -> Iterator[tuple[str, Facts]]:
    """Yield what is said of the Pod in sentences, and what there is to count for each."""
    yield from ((text, facts) for text in (item.summary, item.message or "", *(each.message for each in item.findings)))
    yield from ((each.message, facts) for each in item.waits or ())
    for fix in item.fixes:
        yield fix.summary, facts
        yield f"{fix.starts}; {fix.ends}", replace(facts, left=fix.without_node or 0)


def said(objects: Sequence[Object], *, fix_budget: float) -> Iterator[tuple[Facts, PendingItem]]:
    """Yield what there is to count for each Pod that no node takes, and what is said of it."""
    scope = Scope(namespace="default")
    apps = {each["metadata"]["name"]: each["metadata"]["labels"]["app"] for each in objects if each["kind"] == "Pod"}
    for item in why_pending(Memory(objects), scope, SchedulerOptions(), fix_budget=fix_budget).report.items:
        if not item.feasible:
            yield Facts.about(objects, apps[item.name], item.name), item


def shown(objects: Sequence[Object]) -> Iterator[tuple[Facts, str]]:
    """Yield what there is to count for each workload with a Pod that waits, and each finding of ``show`` about it."""
    scope = Scope(namespace="default")
    for row in show(Memory(objects), scope, ShowOptions(), SchedulerOptions()).report.items:
        facts = Facts.about(objects, row.workload.name)
        for finding in row.findings:
            claimed = re.search(r"claim data-(\S+) is bound", finding.message)
            yield facts.of(claimed[1]) if claimed else facts, finding.message


def misread(seed: int, *, fix_budget: float) -> Iterator[str]:
    """Yield what of the cluster's sentences is not so, or is read by no rule."""
    for facts, item in said(cluster(seed), fix_budget=fix_budget):
        wanted, runs = len(facts.kin), sum(each["status"]["phase"] == "Running" for each in facts.kin)
        if item.replicas != Replicas(wanted=wanted, running=runs) and facts.kind != "Job":
            yield f"seed {seed}: {item.replicas} is not {runs} of {wanted}"
        yield from (f"seed {seed}: {each}" for text, known in sentences(item, facts) for each in wrong(text, known))
    for facts, text in shown(cluster(seed)):
        yield from (f"seed {seed}: show: {each}" for each in wrong(text, facts))
