"""What ``-o json`` adds to an autoscaler's decision about a Pod; most clusters need none of these texts."""

from kubectl_spread.autoscalers.decision import PoolDecision
from kubectl_spread.contract.leaf import Leaf
from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer


def reasons(pool: PoolDecision) -> tuple[str, ...]:
    """Why it is refused or unknown; a few words each."""
    from kubectl_spread.wording.autoscalers import reason_text

    return tuple(map(reason_text, pool.reasons))


def summary(answer: AutoscalerAnswer) -> str:
    """The decision in a sentence."""
    from kubectl_spread.wording.autoscalers import decision_text

    return decision_text(answer)


def advice(answer: AutoscalerAnswer) -> tuple[str, ...]:
    """What to change in its NodePools, verified by simulation, or in its node groups, a sentence each."""
    from kubectl_spread.wording.autoscalers import advice_text

    return tuple(advice_text(answer))


POOL = Leaf(added=(reasons,), left_out=frozenset({"elsewhere"}))
ANSWER = Leaf(added=(summary, advice), left_out=frozenset({"other_release", "unread", "leaving", "beside", "changes"}))
