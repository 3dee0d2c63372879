"""What is never offered, on generated clusters; ``python -m tests.soak fixes`` asks kube-scheduler of more."""

from __future__ import annotations

from collections import Counter

from kubectl_spread.diagnosis.findings import Severity
from tests.diagnosis.fixes.claims import situation_of, with_fix
from tests.diagnosis.fixes.dressed import dressed, forbidden

SEED = 5
COUNT = 80


def test_nothing_is_offered_that_others_keep_or_that_we_would_call_an_error() -> None:
    seen: Counter[str] = Counter()
    for each in dressed(seed=SEED, count=COUNT):
        seen["left alone"] += len(each.found.left_alone)
        for fix in each.claims:
            seen.update(fix.id.split("+"))
            assert not forbidden(each.case, fix), (each.case["id"], fix.summary)
            after = situation_of(with_fix(each.case, fix))
            assert after is not None
            brought = after.warnings - each.situation.warnings
            assert not [each for each in brought if each[0] is Severity.ERROR], (each.case["id"], fix.summary)
    assert seen["left alone"] > COUNT // 20
    assert seen["MovePod"]
