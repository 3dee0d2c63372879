"""Whatever a large cluster is asked, it answers the same whether its Pods are read in stages or all at once.

Compared are the verdict, the domains of every constraint, and the conflict core wherever it lies among the requirements
that were judged on every node. Each fix that is found in stages is tried on the whole cluster. Of ``show`` the rows of
the Pod's namespace are compared: status, counts, domains, and whether the next replica finds a node, on one that takes
it. Of ``check``, with the Pod as a manifest, the same is compared as of a Pending Pod, and where replicas go.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice, product
from typing import TypeAlias

from msgspec import UNSET, Struct
from msgspec.structs import replace

from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, show
from kubectl_spread.commands.source import ReadMode
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import why_pending
from kubectl_spread.contract.check import CheckItem
from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.pending import PendingItem
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, Domain
from kubectl_spread.diagnosis.fixes.conclusion import Fix
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.objects.core import NOT_ANSWERING
from kubectl_spread.scheduler import cycle
from kubectl_spread.wording.incomplete import entries
from tests.build import Object, namespace, object_of
from tests.commands.large import Large
from tests.conformance.answer import question
from tests.conformance.generate import Case, cases
from tests.diagnosis.fixes.claims import with_fix

SUITES = ("spread", "filters", "preemption", "nominated", "devices")
MINOR = 36
LIMITS = (1, 3, 500)  # Nodes (count) that are read one by one before all are
MODES: tuple[ReadMode, ...] = ("auto", "needed")
REPLICAS = (None, 2)
"""How many replicas of a manifest are asked for: as many as it says, which is one, or so many (count)."""


class Outcome(Struct, frozen=True):
    """What came of Pods that were asked about in both ways."""

    verdicts: Counter[str]  # verdict → Pods (count) of which it was said
    in_stages: int  # answers (count) that took no list of all Pods
    fixes: int  # fixes (count) that were found in stages
    told: int  # those of them (count) that Pods prevent that were not read, as the report tells
    rows: int  # rows of ``show`` (count) that were compared
    differences: Sequence[str]  # where the two ways part


def drawn(*, seed: int, count: int) -> Iterator[Case]:
    """Yield so many generated cases, in turn from each suite; none with a scheduler's configuration of its own."""
    by_suite = zip(*(cases(suite=suite, minor=MINOR, seed=seed, count=count) for suite in SUITES), strict=True)
    plain = (case for together in by_suite for case in together if not case.get("config"))
    yield from islice((case for case in plain if not case["pod"]["spec"].get("nodeName")), count)


def outcome(*, seed: int, count: int) -> Outcome:
    """Return what came of that many Pods."""
    verdicts: Counter[str] = Counter()
    in_stages = fixes = told = rows = 0
    differences: list[str] = []
    for case in drawn(seed=seed, count=count):
        whole, _ = answer(case, "all", LIMITS[-1])
        verdicts[whole.verdict.value] += 1
        for mode, limit in ((mode, limit) for mode in MODES for limit in LIMITS):
            item, staged = answer(case, mode, limit)
            differences += (f"{case['id']} ({mode}, {limit}): {each}" for each in parts(item, whole))
            held = [holds(case, fix) for fix in item.fixes] if staged else []
            in_stages, fixes, told = in_stages + staged, fixes + len(held), told + held.count(False)
        all_rows = shown(case, "all", LIMITS[-1])
        for limit in LIMITS:
            rows += len(all_rows)
            found = row_parts(shown(case, "auto", limit), all_rows)
            differences += (f"{case['id']} (show, {limit}): {each}" for each in found)
    return Outcome(verdicts, in_stages, fixes, told, rows, differences)


def answer(case: Case, mode: ReadMode, limit: int) -> tuple[PendingItem, bool]:
    """Return why the case's Pod is Pending, and whether that took no list of all Pods."""
    metadata = case["pod"]["metadata"]
    large = Large([*case["objects"], case["pod"]], said_version=f"v1.{MINOR}.0")
    scope = Scope(namespace=metadata["namespace"], names=(metadata["name"],))
    options = SchedulerOptions(feature_gates=case.get("featureGates") or {})
    (item,) = why_pending(large, scope, options, read=mode, most_nodes=limit).report.items
    return item, not large.whole_asked


def of_manifests(*, seed: int, count: int) -> Outcome:
    """Return what came of that many Pods as manifests."""
    verdicts: Counter[str] = Counter()
    in_stages = fixes = told = 0
    differences: list[str] = []
    for case, replicas in product(drawn(seed=seed, count=count), REPLICAS):
        whole, _ = checked(case, "all", LIMITS[-1], replicas)
        verdicts[whole.verdict.value] += 1
        for mode, limit in product(MODES, LIMITS):
            item, staged = checked(case, mode, limit, replicas)
            found = (*parts(item, whole), *placed_parts(item, whole))
            differences += (f"{case['id']} (check, {mode}, {limit}, {replicas}): {each}" for each in found)
            held = [holds(admitted(case), fix) for fix in item.fixes] if staged and replicas is None else []
            in_stages, fixes, told = in_stages + staged, fixes + len(held), told + held.count(False)
    return Outcome(verdicts, in_stages, fixes, told, 0, differences)


def checked(case: Case, mode: ReadMode, limit: int, replicas: int | None) -> tuple[CheckItem, bool]:
    """Return what becomes of the case's Pod as a manifest, and whether that took no list of all Pods."""
    manifest, others = as_manifest(case["pod"])
    space = manifest["metadata"]["namespace"]
    large = Large([*case["objects"], *others, namespace(space)], said_version=f"v1.{MINOR}.0")
    asked = CheckOptions(filenames=("-",), namespace=space, replicas=replicas, read=mode, most_nodes=limit)
    rules = SchedulerOptions(feature_gates=case.get("featureGates") or {})
    (item,) = check(large, asked, rules, stdin=BytesIO(json.dumps(manifest).encode())).report.items
    return item, not large.whole_asked


