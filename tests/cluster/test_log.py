"""Lines for whoever watches."""

from __future__ import annotations

import threading

import pytest

from kubectl_spread.cluster.log import SILENT, Log


@pytest.mark.parametrize(("level", "told"), [(0, []), (5, ["a"]), (6, ["a", "b"]), (10, ["a", "b"])])
def test_a_level_tells_what_lower_ones_do_and_more(level: int, told: list[str]) -> None:
    lines: list[str] = []
    log = Log(lines.append, level)
    log.say(1, "a")
    log.say(6, "b")
    assert lines == told
    assert log.logs(6) == ("b" in told)


def test_nobody_is_told_anything_unasked() -> None:
    assert not SILENT.logs(1)


def test_lines_that_belong_together_stay_together() -> None:
    lines: list[str] = []
    log = Log(lines.append, 1)
    block = [str(number) for number in range(50)]
    threads = [threading.Thread(target=log.say, args=(1, *block)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lines == block * 20
