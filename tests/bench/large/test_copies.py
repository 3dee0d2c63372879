"""A copy differs from its original in names alone, each as long as before; transactions stay within what etcd takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.bench.large.copies import batches, copied, uid

STORED = (b"/registry/pods/shop/web-00", b"k8s\x00\x0a\x06web-00\x12\x04shop\x1a\x07node-00")


def test_names_are_replaced_in_the_key_and_in_the_value() -> None:
    key, value = copied(STORED, [("web-00", "web-17"), ("node-00", "node-42")])
    assert key == b"/registry/pods/shop/web-17"
    assert value == b"k8s\x00\x0a\x06web-17\x12\x04shop\x1a\x07node-42"


def test_times_are_replaced_by_their_seconds() -> None:
    midnight = datetime(2026, 1, 5, tzinfo=UTC)
    stored = (b"/registry/pods/shop/web-00", b"k8s\x00\x42\x08\x08\x80\xfe\xeb\xca\x06\x10\x00")
    assert copied(stored, [(midnight, midnight + timedelta(seconds=5))])[1] == stored[1].replace(
        b"\x08\x80", b"\x08\x85"
    )


@pytest.mark.parametrize("replaced", [("web-00", "web-100"), ("web-99", "web-17")])
def test_what_would_break_the_bytes_is_refused(replaced: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="cannot become"):
        copied(STORED, [replaced])


def test_uids_are_as_long_as_those_of_the_server() -> None:
    made = {uid(group, number) for group in (0, 499, 0xFFFFFFFF) for number in (0, 99_999)}
    assert len(made) == 6
    assert {len(each) for each in made} == {36}


def test_a_batch_is_neither_too_large_nor_too_long() -> None:
    entries = [(str(number).encode(), b"x" * length) for number, length in enumerate((4, 4, 4, 11, 1, 1, 1, 1))]
    sizes = [[len(value) for _, value in batch] for batch in batches(entries, largest_bytes=10, most=3)]
    assert sizes == [[4, 4], [4], [11], [1, 1, 1], [1]]
    assert not [*batches([], largest_bytes=10, most=3)]
