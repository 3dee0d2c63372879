"""``rebalance`` where there is nothing to balance."""

from tests.program import spread


def test_nothing_to_balance_is_not_told_as_constraints_that_hold() -> None:
    ended = spread("rebalance", "-n", "nowhere", "--from", "examples/shop.yaml")
    assert (ended.code, ended.stdout) == (0, "No constraints found to balance.\n")
