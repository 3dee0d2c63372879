"""Which of Karpenter's releases have which rules.

Source: karpenter's git history between v1.11.0 and v1.15.0.
"""

from __future__ import annotations

import re

OLDEST, PROVED, NEWEST = (1, 11), (1, 14), (1, 15)
"""The releases (major, minor) whose rules are known; PROVED is the default."""
READINESS_TAINTS = (1, 13)
"""From this release on taints of the node readiness controller do not count while a node starts."""
DAEMONS_BY_TYPE = (1, 14)
"""From this release on the Pods of DaemonSets on a new node depend on its instance type."""
COUNTS_RESIZES = (1, 14)
"""From this release on the largest amount of a resize in progress counts."""
_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.\d{1,6})?(?:[-+@].*)?", re.ASCII)


def release_of(version: str) -> tuple[int, int] | None:
    """Return (major, minor) of a version such as ``1.14.1`` or of the tag of an image; None where it is none."""
    found = _VERSION.fullmatch(version)
    return (int(found[1]), int(found[2])) if found else None


def nearest(release: tuple[int, int] | None) -> tuple[int, int]:
    """Return the release whose rules are used."""
    return PROVED if release is None else max(OLDEST, min(release, NEWEST))
