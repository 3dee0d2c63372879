"""What ``-o json`` adds to conclusions, the texts above all, and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kubectl_spread.contract.leaf import Leaf

LEAVES: Mapping[type[msgspec.Struct], Leaf] = {}
"""Type of conclusions → how its form differs."""
