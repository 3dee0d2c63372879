"""What is assumed about a rollout, in words."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.rollout_plan import (
    Assumption,
    FromHighestOrdinal,
    MadeElsewhere,
    RolloutAssumption,
    UnknownRules,
    WithinFenceposts,
)
from kubectl_spread.wording.rollouts import ASSUMPTIONS, assumption


@pytest.mark.parametrize(
    ("assumed", "words"),
    [
        (Assumption.SUSPENDED, "it is suspended, so no Pod comes before it is resumed"),
        (MadeElsewhere("kueue.x-k8s.io/multikueue"), "kueue.x-k8s.io/multikueue makes its Pods"),
        (UnknownRules("Rollout"), "how a Rollout replaces Pods is not known"),
        (WithinFenceposts(most=5, least=3), "at most 5 and at least 3 Pods at any time"),
        (FromHighestOrdinal(first=6), "from the highest ordinal down to 6 goes before its successor comes"),
    ],
    ids=str,
)
def test_what_is_assumed_names_its_numbers_and_names(assumed: RolloutAssumption, words: str) -> None:
    assert words in assumption(assumed)


def test_every_assumption_has_words_of_its_own() -> None:
    assert set(ASSUMPTIONS) == set(Assumption)
    assert len(set(ASSUMPTIONS.values())) == len(Assumption)