def as_manifest(pod: Object) -> tuple[Object, Sequence[Object]]:
    """Return what somebody would write to get such a Pod, and what the cluster has to have for that."""
    spec = dict(pod["spec"])
    if "priority" not in spec:
        return {**pod, "status": {}}, ()
    of_the_pod = object_of("PriorityClass", "of-the-pod", value=spec.pop("priority"))
    return {**pod, "spec": {**spec, "priorityClassName": "of-the-pod"}, "status": {}}, (of_the_pod,)


def admitted(case: Case) -> Case:
    """Return the case with the tolerations that the API server adds to its Pod, which fixes go by."""
    spec = case["pod"]["spec"]
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for key in NOT_ANSWERING
    ]
    return {**case, "pod": {**case["pod"], "spec": {**spec, "tolerations": [*spec.get("tolerations", ()), *added]}}}


def placed_parts(staged: CheckItem, whole: CheckItem) -> Iterator[str]:
    """Yield in what the answers part about where replicas go."""
    if _may_be_kept_away(staged):
        return
    said, expected = (
        (each.placements, each.jam and each.jam.replica, each.pending, each.failed_create, each.validation)
        for each in (staged, whole)
    )
    if said != expected or _counted(staged.after) != _counted(whole.after):
        yield f"{said} in stages, {expected} on the whole"
    if staged.jam and whole.jam and staged.jam.message not in {None, whole.jam.message}:
        yield f"{staged.jam.message} in stages, {whole.jam.message} on the whole"


def _may_be_kept_away(staged: EvaluationReport) -> bool:
    """Whether the answer tells that Pods that were not read may keep the Pod away."""
    return any(gap.why == "not asked for" for gap in entries(staged.incomplete))


def parts(staged: PendingItem | CheckItem, whole: PendingItem | CheckItem) -> Iterator[str]:
    """Yield in what the answers part."""
    if _may_be_kept_away(staged):
        return
    if staged.verdict is not whole.verdict:
        yield f"{staged.verdict} in stages, {whole.verdict} on the whole"
    if _counted(staged.constraints) != _counted(whole.constraints):
        yield f"domains {_counted(staged.constraints)} in stages, {_counted(whole.constraints)} on the whole"
    if staged.message not in {None, whole.message}:
        yield f"{staged.message} in stages, {whole.message} on the whole"
    judged = whole.conflict if staged.core_of is UNSET else staged.core_of
    if set(whole.conflict) <= set(judged or ()) and staged.conflict != whole.conflict:
        yield f"core {staged.conflict} in stages, {whole.conflict} on the whole"
    first = {node.name: node.plugin for node in whole.nodes}
    if wrong := [node.name for node in staged.nodes if node.first is True and node.plugin != first[node.name]]:
        yield f"{wrong} said to be rejected first by what does not"
    if isinstance(staged.core_of, tuple) and not all(fix.on_read_pods for fix in staged.fixes):
        yield "a fix that is not said to be proved on what was read"


Row: TypeAlias = tuple[str, str, str, int]  # The namespace, workload, revision and constraint's index of a row


def shown(case: Case, mode: ReadMode, limit: int) -> Mapping[Row, SkewItem]:
    """Return the rows of the namespace of the case's Pod."""
    large = Large([*case["objects"], case["pod"]], said_version=f"v1.{MINOR}.0")
    scope = Scope(namespace=case["pod"]["metadata"]["namespace"])
    options = SchedulerOptions(feature_gates=case.get("featureGates") or {})
    found = show(large, scope, ShowOptions(read=mode, most_nodes=limit), options).report.items
    return {(each.namespace, str(each.workload), each.revision, each.constraint.index): each for each in found}


def row_parts(staged: Mapping[Row, SkewItem], whole: Mapping[Row, SkewItem]) -> Iterator[str]:
    """Yield in what the rows part."""
    if staged.keys() != whole.keys():
        yield f"{sorted(staged.keys() ^ whole.keys())} in one of both alone"
    for row in staged.keys() & whole.keys():
        some, every = staged[row], whole[row]
        said, expected = ((each.status, each.pods, each.own_pods, each.ghosts) for each in (some, every))
        if said != expected or _counted([some.constraint]) != _counted([every.constraint]):
            yield f"{row}: {said} in stages, {expected} on the whole"
        if bool(some.next) != bool(every.next) or not set(some.next) <= set(every.next):
            yield f"{row}: next {some.next} in stages, {every.next} on the whole"


def _counted(constraints: Sequence[ConstraintDiagnosis]) -> list[tuple[int, list[Domain]]]:
    """Return what is said of domains, but for who pins them: of that there may be more on the whole."""
    return [(each.index, [replace(domain, pinned_by=()) for domain in each.domains]) for each in constraints]


def holds(case: Case, fix: Fix) -> bool:
    """Whether the fix lets the Pod in on the whole cluster."""
    return bool(cycle.feasible_nodes(*question(with_fix(case, fix))))


def wrong(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Yield where the two ways part about so many Pods."""
    for of_pods in (outcome, of_manifests):
        found = of_pods(seed=seed, count=count)
        seen.update(found.verdicts)
        seen.update({"in stages": found.in_stages, "fixes": found.fixes, "fixes told": found.told, "rows": found.rows})
        yield from found.differences
