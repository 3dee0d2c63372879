"""The texts of ``check`` about a manifest: the outcome for its replicas, the assumptions, and what to change."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kubectl_spread.apiserver.validation.field_errors import OF_KUBECTL
from kubectl_spread.controllers import rollout_plan
from kubectl_spread.controllers.horizontal import ReplicaBounds
from kubectl_spread.controllers.rollout_plan import Assumption, Rollout
from kubectl_spread.diagnosis.fixes.change import ManifestEdit
from kubectl_spread.diagnosis.fixes.conclusion import Fix
from kubectl_spread.simulation.placement import Jam, Placement
from kubectl_spread.wording.words import (
    capital_sentence,
    count_of,
    enumerated,
    in_violation,
    listed,
    scaled_by,
    some_run,
)

ASSUMPTIONS: Mapping[Assumption, str] = {
    Assumption.SUSPENDED: "it is suspended, so no Pod is created until it is resumed",
    Assumption.PAUSED: (
        "it is paused, so nothing rolls out: no Pod is replaced, and missing ones are created from the same template"
    ),
    Assumption.PAUSED_BEFORE_FIRST: "it is paused, so no Pod is created until it is resumed",
    Assumption.UNCHANGED: "the template is unchanged, so no new rollout starts",
    Assumption.REVISION_AGAIN: "the template is that of an older revision, whose Pods stay",
    Assumption.ADOPTED: "it adopts the matching Pods that have no controller",
    Assumption.SAME_TEMPLATE: (
        "no field of the template that affects scheduling changes, so running Pods stay; if another field changes,"
        " new Pods replace them"
    ),
    Assumption.RUNNING_STAY: ("no Pod is replaced, whatever changes in the template, and missing ones are created"),
    Assumption.POD_STAYS: "the Pod is unchanged, or changes only in fields that may change in place, so it stays",
    Assumption.POD_FINISHED: "the Pod has finished and stays so: to run it again, delete it first",
    Assumption.POD_TERMINATING: "the Pod is being deleted, and no other one is created",
    Assumption.OWNER_TERMINATING: "it is being deleted, so no Pod is created",
    Assumption.POD_ORPHANED: "the node of the Pod does not exist, so pod garbage collection deletes the Pod",
    Assumption.ALL_GONE_FIRST: "all old Pods are gone before the first new one is created",
    Assumption.DELETED_BY_HAND: "running Pods stay until somebody deletes them, and missing ones are created",
    Assumption.DELETED_BY_HAND_ON_NODES: (
        "a Pod on a node that does not match any more is deleted at once; the others stay until somebody deletes them;"
        " a matching node without a Pod gets one"
    ),
    Assumption.SURGE_ON_NODES: (
        "on each node the new Pod is created beside the old one, which is deleted once the new one is available"
    ),
    Assumption.ONE_BY_ONE_ON_NODES: "on each node the old Pod is gone before the new one is created",
}

NO_POD = "no Pod needs to be scheduled."
NOT_SCHEDULABLE = "not schedulable. {}"
RANDOM_TIES = "Some choices are random: ranges show {} simulations, other figures are from the first one."
# Kind → who makes what is missing.
MAKERS: Mapping[str, str] = {
    "ServiceAccount": "created with the application: apply its manifest too",
    "PriorityClass": "a cluster administrator creates it",
    "RuntimeClass": "an administrator installs it with the container runtime",
}
# Groups of equal nodes, and nodes of each (counts), that are named where which node a replica gets is by chance.
SHOWN_TIES = 3
TIES_BY_NAME = "Ties were broken by name: in a cluster of this size no other order was simulated."


def no_pod(next_summary: str, *, incomplete: bool) -> str:
    """Return that no Pod comes now, and why the next one would find no node; empty where it would find one.

    ``incomplete``: whether it is not known what becomes of the Pods.
    """
    if next_summary:
        return f"no Pod comes now. The next one would find no node. {next_summary}"
    return f"as far as is known, {NO_POD}" if incomplete else NO_POD


def refused(reasons: Iterable[str], sentence: str = "") -> str:
    """Return who refuses the manifest for these reasons, and the outcome if nobody did; empty for none."""
    who = "the API server" if OF_KUBECTL.isdisjoint(reasons) else "kubectl"
    return f"{who} refuses it." + (f" Otherwise: {sentence}" if sentence else "")


def refused_pods(message: str, sentence: str = "") -> str:
    """Return that the API server accepts the workload and refuses its Pods, and the outcome if it did not.

    The sentence is empty where they would not be scheduled even then.
    """
    return f"the API server refuses its Pods: {message}" + (f". Otherwise: {sentence}" if sentence else "")


def missing_note(missing: Sequence[str]) -> str:
    """Return what has to exist first, and who makes it; what is missing is kind and name."""
    told = (f"{each} ({MAKERS.get(each.partition(' ')[0], '')})" for each in missing)
    return f"Missing: {', '.join(told)}."


def stay_pending(number: int, why: str) -> str:
    """Return that nothing changes, that this many Pods (count) stay Pending, and why."""
    return f"unchanged: {count_of(number, 'Pod')} {'stays' if number == 1 else 'stay'} Pending. {why}"


def older_stay_pending(number: int) -> str:
    """Return that this many Pods (count) of an older template or run stay Pending, though none of the manifest does."""
    return f"{count_of(number, 'older Pod')} {'stays' if number == 1 else 'stay'} Pending."


def pods_to_place(new: int, number: int) -> str:
    """Return what Pods are, so many (count) of which are new; the others were there and waited."""
    return "new" if new >= number else "new and Pending" if new > 0 else "Pending"


def refused_pod(number: int, replicas: int, message: str, otherwise: str = "") -> str:
    """Return which of the replicas the API server refuses, its message, and what would be if it refused none."""
    more = f". Otherwise: {otherwise}" if otherwise else ""
    return f"Pod {number} of {replicas} is refused by the API server: {message}{more}"


def jam_sentence(jam: Jam, replicas: int, why: str) -> str:
    """Return which replicas find no node, and why."""
    if jam.nodes:
        return f"{len(jam.nodes)} of {replicas} nodes cannot take their Pod ({listed(jam.nodes)}). {why}"
    if jam.replica_max is None:
        return f"replica {jam.replica} of {replicas} may not be schedulable, depending on chance. {why}"
    chance = isinstance(jam.replica_max, int)
    which, rest = (f" to {jam.replica_max}", ", depending on chance") if chance else ("", "")
    return f"replica {jam.replica}{which} of {replicas} cannot be scheduled{rest}. {why}"


def everyone(number: int, which: str = "") -> str:
    """Return all replicas, or all Pods that are new, that wait, or either, if ``which`` says so."""
    what = f"{which} Pod" if which else "replica"
    return f"the {what}" if number == 1 else f"all {number} {what}s"


def placed(placements: Sequence[Placement], who: str = "it") -> str:
    """Return that everyone finds a node, what has to end there first, and which Pods are evicted for that."""
    evicted = [f"{pod} on {each.node}" for each in placements for pod in each.preempts or ()]
    does = "it preempts" if len(placements) == 1 else "they preempt"
    violations = sum(each.pdb_violations or 0 for each in placements)
    protected = in_violation(violations, len(evicted))
    evicting = f": {does} {enumerated(evicted, most=2)}{protected}" if evicted else ""
    equal = {str(pod): None for each in placements for pod in each.preempts_instead or ()}
    instead = [pod for pod in equal if all(pod != str(gone) for each in placements for gone in each.preempts or ())]
    chance = f", or by chance {enumerated(instead, most=2)} instead" if instead else ""
    ends = {f"{pod} on {each.node}": None for each in placements for pod in each.once_gone or ()}
    be = "is" if len(ends) == 1 else "are"
    once = f" once {enumerated([*ends], most=2)} {be} gone (being deleted)" if ends else ""
    return f"{who} can be scheduled{once}{evicting}{chance}."


def rollout_note(rollout: Rollout) -> str:
    """Return how the workload gets to the Pods of the manifest."""
    gone = f", {rollout.replaced} to be replaced" if rollout.replaced else ""
    if rollout.deleted:
        gone += f", {rollout.deleted} to be deleted"
    exist = f"{count_of(rollout.running, 'Pod')} {'exists' if rollout.running == 1 else 'exist'}"
    if rollout.at_work < rollout.running:
        exist += f" ({some_run(rollout.running, rollout.at_work)})"
    return f"Rollout: {rollout.strategy}, {exist}{gone}. Assumed: {assumption(rollout.assumed)}."


def replicas_note(placements: Sequence[Placement], most: int) -> str:
    """Return the nodes on which the replicas are, so many of them."""
    counts = Counter(placement.node for placement in placements)
    return f"Replicas: {listed([f'{node} ({count})' if count > 1 else node for node, count in counts.items()], most)}"


def chance_note(placements: Sequence[Placement]) -> str:
    """Return which nodes are equal for a replica, each group once; empty where none are."""
    groups = sorted(({each.node, *each.ties} for each in placements if each.ties), key=len, reverse=True)
    largest = [group for at, group in enumerate(groups) if not any(map(group.issubset, groups[:at]))]
    named = [enumerated(sorted(group), SHOWN_TIES, word="or") for group in largest[:SHOWN_TIES]]
    more = f"; and {count_of(len(largest) - len(named), 'more group')}" if len(largest) > len(named) else ""
    equal = f"Some nodes are equal, so the scheduler may use one for the other: {'; '.join(named)}{more}."
    return equal if named else ""


def violation_text(named: str, skew: int, *, by_chance: bool) -> str:
    """Return that a hard constraint, named so, is violated in the end, and the greatest skew (Pods)."""
    how = "may be Violated in the end, depending on chance" if by_chance else "is Violated in the end"
    return f"{named} {how} (skew {'up to ' if by_chance else ''}{skew})"


def elsewhere_note(nodes: Sequence[str], *, alone: bool) -> str:
    """Return the nodes that replicas get in other orders of chance; ``alone``: whether there is one replica."""
    return f"In other random orders {'it goes' if alone else 'some of them go'} to {listed(nodes, SHOWN_TIES)}."


def ranking_note(totals: Mapping[str, int]) -> str:
    """Return the nodes that can take the first replica, each with its score."""
    return f"Ranked for the first replica: {', '.join(f'{name} ({total})' for name, total in totals.items())}"


def assumption(assumed: rollout_plan.RolloutAssumption) -> str:
    """Return what is assumed about a rollout, as a sentence without its full stop."""
    match assumed:
        case Assumption():
            return ASSUMPTIONS[assumed]
        case rollout_plan.AdoptsSets(names=names, paused=paused):
            sets = enumerated([f"replicaset/{name}" for name in names], most=2)
            stays = ". It is paused, so no Pod is replaced" if paused else ""
            return f"it adopts {sets} and {'its' if len(names) == 1 else 'their'} Pods{stays}"
        case rollout_plan.MadeElsewhere(manager=manager):
            return f"{manager} creates its Pods"
        case rollout_plan.UnknownRules(kind=kind):
            return f"how a {kind} replaces Pods is not known: running Pods are assumed to stay"
        case rollout_plan.WithinFenceposts(most=most, least=least):
            run = f" and at least {least} other Pods run, old or new" if least else ""
            return (
                f"at most {most} Pods exist at any time. A running old Pod is deleted only if a new Pod needs its place"
                f"{run}. A new Pod runs as soon as it has a node"
            )
        case rollout_plan.FromHighestOrdinal(first=first):
            return (
                f"missing ordinals are created first; then each Pod from the highest ordinal down to {first} is deleted"
                " before its replacement is created"
            )


def fix_sentence(fix: Fix, steps: Sequence[str]) -> str:
    """Return a fix as a sentence: what it does, then what to write or to run; without any, what it sets off."""
    from kubectl_spread.wording.fixes import starts, summary  # Most manifests need none.

    return f"Fix: {summary(fix)} ({'; '.join(steps or starts(fix))})."


def edit_line(edit: ManifestEdit) -> str:
    """Return a change of a manifest in one line."""
    written = " ".join(line.strip() for line in edit.after.splitlines())
    where = f"line {edit.line}" if edit.line else f"document {edit.document}, {edit.path}"
    return f"{where}: {written or 'remove it'}"


def replicas_decided(bounds: ReplicaBounds, live: int, asked: int, restored: int) -> str:
    """Return that a manifest sets replicas that an autoscaler decides, and what becomes of them (counts)."""
    does = f"applying it changes {live} to {asked}" if live != asked else f"it sets {asked}"
    does += f", which the autoscaler changes to {restored}" * (restored != asked)
    then = "" if live == asked == restored else f". {capital_sentence(does)[:-1]}"
    return f"{scaled_by(bounds)}: leave replicas out of the manifest{then}"
