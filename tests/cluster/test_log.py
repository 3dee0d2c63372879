"""Lines for whoever watches."""

from __future__ import annotations

import threading
import time

from kubectl_spread.cluster.log import Log


def test_lines_of_many_threads_stay_whole() -> None:
    letters: list[str] = []

    def write(line: str) -> None:
        for letter in line:
            letters.append(letter)
            time.sleep(0)  # lets the other threads write

    log = Log(write)
    line = "a line\n"
    threads = [threading.Thread(target=log.say, args=(line,)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "".join(letters) == line * 50
