"""``rebalance``: the command that it prints, and where there is nothing to balance."""

from pathlib import Path

import pytest

from tests.program import spread

SHOP = "examples/shop.yaml"
SCRIPT = f"kubectl spread rebalance --soft --from {SHOP} -n shop --script"


def test_nothing_to_balance_is_not_told_as_constraints_that_hold() -> None:
    ended = spread("rebalance", "-n", "nowhere", "--from", "examples/shop.yaml")
    assert (ended.code, ended.stdout) == (0, "No constraints found to balance.\n")


@pytest.mark.parametrize("output", ["table", "markdown", "html"])
def test_pages_lead_to_the_script_as_the_text_does(output: str) -> None:
    printed = spread("rebalance", "-n", "shop", "--soft", "--from", SHOP, "-o", output).stdout
    assert SCRIPT in printed
    assert "/eviction -f -" not in printed


def test_the_script_is_named_where_the_same_can_be_asked_again() -> None:
    asked = ("rebalance", "-n", "shop", "-o", "json")
    assert spread(*asked, "--soft", "--from", SHOP).report["script"] == SCRIPT
    assert spread(*asked, "--soft", "--from", "-", stdin=Path(SHOP).read_text()).report["script"] == ""
    assert spread(*asked, "--from", SHOP).report["script"] == ""
