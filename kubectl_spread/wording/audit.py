"""The texts of ``audit``: what an outage takes, and why that cannot be lowered."""

from collections.abc import Sequence
from typing import assert_never

from msgspec import UnsetType

from kubectl_spread.diagnosis import audit
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.wording.causes import ONE, PODS
from kubectl_spread.wording.reasons import brief_key, noun_for, reason_text
from kubectl_spread.wording.simulate import as_before, why_pending
from kubectl_spread.wording.words import between, count_of, enumerated, in_cluster, totals

SUGGEST = "--suggest prints constraints that help, verified by simulation."
MOST_NAMED = 3  # Domains (count) up to which each is named


def risk_text(why: audit.RiskReason | None, topology_key: str) -> str:
    """Return why the loss cannot be lowered, or which budget it breaks; empty for None."""
    match why:
        case None:
            return ""
        case audit.NoNodeHasKey():
            return f"no node has {topology_key}"
        case audit.Budget(name=name, desired=desired):
            return f"PodDisruptionBudget {name} wants {count_of(desired, 'healthy Pod')}"
        case audit.NoOtherDomain(domains=domains):
            what = "takes its Pods" if topology_key == HOSTNAME else "has nodes for it"
            return f"only {places(topology_key, domains)} {what}"
        case audit.EvenAlready(pods=pods, usable=usable):
            nodes = noun_for(topology_key, usable)
            return f"{count_of(pods, 'Pod')} in {usable} {nodes}: no other distribution loses less"
        case audit.NoRoom(domains=domains, why=reasons):
            texts = dict.fromkeys(map(reason_text, reasons))
            return f"{places(topology_key, domains)}: {'; '.join(texts)}"
        case _:
            assert_never(why)


def places(topology_key: str, domains: Sequence[str]) -> str:
    """Return ``zone b`` or ``zones a and b``; of nodes only the names."""
    noun = "" if topology_key == HOSTNAME else f"{noun_for(topology_key, len(domains))} "
    return f"{noun}{enumerated(domains, MOST_NAMED)}"


def loss_text(key: audit.AuditedKey, pods: int, *, placed: bool = True) -> str:
    """Return ``5 of 9 in zone b``, ``5 of 9 on node-1``; with several worst domains ``3 of 9 in zone a or b``.

    ``placed``: whether the domains are named.
    """
    worst = key.worst if placed else ()
    where = " on " if key.topology_key == HOSTNAME else f" in {noun_for(key.topology_key, 1)} "
    return f"{key.loss} of {pods}{where if worst else ''}{enumerated(worst, MOST_NAMED, word='or')}"


def after_text(key: audit.AuditedKey) -> str:
    """Return what is left without a node after the loss of the worst domain, and why; empty if not simulated."""
    if isinstance(key.after, UnsetType):
        return ""
    pending, stay = key.after.pending, key.after.not_replaced
    waiting = f"{between(*pending.range)} Pending{as_before(pending.before, pending.range[1])}" if pending else ""
    parts = [waiting, f"{stay} not replaced until the nodes return or are deleted" if stay else ""]
    what = " and ".join(filter(None, parts)) or "all Pods are replaced"
    subject = ONE if pending and pending.range[1] == 1 else PODS
    why = why_pending(pending.reasons, subject) if pending and pending.reasons else ""
    return f"without {places(key.topology_key, [key.after.domain])}: {what}{f'. {why}' if why else ''}"


def sentence(key: audit.AuditedKey, pods: int) -> str:
    """Return what an outage of the worst domain takes, and why that cannot be lowered."""
    why = risk_text(key.why, key.topology_key)
    return f"an outage takes {loss_text(key, pods)}{f' ({why})' if why else ''}"


def suggestion_text(suggestion: audit.Suggestion) -> str:
    """Return the constraint that a workload should have, in short."""
    named = (name for name in ("maxSkew", "nodeTaintsPolicy") if name in suggestion.constraint)
    keys = ", ".join(suggestion.constraint.get("matchLabelKeys", ()))
    instead = " instead of DoNotSchedule, so that Pods find a node after an outage" * suggestion.weakens
    fields = (
        f"{suggestion.constraint['whenUnsatisfiable']}{instead}",
        *(f"{name} {suggestion.constraint[name]}" for name in named),
        *([f"matchLabelKeys [{keys}]"] if keys else []),
    )
    return f"Set a constraint on {brief_key(suggestion.topology_key)}: {', '.join(fields)}"


def loss_after_text(suggestion: audit.Suggestion, pods: int) -> str:
    """Return what an outage takes after the rollout."""
    where = f"the outage of one {noun_for(suggestion.topology_key, 1)}"
    return f"After the rollout {where} takes at most {suggestion.loss_after} of {count_of(pods, 'Pod')}."


def not_searched_text(number: int) -> str:
    """Return that for so many workloads (count) no suggestion was searched; empty for none."""
    return f"No time was left to search suggestions for {count_of(number, 'workload')}: name them." if number else ""


def totals_text(items: Sequence[audit.AuditItem], left_out: int) -> str:
    """Return how many workloads have which risk and how many with one Pod are left out, and what may be done."""
    counted = [
        totals(in_cluster(count_of(len(each), "workload"), cluster), (item.risk for item in each))
        for cluster, each in grouped(items, lambda item: item.cluster).items()
    ]
    one = f"{count_of(left_out, 'workload')} with one Pod {'is' if left_out == 1 else 'are'} left out (--all)."
    left = [one] if left_out else []
    helpless = {audit.Risk.UNAVOIDABLE, audit.Risk.OK}.issuperset(item.risk for item in items)
    return "\n".join(
        filter(None, (("\n" if counted[1:] else " ").join((*counted, *left)), "" if helpless else SUGGEST))
    )
