"""Kinds that are first met by several threads at once, as lists that are read side by side do."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys, threading
sys.setswitchinterval(1e-6)
from kubectl_spread.cluster.api.reader import ObjectList
from kubectl_spread.objects.decoding import decode
from kubectl_spread.objects.kinds import KINDS

together = threading.Barrier(len(KINDS))
page = b'{"metadata": {}, "items": [{"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {}}]}'
found = []

def read(kind):
    together.wait()
    found.append(decode(page, ObjectList[kind.struct]).items[0].metadata.name)

threads = [threading.Thread(target=read, args=(kind,)) for kind in KINDS]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert found == ["a"] * len(KINDS)
"""
TIMES = 5  # Processes: without the lock two of three ended in a segmentation fault


def test_types_may_be_met_first_by_many_threads_at_once() -> None:
    for _ in range(TIMES):
        subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
