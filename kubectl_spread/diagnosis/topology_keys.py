"""The labels of nodes that may be meant where nodes lack a constraint's topology key."""

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache

from kubectl_spread.apimachinery import edit_distance
from kubectl_spread.controllers.deployment import age
from kubectl_spread.controllers.workloads import topmost_owner
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.well_known_labels import HOSTNAME, REGION, ZONE
from kubectl_spread.objects.workloads import ControllerRevision, ReplicaSet
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable
from kubectl_spread.snapshot import Snapshot

TYPO_LETTERS = 2
SHORTEST_KEY_WITH_TYPO = 8
TOPOLOGIES = (ZONE, REGION, HOSTNAME)
KEYS_KEPT = 256  # Cached answers (count): thousands of nodes have the same few sets of labels


def is_absent(key: str, handle: Handle) -> bool:
    """Whether no node has the label."""
    return len(handle.index.lacking(key)) == len(handle.node_infos)


def keys_meant(key: str, pod: Pod, used: Collection[str], handle: Handle) -> Callable[[Iterable[str]], tuple[str, ...]]:
    """Return the function labels → those that may be meant instead of the missing key, the likeliest first.

    They end in the same segment, are at most two letters off (keys of eight letters and more), or one of the two
    continues the other after ``-``, ``_`` or ``.``. If no node has the key, so may be one of which it names the
    topology, and before all others the keys of an older revision. ``used``: the keys of the Pod's constraints, of which
    none is meant.
    """
    former: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    if is_absent(key, handle):
        former = former_keys(pod, handle.snapshot)
        named = tuple(each for each in TOPOLOGIES if _name(each) in key.lower())
    return lambda labels: _keys_meant(key, frozenset(labels).difference(used), former, named)


def former_keys(pod: Pod, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the topology keys of hard constraints in older revisions of the Pod's workload, the newest first."""
    owner = topmost_owner(pod, snapshot)
    if owner is None:
        return ()
    sets = sorted(snapshot.controlled_by(owner.as_controller, ReplicaSet), key=age, reverse=True)
    recorded = sorted(snapshot.controlled_by(owner.as_controller, ControllerRevision), key=age, reverse=True)
    templates = (*(each.spec.template for each in sets), *(each.data.spec.template for each in recorded))
    hard = WhenUnsatisfiable.DO_NOT_SCHEDULE.value
    constraints = (each for template in templates for each in template.spec.topology_spread_constraints)
    return tuple(dict.fromkeys(each.topology_key for each in constraints if each.when_unsatisfiable == hard))


@lru_cache(KEYS_KEPT)
def _keys_meant(key: str, labels: frozenset[str], former: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, ...]:
    similar = (each for each in labels if each in named or _is_similar(key, each))
    ordered = sorted(similar, key=lambda label: (label not in TOPOLOGIES, label))
    return tuple(dict.fromkeys((*(each for each in former if each in labels), *ordered)))


def _is_similar(key: str, label: str) -> bool:
    if _name(label) == _name(key) or _continues(label, key) or _continues(key, label):
        return True
    near = len(key) >= SHORTEST_KEY_WITH_TYPO and abs(len(key) - len(label)) <= TYPO_LETTERS
    return near and edit_distance(key, label) <= TYPO_LETTERS


def _name(key: str) -> str:
    return key.rpartition("/")[2]


def _continues(longer: str, shorter: str) -> bool:
    return longer.startswith((shorter + "-", shorter + "_", shorter + "."))
