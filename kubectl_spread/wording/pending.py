"""What ``why-pending`` says beside the cause: the verdict on a Pod, how many of its kind run, the scheduler's words."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.controllers.workloads import Replicas
from kubectl_spread.wording.words import count_of, held_by_gates, listed


def schedulable(feasible: Sequence[str], *, undecided: bool) -> str:
    """Return where the Pod can be scheduled; ``undecided`` where not everything was evaluated."""
    if undecided:
        return f"nothing that was evaluated keeps it off {listed(feasible)}, but not everything was."
    return f"it can be scheduled now, on {listed(feasible)}."


def held_back(gates: Sequence[str], verdict: str) -> str:
    """Return the gates, at least one, that hold a Pod back, and the verdict without them."""
    return f"{held_by_gates(gates)}. Without it: {verdict}"


def at_work(replicas: Replicas) -> str:
    """Return how many of the workload's Pods run; empty where it wants none."""
    wanted, running = replicas.wanted, replicas.running
    if not wanted:
        return ""
    if wanted == 1 and not running:
        return "its only replica"
    if running >= wanted > 1:
        return f"all {wanted} replicas run"
    return f"{running} of {wanted} replicas run" if running else f"none of {wanted} replicas runs"


def waiting_lines(name: str, verdict: str, running: str, *, rolls_out: bool) -> tuple[str, ...]:
    """Return the first line about a Pod that no node takes, longest first.

    Args:
        name: of the Pod.
        verdict: why no node takes it.
        running: how many of the workload's Pods run, from ``at_work``; empty where that is not known.
        rolls_out: whether older revisions run.
    """
    running_lines: tuple[str, ...] = (running, running.replace(" replicas", ""))
    if running and rolls_out:
        running_lines = (*(f"rollout: {line}" for line in running_lines), *running_lines)
    return tuple(f"{name} is Pending{f' ({line})' if line else ''}. {verdict}" for line in running_lines)


def never_created(missing: int, wanted: int, *, refused_now: bool) -> str:
    """Return how many of the wanted Pods were not created, and whether the API server refuses them, or has refused."""
    who = "the API server refuses the next" if refused_now else "its controller was last told"
    return f"{missing} of {count_of(wanted, 'Pod')} {'was' if missing == 1 else 'were'} never created: {who}"


def scheduler_said(time: str, *, same: bool) -> str:
    """Return the remark that leads to the scheduler's last message, or says that it was the same as ours.

    Args:
        time: of its event; empty where that is not known.
        same: whether it is.
    """
    when = f" ({time})" if time else ""
    return f"The scheduler said the same{when}." if same else f"The scheduler last said{when}:"


def only_the_schedulers(time: str) -> str:
    """Return the remark about a message that is the scheduler's own; ``time`` as for ``scheduler_said``."""
    return f"It is the scheduler's own{f' ({time})' if time else ''}: not all Pods were read."


def they_differ(why: str) -> str:
    """Return why the scheduler's last message differs from ours."""
    return f"They differ: {why}."


def same_for(names: Sequence[str], most: int) -> str:
    """Return the Pods, so many by name, for which the explanation holds too."""
    return f"The same holds for {listed(names, most)}."
