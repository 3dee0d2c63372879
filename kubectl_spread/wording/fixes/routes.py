"""How a change is made permanent, and what that sets off, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kubectl_spread.diagnosis.fixes import conclusion
from kubectl_spread.diagnosis.fixes.conclusion import Effect
from kubectl_spread.diagnosis.fixes.fragment import merged, yaml_lines
from kubectl_spread.wording.words import count_of, some_run

if TYPE_CHECKING:
    from kubectl_spread.objects.meta import Plain

PARTITION = "spec.updateStrategy.rollingUpdate.partition"
CHANGED = "  # changed"
"""What follows a changed line of YAML."""


def sets_off(route: conclusion.Route) -> Iterator[str]:
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
        of_others = "another ReplicaSet is" if others == 1 else "other ReplicaSets are"
        yield f"{count_of(others, 'running Pod')} of {of_others} deleted"


def _waiting(route: conclusion.Route) -> str:
    return "this Pod" if route.waiting == 1 else f"the {route.waiting} Pending Pods"


def _running(route: conclusion.Route) -> str:
    """Return how many of the Pods that are replaced run; empty where that is not known, or all do."""
    one = route.pods == 1
    if route.at_work is None:
        return ("it does not run yet" if one else "none of them runs yet") if route.nothing_runs else ""
    return some_run(route.pods or 2, route.at_work)


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
