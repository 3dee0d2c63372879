"""The fixes in words: what each class of change is, and how one that was verified is made.

The classes that keep the promise of the constraint come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from kubectl_spread.controllers.taints import LEAVING, NodeTrouble
from kubectl_spread.diagnosis.fixes import conclusion, proposals
from kubectl_spread.diagnosis.fixes.choice import Hidden
from kubectl_spread.diagnosis.fixes.conclusion import Effect
from kubectl_spread.diagnosis.fixes.fragment import merged, yaml_lines
from kubectl_spread.diagnosis.fixes.proposals import OfConstraint
from kubectl_spread.objects.meta import grouped
from kubectl_spread.wording.entry import Rules
from kubectl_spread.wording.reference import entries_named
from kubectl_spread.wording.words import capital, count_of, enumerated, first_and_more, listed, seen, some_run

if TYPE_CHECKING:
    from kubectl_spread.objects.meta import Plain

BY_AUTOSCALER = ", by hand or by an autoscaler"
"""How a further node is added if no autoscaler is known."""
NO_NODE_THERE = "No node is in all of these domains: first make sure that the node pool covers the zone"
STARTING = "a node that starts"
"""What a node is called that an autoscaler has added, and that has not joined the cluster."""
FIXES = Rules()
WAITS = Rules()
OVERTAKEN = "the recreated Pod may be scheduled first: then this Pod stays Pending"
"""What to know where the Pod that comes again may be scheduled before the one that waits."""
VERIFIED = "verified by simulation"
PARTITION = "spec.updateStrategy.rollingUpdate.partition"
DATA_LOST = "what is in its emptyDir volumes is lost"
CHANGED = "  # changed"
"""What follows a changed line of YAML."""
ON_PURPOSE = "Ask its owner first: somebody set this on purpose."
ANOTHERS = "Ask the owner of namespace {} first."
NEW_NODE = "the new node"
RESTARTS_NOTHING = "No running Pod restarts."
NOTHING_HELPS = "No {}simulated change helps, not even two together"
NOT_ASKED = "Simulated with the Pods that were read: Pods of other namespaces on other nodes were not read."
NOT_JUDGED = "Simulated without the incomplete parts below: a change may open fewer nodes than are named."
CUT_SHORT = "The search was cut short: --fix-budget gives it more time."
_HIDDEN: Mapping[Hidden, str] = {
    Hidden.IN_VAIN: "would replace Pods and leave as many without a node",
    Hidden.OVERRIDING: "change{s} what somebody set on purpose",
    Hidden.LOSING: "would lose Pods or their work",
    Hidden.NEEDLESS: "would end running Pods, which is not needed if you wait",
}
_CAUTIONS: Mapping[type[proposals.Proposal], tuple[str, ...]] = {
    proposals.AddToleration: ("the nodes are reserved on purpose: make sure that this Pod belongs there",),
    proposals.Uncordon: ("first find out why the node is cordoned",),
    proposals.RemoveTaint: (
        "other Pods may then be scheduled there too: make sure that the taint is no longer needed",
    ),
    proposals.RollBack: ("this undoes what the newest revision changed: ask its author first",),
    proposals.AddNode: ("add the node yourself: scale the node group, or use the autoscaler",),
}
_TROUBLES: Mapping[NodeTrouble, str] = {
    NodeTrouble.UNREACHABLE: "kubelet unreachable",
    NodeTrouble.NOT_READY: "not ready",
    NodeTrouble.MEMORY_PRESSURE: "low on memory",
    NodeTrouble.DISK_PRESSURE: "low on disk",
    NodeTrouble.PID_PRESSURE: "low on process IDs",
    NodeTrouble.NETWORK_UNAVAILABLE: "network not set up",
    NodeTrouble.OUT_OF_SERVICE: "shut down",
    NodeTrouble.CORDONED: "cordoned",
    NodeTrouble.UNHEALTHY: "unhealthy",
    NodeTrouble.CLOUD: "not set up by its cloud, or shut down there",
    NodeTrouble.STATUS: "unhealthy, by the taint of an agent",
    NodeTrouble.UNREGISTERED: "not registered yet",
    NodeTrouble.NO_CILIUM_AGENT: "Cilium's agent does not run there",
    NodeTrouble.NO_EBS_DRIVER: "the EBS CSI driver does not run there",
    NodeTrouble.MACHINE_LEAVES: "about to be removed",
    NodeTrouble.SET_APART_BY_GKE: "reserved by Google Kubernetes Engine",
    NodeTrouble.CLUSTER_API: "not set up, or being replaced, by Cluster API",
    NodeTrouble.NO_CSI_DRIVER: "a CSI driver does not run there",
    NodeTrouble.NO_AGENT: "a required agent does not run there",
    NodeTrouble.AUTOSCALER_DELETES: "about to be deleted by an autoscaler",
    NodeTrouble.STARTING: "not ready for Pods yet",
    NodeTrouble.BEING_DELETED: "its Node object is being deleted",
}
_LIFTED: Mapping[NodeTrouble, str] = {
    NodeTrouble.OUT_OF_SERVICE: "; somebody set the taint, and has to remove it once the node is back",
    NodeTrouble.SET_APART_BY_GKE: "",
}
"""How a taint goes that no recovery clears.

