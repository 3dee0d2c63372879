"""How a change is made permanent, and what that sets off, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, assert_never

from kubectl_spread.diagnosis.fixes import conclusion
from kubectl_spread.diagnosis.fixes.conclusion import Obstacle
from kubectl_spread.diagnosis.fixes.fragment import merged, yaml_lines
from kubectl_spread.wording.words import count_of, some_run

if TYPE_CHECKING:
    from kubectl_spread.objects.meta import Plain

PARTITION = "spec.updateStrategy.rollingUpdate.partition"
# What follows a changed line of YAML.
CHANGED = "  # changed"


def sets_off(route: conclusion.Route) -> Iterator[str]:
    """Yield what the commands of a route set off, or why there are none: a clause each."""
    if route.keeper is not None:
        lasts = "a patch will be reverted" if route.keeper.reverts else "kubectl's change lasts until the next upgrade"
        yield f"change it in its source ({route.keeper.name}): {lasts}"
    effect = route.effect
    if effect is None:
        return
    if route.paused:
        resumed = "nothing is replaced until it is resumed, which also rolls out all other changes since the pause"
        yield f"{effect.owner} is paused: {resumed}"
    yield from _effect(effect, "that " * route.paused)
    if isinstance(effect, conclusion.OwnerRecreated | conclusion.BehindPartition) and (runs := _running(effect)):
        yield runs
    if route.after and isinstance(effect, conclusion.Deleting):
        yield f"{effect.owner} recreates {_waiting(effect.waiting)} only once {route.after} is Ready"


def _effect(effect: conclusion.Effect, that: str) -> Iterator[str]:
    owner = effect.owner
    match effect:
        case conclusion.ThisPodOnly():
            yield "the first command changes only this Pod"
        case conclusion.PendingPodsOnly():
            yield f"changes only {_waiting(effect.waiting)}: Pods that {owner} creates later lack it"
        case conclusion.Rollout():
            yield from _rollout(effect, that)
        case conclusion.Rollback():
            yield from _rollback(effect)
        case conclusion.BehindPartition():
            yield (
                f"{PARTITION} of {owner} is {effect.partition} and keeps this Pod on the old template: the change of"
                f" {owner} reaches it only once that is lowered and the Pod is deleted"
            )
            yield from _others(effect)
        case conclusion.PartitionLowered():
            waiting = _waiting(effect.waiting)
            kept = f"{PARTITION} of {owner} is {effect.partition} and keeps {waiting} on the old template"
            yield f"{kept}: the first command lowers it"
            yield from _others(effect)
            yield f"{owner} recreates {waiting} from its template, which needs no change"
        case conclusion.PodsRecreated():
            yield f"recreates {_waiting(effect.waiting)}"
            yield f"other Pods of {owner} stay"
        case conclusion.NextRun():
            yield f"the change is only for later runs of {owner}: the Pending Pods of this run stay Pending"
        case conclusion.OwnerRecreated():
            yield f"recreates {owner}: its Pods and their work so far are lost"
        case conclusion.PodRecreated():
            yield "deletes and recreates the Pod, which does not run yet"
        case conclusion.TemplateApplied():
            which = f"differs in {', '.join(effect.lacks)}" if effect.lacks else "needs no change"
            yield f"{owner} recreates {_waiting(effect.waiting)} from its template, which {which}"
            yield from ["if a webhook makes the difference, change the webhook instead"] * bool(effect.lacks)
        case conclusion.TemplateUnreadable():
            yield f"change {', '.join(effect.fields)} in the template of {owner}, which creates these Pods"
        case conclusion.Obstructed():
            yield from (clause.format(owner) for clause in _OBSTACLES[effect.why])
        case _:
            assert_never(effect)


# Why the owner's template is not changed → what to know of the owner, a clause each.
_OBSTACLES: Mapping[Obstacle, Sequence[str]] = {
    Obstacle.TEMPLATE_INVALID: ("the template of {} would not be valid with it",),
    Obstacle.TEMPLATE_DIFFERS: (
        "there is no command for this, because the template of {} has no such field",
        "if an admission webhook adds it, change the webhook",
        "if the template was changed since, a new Pod has no such field either",
    ),
    Obstacle.TEMPLATE_NEEDS_NONE: ("the template of {} needs no change: this Pod is of an older one",),
    Obstacle.WEBHOOK_DIFFERS: (
        (
            "there is no command for this, because an admission webhook or a policy changes the Pods of {}: change"
            " that, not the template"
        ),
    ),
    Obstacle.MANIFEST_DIFFERS: ("the manifest of {} has no such field: admission adds it",),
    Obstacle.LIVE_DIFFERS: ("only the live {} has the field, and kubectl apply keeps it: change it there",),
    Obstacle.UPDATE_REFUSED: ("the API server refuses such a change of {}: delete it before you apply the manifest",),
}


def _others(effect: conclusion.BehindPartition | conclusion.PartitionLowered) -> Iterator[str]:
    if effect.pods:
        yield f"this replaces {count_of(effect.pods, 'other Pod')} of {effect.owner}"


def _rollout(effect: conclusion.Rollout, that: str) -> Iterator[str]:
    pods = "each Pod" if effect.pods is None else "the Pod" if effect.pods == 1 else f"{effect.pods} Pods"
    how = " one after another" if effect.waiting else " all at once" * effect.all_at_once
    runs = _running(effect)
    yield f"{that}replaces {pods} of {effect.owner}{how * (effect.pods != 1)}{f' ({runs})' * bool(runs)}"
    if effect.waiting:
        are = "is" if effect.waiting == 1 else "are"
        yield f"the rollout starts once {_waiting(effect.waiting)} {are} deleted"


def _rollback(effect: conclusion.Rollback) -> Iterator[str]:
    stay = "its Pod stays" if effect.pods == 1 else f"its {effect.pods} Pods stay"
    yield f"{effect.owner} uses {effect.reused} again: {stay}"
    if effect.others:
        of_others = "another ReplicaSet is" if effect.others == 1 else "other ReplicaSets are"
        yield f"{count_of(effect.others, 'running Pod')} of {of_others} deleted"


def _waiting(pods: int) -> str:
    return "this Pod" if pods == 1 else f"the {pods} Pending Pods"


def _running(effect: conclusion.Replacing) -> str:
    """Return how many of the Pods that are replaced run; empty where that is not known, or all do."""
    if effect.at_work is None:
        return ("it does not run yet" if effect.pods == 1 else "none of them runs yet") * effect.nothing_runs
    return some_run(effect.pods or 2, effect.at_work)


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
