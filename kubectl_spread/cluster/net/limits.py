"""What an answer may take, of time and of memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec


class DownloadLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How long an answer is waited for, and how much of it is taken.

    Attributes:
        seconds: for all attempts and the pauses between them, where nobody says how long.
        answer_bytes: how large it may be, unpacked.
        sleep: takes the seconds of such a pause, and returns after them.
    """

    seconds: float
    answer_bytes: int
    sleep: Callable[[float], object] = time.sleep


API_SERVER = DownloadLimits(seconds=600.0, answer_bytes=1 << 30)
"""50,000 Pods in one page take two thirds of its bytes."""
MANIFEST = DownloadLimits(seconds=30.0, answer_bytes=64 << 20)
"""Of a URL that ``-f`` names."""
