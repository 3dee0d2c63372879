"""What ``simulate`` says that a step does to Pods, by the names that its JSON has for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import Entry, EntryKind

_outcome = partial(Entry, kind=EntryKind.OUTCOME)

OUTCOMES: Sequence[Entry] = (
    _outcome(
        name="evicted",
        summary="Pods that have to go, and do; what manages them makes others",
        meaning="A drain takes them through the Eviction API; of lost nodes they are deleted once their tolerations"
        " have run out, and stay as terminating Pods until the node returns or is removed.",
        when="By drain, remove, lose and delete. Pods of DaemonSets and static Pods stay with their node.",
        action="See under pending which of the new ones find no node.",
        link=entry.DISRUPTIONS,
    ),
    _outcome(
        name="blocked",
        summary="Pods that should go, and are held back",
        meaning="A PodDisruptionBudget refuses the eviction, and goes on refusing it after every replacement that"
        " finds a node is ready. Or nothing manages a Pod, and kubectl drain evicts none of the node then.",
        when="By drain and remove, with the reason of each. kubectl drain would try until its timeout.",
        action="Make room for the replacements or relax the budget; --force lets go of Pods that nothing manages.",
        link=entry.DISRUPTIONS,
    ),
    _outcome(
        name="lost",
        summary="Pods that go, and that nothing makes again",
        meaning="They have no controller. What they did is not done any more.",
        when="By drain and remove with --force, by lose after the time that the Pod tolerates, by delete.",
        action="Put them under a controller, or keep their manifest at hand.",
        link=entry.DISRUPTIONS,
    ),
    _outcome(
        name="preempted",
        summary="Pods that the scheduler evicts for others of a higher priority",
        meaning="A Pod that has to move finds no room, and its priority lets the scheduler make some. The victims are"
        " made again by their controllers and may end Pending in their turn.",
        when="By any step after which Pods wait for a node, where lower priorities stand in their way.",
        action="Look at priorities, or add room before the step.",
        link=entry.PREEMPTION,
    ),
    _outcome(
        name="pending",
        summary="Pods that wait for a node once all has come to rest",
        meaning="By workload, with the scheduler's message and why-pending's sentence. Those that waited before the"
        " step are among them; newlyPending tells whether more wait than before, or are refused.",
        when="After every step. range is the fewest and the most that were seen in the orders tried.",
        action="Take the step differently: add a node first, drain one node at a time, relax what the sentence names.",
        link=entry.SPREAD,
    ),
    _outcome(
        name="untried",
        summary="Pods that wait and that were not tried on any node",
        meaning="So many Pods had been tried on so many nodes before that the simulation tried no more. Some of them"
        " may find a node, and what a budget holds back for them may go.",
        when="Where tens of thousands of Pods are to be placed. It is among what is incomplete then; otherwise absent.",
        action="Take smaller steps, or ask of a part of the cluster.",
        link=entry.SPREAD,
    ),
    _outcome(
        name="ranges",
        summary="the fewest and the most Pods of a domain in the orders tried",
        meaning="after is one outcome; where scheduler and controllers may choose, others are as likely. Ranges were"
        " observed in several orders, not proved: the real outcome may lie beyond, most often by one.",
        when="For every constraint, as [least, most] of each domain; equal where nothing was left to chance.",
        action="Count on the worst end of a range.",
        link=entry.SPREAD,
    ),
    _outcome(
        name="orders",
        summary="how many orders of what is left to chance were tried",
        meaning="Nodes with the same score, Pods that a controller may delete as well as others, evictions that are"
        " asked for at once: each order settles them differently, and the same way each time it is asked.",
        when="After every step: 1 where nothing was left to chance, or where the cluster is too large to try more.",
        action="Of 1 in a large cluster, ask of a smaller part of it to see ranges.",
        link=entry.SPREAD,
    ),
)