Source: the page Non-Graceful Node Shutdown, for out-of-service.
"""


def summary(fix: conclusion.Fix) -> str:
    """Return the changes in words."""
    if isinstance(fix.proposals[0], proposals.AddNode):
        return _new_node(fix)
    return changes(fix.proposals)


def changes(made: Sequence[proposals.Proposal]) -> str:
    """Return the changes in words, one that several constraints get once."""
    alike = grouped(made, lambda each: replace(each, topology_key="") if isinstance(each, OfConstraint) else each)
    keys = ([each.topology_key for each in parts if isinstance(each, OfConstraint)] for parts in alike.values())
    return "; also ".join(FIXES.text(part, *filter(None, [on])) for part, on in zip(alike, keys, strict=True))


def constraints_on(keys: Sequence[str]) -> str:
    """Return ``the constraint on zone``, or ``the constraints on zone and rack``."""
    return f"the constraint{'s' * bool(keys[1:])} on {enumerated(keys)}"


def starts(fix: conclusion.Fix) -> Sequence[str]:
    """Return what running the commands sets off, or what to do where there is none: a clause each."""
    cautions = (
        _after_deletion(fix, it) if isinstance(it, proposals.MovePod) else _CAUTIONS.get(type(it), ())
        for it in fix.proposals
    )
    stays = ("its new volume is created where the Pod is placed, and may keep it there",) if fix.for_good else ()
    warnings = (f"causes {name}: {entries_named(name)[0].summary}" for name in fix.warnings)
    return [*dict.fromkeys((*stays, *chain(*cautions), *chain(*map(_sets_off, fix.routes)), *warnings))]


def ends(fix: conclusion.Fix) -> str:
    """Return how many Pods have no node when nothing changes any more; empty for none, or if that is not known."""
    end = fix.rollout_end
    if end is None or not end.most:
        return ""
    pods = count_of(end.most, "Pod")
    if end.least < end.most:
        return f"in the end, up to {pods} may still have no node"
    return f"in the end, {pods} still {'has' if end.most == 1 else 'have'} no node"


def _sets_off(route: conclusion.Route) -> Iterator[str]:
    """Yield what the commands of a route set off, or why there are none: a clause each."""
    if route.keeper is not None:
        lasts = "a patch will be reverted" if route.keeper.reverts else "kubectl's change lasts until the next upgrade"
        yield f"change it in its source ({route.keeper.name}): {lasts}"
    if route.paused:
        resumed = "nothing is replaced until it is resumed, which also rolls out all other changes since the pause"
        yield f"{route.owner} is paused: {resumed}"
    yield from _effect(route)
    if route.effect not in {Effect.ROLLOUT, Effect.ROLLOUT_IN_TURN} and not route.reused and (runs := _running(route)):
        yield runs
    if route.after:
        yield f"{route.owner} recreates {_waiting(route)} only once {route.after} is Ready"


def _effect(route: conclusion.Route) -> Iterator[str]:
    owner, waiting = route.owner, _waiting(route)
    others = f"this replaces {count_of(route.pods, 'other Pod')} of {owner}" if route.pods else ""
    match route.effect:
        case Effect.THIS_POD_ONLY:
            yield "the first command changes only this Pod"
        case Effect.PENDING_PODS_ONLY:
            yield f"changes only {waiting}: Pods that {owner} creates later lack it"
        case Effect.ROLLOUT | Effect.ROLLOUT_IN_TURN:
            yield from _rollout(route)
        case Effect.ROLLBACK:
            yield from _rollback(route)
        case Effect.BEHIND_PARTITION:
            yield (
                f"{PARTITION} of {owner} is {route.partition} and keeps this Pod on the old template: the change of"
                f" {owner} reaches it only once that is lowered and the Pod is deleted"
            )
            yield from filter(None, [others])
        case Effect.PARTITION_LOWERED:
            kept = f"{PARTITION} of {owner} is {route.partition} and keeps {waiting} on the old template"
            yield f"{kept}: the first command lowers it"
            yield from filter(None, [others])
            yield f"{owner} recreates {waiting} from its template, which needs no change"
        case Effect.THIS_POD_RECREATED:
            yield f"recreates {waiting}"
            yield f"other Pods of {owner} stay"
        case Effect.NEXT_RUN:
            yield f"the change is only for later runs of {owner}: the Pending Pods of this run stay Pending"
        case Effect.OWNER_RECREATED:
            yield f"recreates {owner}: its Pods and their work so far are lost"
        case Effect.POD_RECREATED:
            yield "deletes and recreates the Pod, which does not run yet"
        case Effect.TEMPLATE_LACKS:
            yield f"{owner} recreates {waiting} from its template, which differs in {', '.join(route.fields)}"
            yield "if a webhook makes the difference, change the webhook instead"
        case Effect.TEMPLATE_IS_RIGHT:
            yield f"{owner} recreates {waiting} from its template, which needs no change"
        case _:
            yield from _no_command(route)


def _no_command(route: conclusion.Route) -> Iterator[str]:
    """Yield why no command makes the change where it would last."""
    owner, none = route.owner, "there is no command for this, because"
    match route.effect:
        case Effect.TEMPLATE_UNREADABLE:
            yield f"change {', '.join(route.fields)} in the template of {owner}, which creates these Pods"
        case Effect.TEMPLATE_INVALID:
            yield f"the template of {owner} would not be valid with it"
        case Effect.TEMPLATE_DIFFERS:
            yield f"{none} the template of {owner} has no such field"
            yield "if an admission webhook adds it, change the webhook"
            yield "if the template was changed since, a new Pod has no such field either"
        case Effect.TEMPLATE_NEEDS_NONE:
            yield f"the template of {owner} needs no change: this Pod is of an older one"
        case Effect.WEBHOOK_DIFFERS:
            changes = f"an admission webhook or a policy changes the Pods of {owner}"
            yield f"{none} {changes}: change that, not the template"
        case Effect.MANIFEST_DIFFERS:
            yield f"the manifest of {owner} has no such field: admission adds it"
        case Effect.LIVE_DIFFERS:
            yield f"only the live {owner} has the field, and kubectl apply keeps it: change it there"
        case Effect.UPDATE_REFUSED:
            yield f"the API server refuses such a change of {owner}: delete it before you apply the manifest"
        case _:
            return


def _rollout(route: conclusion.Route) -> Iterator[str]:
    pods = "each Pod" if route.pods is None else "the Pod" if route.pods == 1 else f"{route.pods} Pods"
    in_turn = route.effect is Effect.ROLLOUT_IN_TURN
    how = "" if route.pods == 1 else " one after another" if in_turn else " all at once" * route.all_at_once
    runs = _running(route)
    that = "that " * (route.paused and not in_turn)
    yield f"{that}replaces {pods} of {route.owner}{how}{f' ({runs})' * bool(runs)}"
    if in_turn:
        yield f"the rollout starts once {_waiting(route)} {'is' if route.waiting == 1 else 'are'} deleted"


def _rollback(route: conclusion.Route) -> Iterator[str]:
    stay = "its Pod stays" if route.pods == 1 else f"its {route.pods} Pods stay"
    yield f"{route.owner} uses {route.reused} again: {stay}"
    if others := route.at_work:
        what = "ReplicaSet" if route.reused.startswith("replicaset/") else "revision"
        of_others = f"another {what} is" if others == 1 else f"other {what}s are"
        yield f"{count_of(others, 'running Pod')} of {of_others} deleted"


def _waiting(route: conclusion.Route) -> str:
    return "this Pod" if route.waiting == 1 else f"the {route.waiting} Pending Pods"


def _running(route: conclusion.Route) -> str:
    """Return how many of the Pods that are replaced run; empty where that is not known, or all do."""
    one = route.pods == 1
    if route.at_work is None:
        return ("it does not run yet" if one else "none of them runs yet") if route.nothing_runs else ""
    return some_run(route.pods or 2, route.at_work)


def _after_deletion(fix: conclusion.Fix, move: proposals.MovePod) -> Iterator[str]:
    if fix.after_deletion is None:
        return
    yield _outlook(fix.after_deletion)
    if isinstance(fix.after_deletion, conclusion.Recreated) and fix.after_deletion.may_be_first:
        yield OVERTAKEN
    if move.loses_data:
        yield DATA_LOST


def _outlook(after: conclusion.AfterDeletion) -> str:
    match after:
        case conclusion.Recreated():
            return f"{after.owner} recreates it{', perhaps on the same node' if after.here else ' on another node'}"
        case conclusion.HeldByFinalizers():
            names = ", ".join(after.finalizers)
            return f"it is being deleted and waits for its finalizers {names}: their controllers must remove them"
        case conclusion.Outlook.GONE_FOR_GOOD:
            return "the deleted Pod does not come back, because no controller recreates it"
        case conclusion.Outlook.NODE_SILENT:
            ends = "it is being deleted, and its node does not answer"
            return f"{ends}: first make sure that the machine is off, or the Pod may run twice"
        case _:
            assert_never(after)


def left_alone(what: conclusion.NotOffered, *, others: bool = False) -> str:
    """Return what is not offered, and why; ``others``: whether there is another Pod like it."""
    match what:
        case conclusion.SufferingNodes():
            taints = "taint" if len(what.nodes) == len(what.taints) == 1 else "taints"
            return f"tolerating the {taints} of {_suffering(what)}"
        case conclusion.StayingPod():
            like = ", or another Pod like it" * others
            return f"deleting {what.namespace}/{what.name} on {what.node}{like} ({_why_not_deleted(what)})"
        case conclusion.WouldWarn():
            return f"{changes(what.proposals)} (it would cause {', '.join(what.findings)})"
        case _:
            assert_never(what)


def _why_not_deleted(what: conclusion.StayingPod) -> str:
    match why := what.why:
        case conclusion.Ending():
            return _ending(why, (what.node,))
        case conclusion.BudgetsNotRead():
            return "its disruption budgets could not be listed"
        case _:
            from kubectl_spread.wording.rebalance import stay_text  # ``explain`` plans no eviction.

            return stay_text(why)


def _suffering(what: conclusion.SufferingNodes) -> str:
    clears = "the taint clears" if len(what.nodes) == len(what.taints) == 1 else "the taints clear"
    recovery = "" if what.trouble in LEAVING else _LIFTED.get(what.trouble, f"; {clears} on recovery")
    return f"{first_and_more(what.nodes)} ({_TROUBLES[what.trouble]}{recovery})"


def _ending(what: conclusion.Ending, nodes: Sequence[str], *, one: bool = True) -> str:
    deleted, whose = ("it is being deleted", "its") if one else ("they are being deleted", "their")
    if what.over_since:
        ended = f"{'its' if one else 'the first'} grace period ended at {what.over_since}"
        return f"{deleted}, and {ended}: check the kubelet of {listed(nodes)}"
    within = f"{what.grace_seconds}s" if what.grace_seconds else f"{whose} grace period"
    unless = f", unless finalizers keep {'it' if one else 'them'}: {listed(what.finalizers)}" * bool(what.finalizers)
    return f"{deleted} and end{'s' * one} within {within}{unless}"


def opens(
    feasible: Sequence[str], admits: str, siblings: int, *, most: int, checked: bool, pod: str = "this Pod"
) -> str:
    """Return the nodes that a fix opens, and how many of the workload's Pods, or of the manifest's, it lets in.

    Empty if it lets in none, as behind a partition.
    """
    whom = "replicas without a node" if checked else "Pending Pods"
    nodes = enumerated(feasible).replace(" and ", " or ") if len(feasible) <= most else count_of(len(feasible), "node")
    if admits == "0":
        return ""
    if siblings <= 1:
        return f"Then {pod} can go to {nodes}."
    on = nodes if len(feasible) <= most else f"one of {nodes}"
    # Of more Pending Pods only so many are considered.
    least = "at least " * (siblings == conclusion.MOST_SIBLINGS)
    every = {2: "both"}.get(siblings, (least or "all ") + str(siblings))
    many = every if admits == str(siblings) else f"{admits} of {least}{siblings}"
    return f"Then {many} {whom} can be scheduled, {'the first' if checked else 'this one'} on {on}."


def instead(created: int, feasible: Sequence[str], siblings: int) -> str:
    """Return what happens to the Pending Pods where an older ReplicaSet creates so many Pods (count).

    ``feasible``: where these can go; empty if not all of them find a node.
    """
    old = "the Pending Pod is" if siblings <= 1 else f"the {siblings} Pending Pods are"
    if not created:
        return f"Then {old} deleted, and no new Pod is needed."
    new, are = count_of(created, "new Pod"), "is" if created == 1 else "are"
    does = f"can go to {' or '.join(listed(feasible).rsplit(', ', 1))}" if feasible else f"{are} created"
    return f"Then {old} deleted, and {new} {does}."


def sentences(clauses: Sequence[str]) -> str:
    """Return clauses as sentences."""
    return " ".join(f"{capital(clause)}." for clause in clauses)


def title(steps: int, *, more: str, verified: bool, none_safe: bool) -> str:
    """Return the title of so many steps (count): that the first is the best, and how to see more; empty without any.

    ``verified``: whether fixes are among them; ``none_safe``: whether none of these is safe.
    """
    if not steps:
        return ""
    what = "No safe fix was found. What would help" if none_safe else "What to do"
    told = filter(None, (f"{'fixes ' * (steps > 1)}{VERIFIED}" if verified else "", more))
    brackets = "; ".join(told)
    return f"{what}{', best first' if steps > 1 else ''}{f' ({brackets})' if brackets else ''}"


def alike_text(names: Sequence[str]) -> str:
    """Return the objects of one set of changes."""
    return " and ".join(names)


def same_for(alike: Sequence[Sequence[str]]) -> str:
    """Return for what else the same change does the same."""
    return f"{listed([*map(alike_text, alike)])} would do as well."


EITHER = "This one or the one before is enough: choose the constraint that matters less."
"""Which of two fixes to take, each of which weakens another constraint."""


def new_revision(feasible: Sequence[str]) -> str:
    """Return where Pods of the new revision may go."""
    return f"A Pod of the new revision may go to {listed(feasible) or 'no node yet'}."


def further_node(fix: conclusion.Fix) -> str:
    """Return what to do about a further node: the summary of the fix, and other nodes that it may be like."""
    others = f" (or like {listed([alike_text(each).removeprefix('new-') for each in fix.alike])})" if fix.alike else ""
    return capital(_new_node(fix, others))


def _new_node(fix: conclusion.Fix, others: str = "") -> str:
    node, decided = fix.proposals[0], fix.decision
    what, sentences = FIXES.text(node), [NO_NODE_THERE] * (isinstance(node, proposals.AddNode) and node.elsewhere)
    if decided is not None:
        from kubectl_spread.wording.autoscalers import added_by  # Most clusters have no autoscaler.

        sentences.insert(0, capital(added_by(decided, fix.new_labels)))
    else:
        what, others = (f"{what}{BY_AUTOSCALER}", others) if sentences else (what, f"{others}{BY_AUTOSCALER}")
    return ". ".join((f"{what}{others}", *sentences))


def label_nodes(names: Sequence[str], key: str) -> str:
    """Return what to do about nodes that a constraint leaves out because they lack its topology key."""
    where = "it is" if len(names) == 1 else "each of them is"
    without = "without that label, no Pod with this constraint may go there"
    return f"Set {key} on {first_and_more(names)} to where {where}: {without}"


def hidden(number: int, why: Hidden, flag: str) -> str:
    """Return that fixes (count) are not shown for this reason, and the flag that shows them."""
    one = number == 1
    return f"{'1 fix' if one else f'{number} fixes'} {_HIDDEN[why].format(s='s' * one)}: see {flag}."


def nothing_helps(reached: Sequence[str], *, other: bool) -> str:
    """Return the sentence for a Pod that no change lets in.

    Args:
        reached: the requirements that no change overcomes.
        other: whether a further node would let it in.
    """
    helps = NOTHING_HELPS.format("other " * other)
    rejects = f"{enumerated(reached)} still {'rejects' if len(reached) == 1 else 'reject'} nodes"
    return f"{helps}: {rejects}." if reached else f"{helps}."


def fragment_text(fragment: conclusion.Fragment) -> str:
    """Return what to write in the source of the Pod as YAML; comments mark what changes, and fields to be removed."""
    identity: Plain = {}
    if fragment.kind:
        metadata: Plain = {"name": fragment.name, "namespace": fragment.namespace}
        identity = {"apiVersion": fragment.api_version, "kind": fragment.kind, "metadata": metadata}
    removed = (f"# remove {path}" for path in fragment.removed)
    former, lines = ([*yaml_lines(merged(identity, each))] for each in (fragment.former, fragment.fields))
    return "\n".join((*removed, *_marked(former, lines, known=sum(map(_is_leaf, yaml_lines(identity))))))


def _marked(former: Sequence[str], lines: Sequence[str], *, known: int) -> Sequence[str]:
    """Return lines of YAML with a comment at those that change; without, where none but so many (count) stay."""
    from difflib import SequenceMatcher  # Most fixes are commands alone.

    changes = SequenceMatcher(None, former, lines, autojunk=False).get_opcodes()
    changed = {at for what, _, _, start, end in changes if what != "equal" for at in range(start, end)}
    leaves = {at for at, line in enumerate(lines) if _is_leaf(line)}
    if len(leaves - changed) <= known:
        return lines
    return [f"{line}{CHANGED}" if at in changed & leaves else line for at, line in enumerate(lines)]


def _is_leaf(line: str) -> bool:
    return not line.endswith((":", "{}"))


@FIXES.rule
def _(fix: proposals.FixSelector, keys: Sequence[str]) -> str:
    others = f", no longer {count_of(fix.others, 'Pod')} of {first_and_more(fix.workloads)}" if fix.workloads else ""
    return f"count only Pods with {fix.selector} in {constraints_on(keys)}{others}"


@FIXES.rule
def _(fix: proposals.AddPodLabel) -> str:
    return f"label the Pod {', '.join(f'{key}={value}' for key, value in fix.labels)}"


@FIXES.rule
def _(fix: proposals.FixTopologyKey, keys: Sequence[str]) -> str:
    former = " and an older revision uses" if fix.former else ""
    return f"use the topologyKey {fix.meant}, which nodes carry{former}, instead of {enumerated(keys)}"


@FIXES.rule
def _(fix: proposals.AddMatchLabelKeys, keys: Sequence[str]) -> str:
    they_count = "they count" if keys[1:] else "it counts"
    added = f"add matchLabelKeys [{fix.label}] to {constraints_on(keys)}"
    return f"{added}, so that {they_count} only Pods of the same revision"


@FIXES.rule
def _(_: proposals.HonorTaints, keys: Sequence[str]) -> str:
    policy = f"nodeTaintsPolicy Honor in {constraints_on(keys)}"
    return f"set {policy}, so that cordoned nodes and nodes with untolerated taints do not count"


@FIXES.rule
def _(fix: proposals.RequireZones) -> str:
    return f"keep the Pod to zone{'s' * (len(fix.zones) > 1)} {enumerated(fix.zones)} by node affinity"


@FIXES.rule
def _(_: proposals.IgnoreAffinity, keys: Sequence[str]) -> str:
    policy = f"nodeAffinityPolicy Ignore in {constraints_on(keys)}"
    return f"set {policy}, so that nodes outside the Pod's node affinity count"


@FIXES.rule
def _(_: proposals.HonorAffinity, keys: Sequence[str]) -> str:
    policy = f"nodeAffinityPolicy Honor in {constraints_on(keys)}"
    return f"set {policy}, so that nodes outside the Pod's node affinity do not count"


@FIXES.rule
def _(fix: proposals.Uncordon) -> str:
    despite = f", although its condition {enumerated(fix.problems)} reports a problem" if fix.problems else ""
    return f"uncordon {fix.node}{despite}"


@FIXES.rule
def _(fix: proposals.LabelNode) -> str:
    return f"label {fix.node} {fix.key}={fix.value}, to match its {fix.similar}"


@FIXES.rule
def _(fix: proposals.AddToleration) -> str:
    return f"tolerate the taint {fix.taint}"


@FIXES.rule
def _(fix: proposals.RemoveTaint) -> str:
    return f"remove the taint {fix.taint} from {fix.node}"


@FIXES.rule
def _(fix: proposals.MovePod) -> str:
    does = "finish the deletion of" if fix.ending else "delete"
    return f"{does} the Pod {fix.namespace}/{fix.pod} on {fix.node}"


@FIXES.rule
def _(fix: proposals.RecreatePod) -> str:
    if fix.resumed:
        return f"resume {fix.resumed}, whose rollout replaces the Pod {fix.namespace}/{fix.pod} of an older template"
    was = "was" if fix.certain else "may have been"
    return f"delete the Pod {fix.namespace}/{fix.pod}, which {was} made before its template was changed"


@FIXES.rule
def _(fix: proposals.RollBack) -> str:
    return f"go back to revision {fix.revision} of {fix.owner}"


@FIXES.rule
def _(fix: proposals.LowerMinDomains, keys: Sequence[str]) -> str:
    few = f"no more than {count_of(fix.min_domains, 'domain')} count{'s' if fix.min_domains == 1 else ''}"
    return f"lower minDomains to {fix.min_domains} in {constraints_on(keys)}, because {few}"


@FIXES.rule
def _(fix: proposals.RaiseMaxSkew, keys: Sequence[str]) -> str:
    return f"raise maxSkew to {fix.max_skew} in {constraints_on(keys)}"


@FIXES.rule
def _(fix: proposals.AddNode) -> str:
    domains = " and ".join(f"{key} {seen(value)}" for key, value in fix.domains)
    where = f"in {domains}" if domains else ""
    but = f", but {' and '.join((*['healthy'] * fix.repaired, *[where] * fix.moved))}," * (fix.repaired or fix.moved)
    where = f" {where}" if where and not fix.moved else ""
    pool = f" to the node pool {fix.pool}" if fix.pool else ""
    return f"add a node like {fix.like}{but}{where}{pool}".removesuffix(",")


@FIXES.rule
def _(fix: proposals.RelaxNodeSelector) -> str:
    if fix.label is None:
        return "only prefer the nodes that the required node affinity names"
    return f"drop {'='.join(fix.label)} from the nodeSelector"


@FIXES.rule
def _(fix: proposals.LowerRequests) -> str:
    whose = "the Pod" if fix.container is None else f"container {fix.container}"
    return f"lower the {fix.resource} request of {whose} to {fix.quantity}"


@FIXES.rule
def _(fix: proposals.RelaxPodAffinity) -> str:
    return f"only prefer the {fix.field} to Pods {fix.selector} in the same {fix.topology_key}"


@FIXES.rule
def _(fix: proposals.ChangeHostPort) -> str:
    return f"drop the host port {fix.port}/{fix.protocol} of container {fix.container}"


@FIXES.rule
def _(_: proposals.MakeSoft, keys: Sequence[str]) -> str:
    policy = f"whenUnsatisfiable ScheduleAnyway in {constraints_on(keys)}"
    return f"set {policy}, so that it is only a preference"


@WAITS.rule
def _(wait: conclusion.NodeRecovery) -> str:
    any_of = " or ".join(wait.nodes)
    if wait.nodes[2:]:
        any_of = f"any of {len(wait.nodes)} nodes, such as {wait.nodes[0]},"
    if not (wait.taints or wait.problems):
        return f"{any_of} to be uncordoned: maintenance goes on there"
    trouble = f"condition {enumerated(wait.problems)}" if wait.problems else _TROUBLES[wait.trouble]
    lifted = ", and to be uncordoned" * wait.cordoned
    ended = f", and for {enumerated([*map(str, wait.ending)])} to end there" if wait.ending else ""
    return f"{any_of} to recover ({trouble}){lifted}{ended}"


@WAITS.rule
def _(wait: conclusion.NodeRemoval) -> str:
    without = "it" if len(wait.nodes) == 1 else "them"
    leaves = f"{first_and_more(wait.nodes)} to be removed ({_TROUBLES[wait.trouble]})"
    return f"{leaves}: without {without}, the Pod can be scheduled"


@WAITS.rule
def _(wait: conclusion.PodEnding) -> str:
    where = f"{enumerated([*map(str, wait.pods)])} on {enumerated(wait.nodes)}"
    return f"{where}: {_ending(wait.ending, wait.nodes, one=len(wait.pods) == 1)}"


@WAITS.rule
def _(wait: conclusion.PodRemoval) -> str:
    return f"this Pod to be deleted: {wait.workload} {wait.why}"


@WAITS.rule
def _(wait: conclusion.ClaimCreation) -> str:
    return f"the controller of the Pod to create the PersistentVolumeClaim {enumerated(wait.claims)}"


@WAITS.rule
def _(wait: conclusion.RolloutGoesOn) -> str:
    if wait.replaces:
        return f"the rollout of {wait.workload}: it replaces this Pod, which is of an older revision"
    return (
        f"the rollout of {wait.workload}: it deletes old Pods as new ones become Ready, which makes room for this one"
    )


@WAITS.rule
def _(wait: conclusion.JobGoesOn) -> str:
    which = "the" if wait.pods == 1 else f"one of the {wait.pods}"
    where = f" on {enumerated(wait.nodes)}" if wait.pods < wait.running else ""
    ends = f"{which} running {'Pod' if wait.pods == 1 else 'Pods'} of {wait.workload}{where} to end"
    return f"{ends}: then this Pod, or another one of the Job, can be scheduled. The Job goes on meanwhile"


@WAITS.rule
def _(wait: conclusion.JobEnd) -> str:
    or_suspend = "suspend it" if wait.ours else f"ask the owner of namespace {wait.namespace} to suspend it"
    use = f"its {count_of(wait.pods, 'Pod')} with priority {wait.priority} use{'s' * (wait.pods == 1)} the room"
    return f"job {wait.namespace}/{wait.name} to end, or {or_suspend}: {use} on {first_and_more(wait.nodes)}"


@WAITS.rule
def _(wait: conclusion.NodeAddition) -> str:
    if wait.pools:
        return f"a node that {wait.autoscaler} may add from {wait.pools}"
    return f"{listed(wait.nodes) or STARTING}: it is not Ready yet, and {wait.autoscaler} sees room for the Pod there"
