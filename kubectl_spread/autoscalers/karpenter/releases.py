"""Which of Karpenter's releases have which rules.

Source: karpenter's git history between v1.11.0 and v1.15.0.
"""

import re

# The releases (major, minor) whose rules are known; PROVED is the default.
OLDEST, PROVED, NEWEST = (1, 11), (1, 14), (1, 15)
# From this release on taints of the node readiness controller do not count while a node starts.
READINESS_TAINTS = (1, 13)
DAEMONS_BY_TYPE = (1, 14)  # From this release on the Pods of DaemonSets on a new node depend on its instance type
COUNTS_RESIZES = (1, 14)  # From this release on the largest amount of a resize in progress counts
# From this release on minValues counts only values that are still allowed on the new node.
COUNTS_ALLOWED_VALUES = (1, 14, 3)
REBOOTS = (1, 15)  # From this release on Karpenter reboots nodes, and sees the room of a node that reboots
# Only in this release NodePools add domains only for Pods whose node selector and affinity they meet.
BY_AFFINITY = (1, 11, 0)
_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?(?:[-+@].*)?", re.ASCII)


def release_of(version: str) -> tuple[int, ...] | None:
    """Return (major, minor) of a version such as ``1.14.1`` or of the tag of an image; None where it is none.

    The patch release follows where it has a rule of its own.
    """
    found = _VERSION.fullmatch(version)
    if found is None:
        return None
    exact = tuple(int(part) for part in found.groups(default="1"))
    if exact[:2] == COUNTS_ALLOWED_VALUES[:2] and exact >= COUNTS_ALLOWED_VALUES:
        return COUNTS_ALLOWED_VALUES
    return exact if exact == BY_AFFINITY else exact[:2]


def nearest(release: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the release whose rules are used."""
    return PROVED if release is None else max(OLDEST, min(release, NEWEST))
