"""Nodes that reject a Pod only because they lack a topology key."""

from collections.abc import Iterator

import msgspec

from kubectl_spread.diagnosis.evaluation import Judgement
from kubectl_spread.scheduler import podtopologyspread, unread_nodes


class UnlabelledNodes(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Nodes that reject the Pod only because they lack the topology key."""

    topology_key: str
    nodes: tuple[str, ...]
    in_use: bool  # whether any node has the key and counts


def unlabelled_nodes(judgement: Judgement) -> Iterator[UnlabelledNodes]:
    """Yield, for each topology key of a hard constraint, the nodes that reject the Pod only because they lack it."""
    of_scheduler = {podtopologyspread.NAME, unread_nodes.NAME}  # The latter is no filter.
    plugins = {name: {each.plugin for each in node.rejections} for name, node in judgement.evaluation.nodes.items()}
    alone = {name for name, rejecting in plugins.items() if podtopologyspread.NAME in rejecting <= of_scheduler}
    lacking: dict[str, dict[str, None]] = {}
    # Two constraints may have the same key.
    for constraint in judgement.spread.constraints:
        for node in constraint.bypassed_nodes if constraint.hard else ():
            if node.key and isinstance(node.key, str) and node.name in alone:
                lacking.setdefault(node.key, {})[node.name] = None
    absent = {each.topology_key for each in judgement.spread.constraints if not each.domains}
    for key, names in lacking.items():
        yield UnlabelledNodes(topology_key=key, nodes=tuple(names), in_use=key not in absent)
