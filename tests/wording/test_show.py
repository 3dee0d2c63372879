"""What ``show`` says of a row beside its status."""

from __future__ import annotations

from kubectl_spread.wording import show


def test_which_pods_are_counted() -> None:
    assert (show.pods_text(5, 5), show.pods_text(7, 5)) == ("5", "7 (5 own)")
    assert show.counted_text(7, 5) == "Pods counted: 7 (5 own)."
    assert show.ghosts_text(("a", "b")) == "Ghost Pods, which their own constraint does not count: a, b."


def test_where_the_next_replica_goes() -> None:
    assert show.next_replica(("a", "b"), some_read=False) == "Next replica: a, b."
    assert show.next_replica(("a",), some_read=True) == "Next replica: a, of the nodes whose Pods were read."
    assert show.next_replica((), some_read=True) == "Next replica: no node."


def test_how_many_more_find_a_node() -> None:
    assert show.headroom_text(3, "Blocked by c") == "3 more, then Blocked by c"
    assert show.headroom_text(100, "") == "at least 100 more"
