"""What ``serve`` costs while it follows the cluster: until it answers, for the first scrape, and for those after it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

NAME = "serve -A"
MOST_OF_A_SCRAPE = 0.1  # What a scrape may take where nothing has changed (seconds)
_SCRAPES = 5
_PATIENCE = 300.0
_TICKS = os.sysconf("SC_CLK_TCK")


def serving_costs(kubeconfig: Path) -> Iterator[str]:
    """Yield lines about a program that is started and ended here.

    Raises:
        TimeoutError: it did not answer.
    """
    command = (sys.executable, "-m", "kubectl_spread", "serve", "-A", "--listen", "127.0.0.1:0")
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            url = process.stderr.readline().split()[-1]
            began = time.monotonic()
            _get(f"{url}healthz")
            yield f"{NAME}: follows after {time.monotonic() - began:.1f} s, {_used(process.pid)}"
            yield f"first scrape: {_scrape(url):.2f} s, {_used(process.pid)}"
            again = min(_scrape(url) for _ in range(_SCRAPES))
            held = f"budget {MOST_OF_A_SCRAPE * 1000:.0f} ms, held: {'yes' if again <= MOST_OF_A_SCRAPE else 'no'}"
            yield f"a scrape where nothing changed: {again * 1000:.0f} ms ({held})"
            before = _cpu_seconds(process.pid)
            time.sleep(10)
            yield f"10 s without a scrape: {_cpu_seconds(process.pid) - before:.2f} s CPU"
        finally:
            process.terminate()


def _get(url: str) -> bytes:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            with urlopen(url, timeout=_PATIENCE) as response:  # noqa: S310 - the server that was started
                body: bytes = response.read()
                return body
        except URLError:
            time.sleep(0.2)
    raise TimeoutError(url)


def _scrape(url: str) -> float:
    began = time.monotonic()
    assert b"kubectl_spread_skew" in _get(f"{url}metrics")
    return time.monotonic() - began


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _used(pid: int) -> str:
    """Return the processor time, the memory and the most memory that a process had."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    now, most = (int(lines[name].split()[0]) // 1024 for name in ("VmRSS", "VmHWM"))
    return f"{_cpu_seconds(pid):.1f} s CPU, {now} MiB, at most {most} MiB"
