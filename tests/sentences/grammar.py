"""What sentences say in numbers and names, read back by rules and counted again in the cluster's objects.

Each rule is a pattern and what counts what it reads, in plain Python over the objects: nothing of the engine is asked.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from tests.build import HOSTNAME, ZONE, Object

BRIEF = {"zone": ZONE, "hostname": HOSTNAME, "node": HOSTNAME, ZONE: ZONE, HOSTNAME: HOSTNAME}
KEY = r"(?P<key>[a-z.]+/[a-z]+|zone|hostname|node)s?"
NAMES = r"(?P<names>[a-d]\d?(?:, [a-d]\d?)*(?: (?:and|or) [a-d]\d?| (?:and|or) \d+ more)?)"
NOT_READY = "node.kubernetes.io/not-ready:NoSchedule"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
CORDON: Object = {"key": UNSCHEDULABLE, "value": "", "effect": "NoSchedule"}
THERE = re.compile(" nodes there is available: |: no node in zone [a-d] is available: ")
"""What a sentence says of the nodes that can use a volume."""
NAME = re.compile(r"\b[a-z]+(?:-\d+)+\b|\b[a-d]\d\b")
"""Names of nodes, Pods and workloads, whose digits count nothing."""


class Facts(Struct, frozen=True):
    """A cluster and a Pod that waits there.

    Attributes:
        nodes: node's name → node.
        on: the Pods that are on nodes.
        kin: all Pods of the workload.
        pod: the Pod.
        zones: Pod's name → where its volume is.
        left: how many Pods the fix that the sentence is about leaves without a node.
    """

    nodes: Mapping[str, Object]
    on: Sequence[Object]
    kin: Sequence[Object]
    pod: Object
    zones: Mapping[str, str]
    left: int = 0

    @classmethod
    def about(cls, objects: Sequence[Object], app: str, name: str = "") -> Facts:
        """Return what there is to count for the Pods of the application, of which that or the first waits."""
        pods = [each for each in objects if each["kind"] == "Pod"]
        kin = [each for each in pods if each["metadata"]["labels"]["app"] == app]
        nodes = {each["metadata"]["name"]: each for each in objects if each["kind"] == "Node"}
        waiting = (each for each in kin if not each["spec"].get("nodeName"))
        waits = next(each for each in waiting if name in ("", each["metadata"]["name"]))
        volumes = {each["metadata"]["name"]: _zone_of(each) for each in objects if each["kind"] == "PersistentVolume"}
        zones = {each["metadata"]["name"]: volumes.get(_volume_of(each), "") for each in kin}
        return cls(nodes, [each for each in pods if each["spec"].get("nodeName")], kin, waits, zones)

    def of(self, name: str) -> Facts:
        """Return the same for another Pod of the workload."""
        return replace(self, pod=next(each for each in self.kin if each["metadata"]["name"] == name))

    @property
    def of_all(self) -> Facts:
        """The same as all Pods of a DaemonSet see it together: without the affinity of each to its node."""
        spec = {key: value for key, value in self.pod["spec"].items() if key != "affinity"}
        return replace(self, pod={**self.pod, "spec": spec})

    def drained(self, name: str) -> Facts:
        """Return the same while the node is cordoned and none of its Pods has found another."""
        node = self.nodes[name]
        taints = {(each["key"], each["effect"]): each for each in (*node["spec"]["taints"], CORDON)}
        nodes = {**self.nodes, name: {**node, "spec": {"unschedulable": True, "taints": [*taints.values()]}}}
        stays = [each for each in self.on if each["spec"]["nodeName"] != name or _is_daemon(each)]
        return replace(self, nodes=nodes, on=stays)

    def without(self, pod: Object) -> Facts:
        """Return the same once the other Pod has ended."""
        return replace(self, on=[each for each in self.on if each is not pod])

    @property
    def opens(self) -> bool:
        """Whether some node takes the Pod."""
        return not all(map(self.said_first, self.nodes))

    @property
    def zone(self) -> str:
        """Where the Pod's volume is; empty where it has none."""
        return self.zones[self.pod["metadata"]["name"]]

    @property
    def app(self) -> str:
        """The name of the workload."""
        name: str = self.pod["metadata"]["labels"]["app"]
        return name

    @property
    def kind(self) -> str:
        """The kind of what made the Pod."""
        kind: str = self.pod["metadata"]["ownerReferences"][0]["kind"]
        return kind

    @property
    def asked(self) -> int:
        """The cpu that the Pod asks for (milli)."""
        return cpu_of(self.pod)

    def constraint(self, key: str) -> Object:
        """Return the Pod's constraint on the key."""
        return next(each for each in self.pod["spec"]["topologySpreadConstraints"] if each["topologyKey"] == BRIEF[key])

    def labels(self, name: str) -> Mapping[str, str]:
        """Return the node's labels."""
        found: Mapping[str, str] = self.nodes[name]["metadata"]["labels"]
        return found

    def counted(self, key: str) -> list[str]:
        """Return the nodes (names) that the constraint on the key counts."""
        constraint, hard = self.constraint(key), self.constraint(key)["whenUnsatisfiable"]
        keys = [
            each["topologyKey"]
            for each in self.pod["spec"]["topologySpreadConstraints"]
            if each["whenUnsatisfiable"] == hard
        ]
        honoured = constraint.get("nodeTaintsPolicy") == "Honor"
        fit = [name for name in self.nodes if self.selects(name) and not (honoured and self.untolerated(name))]
        return [name for name in fit if all(each in self.labels(name) for each in keys)]

    def domains(self, key: str) -> Counter[str]:
        """Return domain → Pods there that the constraint on the key counts."""
        nodes = self.counted(key)
        found = Counter({self.labels(name)[BRIEF[key]]: 0 for name in nodes})
        for each in self.matching(key):
            if each["spec"]["nodeName"] in nodes:
                found[self.labels(each["spec"]["nodeName"])[BRIEF[key]]] += 1
        return found

    def matching(self, key: str) -> list[Object]:
        """Return the Pods on nodes that the constraint on the key selects."""
        app = self.constraint(key)["labelSelector"]["matchLabels"]["app"]
        return [each for each in self.on if each["metadata"]["labels"]["app"] == app]

    def minimum(self, key: str) -> int:
        """Return the fewest Pods in a domain; 0 where there are fewer than minDomains."""
        domains = self.domains(key)
        return 0 if len(domains) < self.constraint(key).get("minDomains", 1) else min(domains.values(), default=0)

    def skew(self, key: str) -> int:
        """Return how far the fullest domain is beyond the minimum; each Pod of a DaemonSet sees only its node."""
        if self.kind != "DaemonSet":
            return max(self.domains(key).values(), default=0) - self.minimum(key)
        if self.constraint(key).get("minDomains", 1) <= 1:
            return 0
        counted = self.of_all.counted(key)
        on = Counter(each["spec"]["nodeName"] for each in self.matching(key))
        return max((on[name] for name in counted), default=0)

    def rejects(self, key: str, name: str) -> bool:
        """Whether the constraint on the key keeps the Pod off the node."""
        constraint, domain = self.constraint(key), self.labels(name).get(BRIEF[key])
        itself = constraint["labelSelector"]["matchLabels"]["app"] == self.pod["metadata"]["labels"]["app"]
        if domain is None:
            return True
        return bool(self.domains(key)[domain] + itself - self.minimum(key) > constraint["maxSkew"])

    def free(self, name: str) -> int:
        """Return the cpu that is left on the node (milli)."""
        used = sum(cpu_of(each) for each in self.on if each["spec"]["nodeName"] == name)
        return milli(self.nodes[name]["status"]["allocatable"]["cpu"]) - used

    def selects(self, name: str) -> bool:
        """Whether the Pod's node affinity, that of a Pod of a DaemonSet, is for the node."""
        affinity = self.pod["spec"].get("affinity")
        if affinity is None:
            return True
        (term,) = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        return bool([name] == term["matchFields"][0]["values"])

    def tainted(self, name: str, taint: str) -> bool:
        """Whether the node has the taint, written ``key=value:effect``, or so without the prefix of the key."""
        written = {
            f"{each['key']}{'=' if each['value'] else ''}{each['value']}:{each['effect']}"
            for each in self.nodes[name]["spec"]["taints"]
        }
        return taint in written or ("/" not in taint and any(each.endswith(f"/{taint}") for each in written))

    def untolerated(self, name: str) -> bool:
        """Whether the node has a taint that the Pod does not tolerate."""
        tolerated = {(each["key"], each["effect"]) for each in self.pod["spec"].get("tolerations", ())}
        return bool({(each["key"], each["effect"]) for each in self.nodes[name]["spec"]["taints"]} - tolerated)

    def cordoned(self, name: str) -> bool:
        """Whether the node is cordoned, and the Pod does not tolerate that."""
        tolerated = {each["key"] for each in self.pod["spec"].get("tolerations", ())}
        return bool(self.nodes[name]["spec"].get("unschedulable")) and UNSCHEDULABLE not in tolerated

    def elsewhere(self, name: str) -> bool:
        """Whether the node cannot use the Pod's volume."""
        return bool(self.zone) and self.labels(name).get(ZONE) != self.zone

    def said_first(self, name: str) -> str:
        """Return what kube-scheduler says of the node: its first filter that rejects it."""
        filters = {
            "node(s) didn't satisfy plugin(s) [NodeAffinity]": not self.selects(name),
            "node(s) were unschedulable": self.cordoned(name),
            "node(s) had untolerated taint(s)": self.untolerated(name),
            "Insufficient cpu": self.free(name) < self.asked,
            "node(s) didn't match PersistentVolume's node affinity": self.elsewhere(name),
        }
        if any(filters.values()):
            return next(text for text, rejects in filters.items() if rejects)
        hard = [each for each in self.pod["spec"]["topologySpreadConstraints"] if each["whenUnsatisfiable"][0] == "D"]
        for each in hard:
            if each["topologyKey"] not in self.labels(name):
                return "node(s) didn't match pod topology spread constraints (missing required label)"
            if self.rejects(each["topologyKey"], name):
                return "node(s) didn't match pod topology spread constraints"
        return ""


def _is_daemon(pod: Object) -> bool:
    return bool(pod["metadata"]["ownerReferences"][0]["kind"] == "DaemonSet")


def _volume_of(pod: Object) -> str:
    """Return the name of the Pod's volume; empty where it has none."""
    (claimed,) = pod["spec"].get("volumes") or [None]
    return claimed["persistentVolumeClaim"]["claimName"].replace("data-", "volume-") if claimed else ""


def _zone_of(volume: Object) -> str:
    """Return the zone whose nodes can use the volume."""
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    zone: str = term["matchExpressions"][0]["values"][0]
    return zone


def milli(text: str) -> int:
    """Return a quantity of cpu (milli)."""
    return int(text[:-1]) if text.endswith("m") else 1000 * int(text)


def cpu_of(pod: Object) -> int:
    """Return the cpu that the Pod asks for (milli)."""
    return milli(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])


def named(text: str) -> tuple[list[str], int]:
    """Return the names of ``a, b and 3 more``, and how many there are in all."""
    more = re.search(r" (?:and|or) (\d+) more$", text)
    names = re.findall(r"\b[a-d]\d?\b", text[: more.start()] if more else text)
    return names, len(names) + int(more[1] if more else 0)


def all_of(text: str, those: Sequence[str]) -> bool:
    """Whether the names are of those, and as many."""
    names, number = named(text)
    return set(names) <= set(those) and number == len(set(those)) and len(set(names)) == len(names)


Rule = Callable[[re.Match[str], Facts], bool]


def _holding(read: re.Match[str], facts: Facts) -> bool:
    domains, minimum = facts.domains(read["key"]), facts.minimum(read["key"])
    return int(read["n"]) == minimum and all_of(read["names"], [d for d in domains if domains[d] == minimum])


def _only_to(read: re.Match[str], facts: Facts) -> bool:
    """Whether the constraint closes all other domains."""
    return all_of(read["names"], [each for each in facts.domains(read["key"]) if not _closed(facts, read["key"], each)])


def _full(read: re.Match[str], facts: Facts) -> bool:
    """Whether a constraint with this maxSkew closes the first of the domains."""
    first = named(read["names"])[0][0]
    return any(
        int(read["n"]) == facts.constraint(key)["maxSkew"]
        and first in facts.domains(key)
        and _closed(facts, key, first)
        for key in _keys(facts)
    )


def _closed(facts: Facts, key: str, domain: str) -> bool:
    """Whether the constraint on the key allows no more Pod in the domain."""
    return any(facts.rejects(BRIEF[key], n) for n in facts.nodes if facts.labels(n).get(BRIEF[key]) == domain)


def _number_holding(read: re.Match[str], facts: Facts) -> bool:
    key = BRIEF[read["key"]]
    least = facts.minimum(key)
    at = Counter(facts.domains(key).values())[least]
    return int(read["n"]) == at and int(read["least"] or least) == least


def _at(read: re.Match[str], facts: Facts) -> bool:
    names, number = named(read["names"])
    for constraint in facts.pod["spec"]["topologySpreadConstraints"]:
        domains = facts.domains(constraint["topologyKey"])
        at = [domain for domain in domains if domains[domain] == int(read["n"])]
        if set(names) <= set(at) and number == len(at):
            return True
    return False


def _too_few(read: re.Match[str], facts: Facts) -> bool:
    domains, constraint = list(facts.domains(read["key"])), facts.constraint(read["key"])
    asked = int(read["asked"]) == constraint["minDomains"] > len(domains)
    listed = int(read["n"]) == len(domains) and (not read["names"] or all_of(read["names"], domains))
    return asked and listed and int(read["most"]) == constraint["maxSkew"]


def _daemon_too_few(read: re.Match[str], facts: Facts) -> bool:
    constraint, domains = facts.constraint(read["key"]), facts.domains(read["key"])
    asked = int(read["asked"]) == constraint["minDomains"] > len(domains)
    return facts.kind == "DaemonSet" and len(domains) <= 1 and asked and int(read["most"]) == constraint["maxSkew"]


def _count(read: re.Match[str], facts: Facts) -> bool:
    # What is changed beside it may make more domains count.
    count, most = len(facts.domains(read["key"])), int(read["n"])
    return int(read["to"]) == most and (count == most or (count < most and "; also " in read.string))


def _asked(read: re.Match[str], facts: Facts) -> bool:
    return milli(read["asked"]) == facts.asked


def _free(read: re.Match[str], facts: Facts) -> bool:
    if milli(read["asked"]) != facts.asked:
        return False
    names = named(read["names"])[0] if read["names"] else list(facts.nodes)
    free = [max(0, facts.free(name)) for name in names if facts.free(name) < facts.asked]
    cores = [milli(facts.nodes[name]["status"]["allocatable"]["cpu"]) for name in names]
    whole = not read["of"] or milli(read["of"]) in cores
    # Where others are counted and not named, one of them may have more free.
    return whole and (milli(read["free"]) in free or bool(read["names"] and " more" in read["names"]))


def _available(read: re.Match[str], facts: Facts) -> bool:
    said = Counter(facts.said_first(name) for name in facts.nodes)
    told = {what: int(n) for n, what in re.findall(r"(\d+) ([^,]+?)(?:, (?=\d)|$)", read["why"].rstrip("."))}
    return int(read["n"]) == len(facts.nodes) and told == said


def _not_counted(read: re.Match[str], facts: Facts) -> bool:
    for constraint in facts.pod["spec"]["topologySpreadConstraints"]:
        nodes = facts.counted(constraint["topologyKey"])
        on = [pod["spec"]["nodeName"] for pod in facts.matching(constraint["topologyKey"])]
        left = [name for name in on if name not in nodes]
        names = re.findall(rf"(?:^|; ){NAMES}, (?:with|outside)", read["where"])
        if len(left) == int(read["n"]) and sum(named(each)[1] for each in names) == len({*left}):
            return True
    return False


def _skew(read: re.Match[str], facts: Facts) -> bool:
    domains = facts.domains(read["key"]).values()
    most = facts.constraint(read["key"])["maxSkew"]
    return (int(read["n"]), int(read["most"])) == (max(domains) - min(domains), most)


def _running(read: re.Match[str], facts: Facts) -> bool:
    running = sum(each["status"]["phase"] == "Running" for each in facts.kin)
    pods = not read["pods"] or int(read["pods"]) == len(facts.kin)
    return pods and int(read["n"].replace("none", "0")) == running


def _pending(read: re.Match[str], facts: Facts) -> bool:
    return int(read["n"]) == sum(not each["spec"].get("nodeName") for each in facts.kin)


def _ending(read: re.Match[str], facts: Facts) -> bool:
    """Whether some node takes the Pod once any of so many Pods of the Job, which are on these nodes, is gone.

    A search that was cut short may have found only some of them.
    """
    running = [each for each in facts.kin if each["spec"].get("nodeName")]
    ends = [each for each in running if facts.without(each).opens]
    names, number = named(read["names"] or "")
    on, least = {each["spec"]["nodeName"] for each in ends}, 0 if names else len(running)
    return {*names} <= on and number <= len(on) and least <= int(read["n"] or 1) <= len(ends)


def _left(read: re.Match[str], facts: Facts) -> bool:
    """Whether so many are left of those that wait, and of those that a rollout creates beside them at a time."""
    return int(read["n"]) == facts.left <= len(facts.kin) + math.ceil(len(facts.kin) / 4)


def _stops_at(read: re.Match[str], facts: Facts) -> bool:
    return any(int(read["n"]) == facts.minimum(key) + facts.constraint(key)["maxSkew"] for key in _keys(facts))


def _minimum(read: re.Match[str], facts: Facts) -> bool:
    for key in _keys(facts):
        domains, minimum = facts.domains(key), facts.minimum(key)
        if int(read["n"]) == minimum and all_of(read["names"], [d for d in domains if domains[d] == minimum]):
            return True
    return False


def _keys(facts: Facts) -> list[str]:
    return [each["topologyKey"] for each in facts.pod["spec"]["topologySpreadConstraints"]]


def _at_minimum(facts: Facts, key: str) -> list[str]:
    domains, minimum = facts.domains(key), facts.minimum(key)
    return [name for name in facts.counted(key) if domains[facts.labels(name)[key]] == minimum]


def _nodes_at_minimum(read: re.Match[str], facts: Facts) -> bool:
    number = int(read["n"] or 0)
    if "pins" in read.groupdict():
        number += sum(named(pin["names"])[1] for pin in re.finditer(rf"{NAMES} \(", read["pins"]))
    return any(len(_at_minimum(facts, key)) == number for key in _keys(facts))


def _least(read: re.Match[str], facts: Facts) -> bool:
    counted = [(facts.domains(key), facts.minimum(key)) for key in _keys(facts)]
    return any(all_of(read["names"], [name for name, n in found.items() if n == least]) for found, least in counted)


def _more_nodes(read: re.Match[str], facts: Facts) -> bool:
    """Whether there are so many nodes besides those of the longest list. The lists may share nodes."""
    if THERE.search(read.string):
        return True
    shown = max((named(pin["names"])[1] for pin in re.finditer(rf"{NAMES} \(", read["pins"])), default=1)
    return any(shown + int(read["n"]) <= len(_at_minimum(facts, key)) for key in _keys(facts))


def _shut(read: re.Match[str], facts: Facts) -> bool:
    for key in _keys(facts):
        by_domain: dict[str, list[bool]] = {}
        for name in facts.counted(key):
            by_domain.setdefault(facts.labels(name)[key], []).append(not facts.said_first(name))
        if all_of(read["names"], [domain for domain, takes in by_domain.items() if not any(takes)]):
            return True
    return False


def _reason(why: str, facts: Facts) -> Callable[[str], bool]:
    """Return whether the reason that begins so holds for a node."""
    reasons: Mapping[str, Callable[[str], bool]] = {
        "co": facts.cordoned,
        "ta": lambda name: all(facts.tainted(name, each) for each in why.removeprefix("taint ").split(", ")),
        "cl": facts.elsewhere,
        "No": lambda name: facts.tainted(name, "node.kubernetes.io/not-ready:NoSchedule"),
        "cpu": lambda name: facts.free(name) < facts.asked,
    }
    return reasons["cpu" if " cpu " in why else why[:2]]


def _pinning(read: re.Match[str], facts: Facts) -> bool:
    having = _reason(read["why"], facts)
    names, number = named(read["names"] or read["only"] or read["node"])
    if not facts.nodes.keys() >= {*names}:  # Domains, all nodes of which have the reason.
        return any(map(having, facts.nodes))
    return all(map(having, names)) and number <= sum(map(having, facts.nodes))


def _all(having: Callable[[Facts, str], bool]) -> Rule:
    def rule(read: re.Match[str], facts: Facts) -> bool:
        names, number = named(read["names"])
        return all(having(facts, name) for name in names) and number <= sum(having(facts, each) for each in facts.nodes)

    return rule


def _so_many_at_minimum(read: re.Match[str], facts: Facts) -> bool:
    if THERE.search(read.string):  # Another rule reads all of that.
        return True
    having = _reason(read["why"], facts)
    return any(sum(map(having, _at_minimum(facts, BRIEF[key]))) == int(read["n"]) for key in _keys(facts))


def _there(read: re.Match[str], facts: Facts) -> bool:
    """Whether so many nodes can use the volume, and each of them is counted once, with reasons that hold for it."""
    there = [name for name in facts.nodes if not facts.elsewhere(name)]
    number = 0
    for pin in read["pins"].split("; "):
        part = re.fullmatch(rf"{NAMES} \((?P<named>.*)\)|(?P<why>.*?)(?: \((?P<n>\d+) nodes?\))?", pin)
        assert part is not None
        if (rest := re.match(r"(\d+) more nodes? for ", pin)) is not None:
            number += int(rest[1])
            continue
        reasons = [_reason(why, facts) for why in (part["named"] or part["why"]).split(" and ")]
        having = [name for name in there if all(reason(name) for reason in reasons)]
        names, some = named(part["names"]) if part["names"] else ([], int(part["n"] or len(there)))
        if not ({*names} <= {*having} and some <= len(having)):
            return False
        number += some
    # show names no number of nodes.
    told = len(there) if read["n"] == "" else int(read["n"] or 1)
    return told == len(there) == number and read["zone"] == facts.zone


def _conflict(read: re.Match[str], facts: Facts) -> bool:
    """Whether each requirement leaves the nodes that are named, and as many requirements are named as are counted."""
    keeps_off: dict[str, Callable[[str], bool]] = {
        "no untolerated taint": facts.untolerated,
        "enough room": lambda name: facts.free(name) < facts.asked,
        "not cordoned": facts.cordoned,
        "the node affinity": lambda name: not facts.selects(name),
        "VolumeBinding": facts.elsewhere,
    }
    parts = [re.fullmatch(rf"(?:only {NAMES}|no node) \w+ (?P<what>.*)", each) for each in read["parts"].split("; ")]
    for part in parts:
        assert part is not None
        key = part["what"].removeprefix("the constraint on ")
        rejects = keeps_off.get(key) or partial(facts.rejects, BRIEF[key])
        if not all_of(part["names"] or "", [name for name in facts.nodes if not rejects(name)]):
            return False
    return len(parts) == int(read["n"] or 2)


def _would_be(read: re.Match[str], facts: Facts) -> bool:
    """Whether one more Pod in some domain makes that skew."""
    label = facts.pod["metadata"]["labels"]["app"]
    for key in _keys(facts):
        each, domains = facts.constraint(key), facts.domains(key)
        itself = each["labelSelector"]["matchLabels"]["app"] == label
        skews = {number + itself - facts.minimum(key) for number in domains.values()}
        if int(read["most"] or each["maxSkew"]) == each["maxSkew"] and int(read["n"]) in skews:
            return True
    return False


def _unlabelled(facts: Facts, key: str) -> tuple[list[str], list[str]]:
    """Return the nodes without the label, all of them and those that the Pod selects."""
    nodes = [name for name in facts.nodes if key not in facts.labels(name)]
    return nodes, [name for name in nodes if facts.selects(name)]


def _only(read: re.Match[str], facts: Facts) -> bool:
    asked = [(facts.constraint(key).get("minDomains", 1), len(facts.domains(key))) for key in _keys(facts)]
    return (int(read["asked"]), int(read["n"])) in asked


def _has_taints(read: re.Match[str], facts: Facts, name: str) -> bool:
    return all(facts.tainted(name, taint) for taint in (read["taint"], read["other"] or read["taint"]))


CPU = r"\d+m?"
TAINT = r"\S+:\w+"
WHY = (
    rf"(?P<why>cordoned|taint [^ ,;)]*\w(?=[ ,;)]|\.?$|\. )|{CPU} cpu requested, (?:at most )?{CPU} free|"
    r"too little cpu free|NotReady|claim \S+ is bound to (?:a volume|\S+) in [a-d])"
)
FREE = rf"(?:at most )?(?P<free>{CPU})(?: of (?P<of>{CPU}))? free"
RULES: Sequence[tuple[str, Rule]] = (
    (r"No node meets (?:both|all (?P<n>\d+)) requirements: (?P<parts>.*)\.", _conflict),
    (
        (
            rf"(?:{NAMES}(?:: | \()|its only (?:counted )?node, (?P<only>[a-d]\d), is not available: |"
            rf"node (?P<node>[a-d]\d) has .*? but is not available: )(?={WHY}(?! and \d+ more| \(\d+ node))"
        ),
        _pinning,
    ),
    (
        (
            r"is bound to a volume in zone (?P<zone>[a-d]), and (?:none of the (?P<n>\d+) nodes there is|the only node"
            r" there, \S+, is not) available: (?P<pins>.*?)(?=\.(?: |$))"
        ),
        _there,
    ),
    (r": (?P<n>)no node in zone (?P<zone>[a-d]) is available: (?P<pins>.*)$", _there),
    (rf"{WHY} \((?P<n>\d+) nodes?\)", _so_many_at_minimum),
    (
        rf"(?P<n>\d+) {KEY}(?:, which)? (?:have the fewest (?:matching )?Pods \((?P<least>\d+)\)|are not available)",
        _number_holding,
    ),
    (r"the next Pod cannot go there: (?P<pins>.*?)(?: and (?P<n>\d+) more nodes)?\. Until", _nodes_at_minimum),
    (r": (?P<pins>.*?); (?P<n>\d+) more nodes? for (?:another reason|other reasons)", _more_nodes),
    (
        r"(?P<n>\d+) more nodes? for (?:another reason|other reasons)",
        lambda read, facts: int(read["n"]) < len(facts.nodes),
    ),
    (
        rf"(?P<n>\d+) nodes? ha(?:s|ve) the untolerated taints? (?P<taint>{TAINT})(?: and (?P<other>{TAINT}))?",
        lambda read, facts: int(read["n"]) <= sum(_has_taints(read, facts, name) for name in facts.nodes),
    ),
    (
        r"(?P<n>\d+) nodes? (?:is|are) cordoned",
        lambda read, facts: int(read["n"]) <= sum(map(facts.cordoned, facts.nodes)),
    ),
    (
        r"(?P<n>\d+) nodes? ha(?:s|ve) too little cpu",
        lambda read, facts: int(read["n"]) <= sum(facts.free(name) < facts.asked for name in facts.nodes),
    ),
    (rf"no Pod can go to {NAMES}: ", _least),
    (rf"no node of {NAMES} can take the Pod", _shut),
    (rf"{KEY} {NAMES}(?:, which)? (?:has|have) the fewest (?:matching )?Pods \((?P<n>\d+)\)", _holding),
    (rf"may only go to {KEY} {NAMES}, which", _only_to),
    (
        rf"constraint on \S+ allows {KEY} {NAMES}, but ",
        lambda read, facts: not any(_closed(facts, read["key"], each) for each in named(read["names"])[0]),
    ),
    (rf"^{NAMES} (?:has|have) the fewest matching Pods \((?P<n>\d+)\), but the next Pod cannot go", _minimum),
    (r"every other domain is limited to (?P<n>\d+)", _stops_at),
    (rf"{NAMES} \((?P<n>\d+) Pods?(?: each)?\)", _at),
    (rf"One more Pod would exceed maxSkew (?P<n>\d+) (?:in|on) {KEY} {NAMES} \(", _full),
    (
        (
            rf"(?:There (?:is|are)|Only) (?P<n>\d+) {KEY}(?: counts? for th(?:is|ese) Pods?)?(?: \({NAMES}\))?, but"
            r" minDomains requires (?P<asked>\d+): .*?may hold (?:more than|only) (?P<most>\d+)"
        ),
        _too_few,
    ),
    (
        (
            rf"minDomains requires (?P<asked>\d+) domains of {KEY}, but there (?:is|are) (?P<n>\d+)"
            rf"(?: \({NAMES}\))?\. .*?is 0 .*more than (?P<most>\d+)"
        ),
        _too_few,
    ),
    (rf"(?:{NAMES} \()?(?P<asked>{CPU}) cpu requested, {FREE}", _free),
    (rf"(?P<asked>{CPU}) cpu requested, too little free", _asked),
    (rf"(?:{NAMES} (?:has|have) )?too little cpu \((?P<asked>{CPU}) requested, {FREE}\)", _free),
    (rf"{NAMES} (?:is|are) cordoned", _all(Facts.cordoned)),
    (
        r"(?P<n>\d+) nodes?: claim data-\S+ is bound to \S+ in [a-d]",
        lambda read, facts: int(read["n"]) == sum(map(facts.elsewhere, facts.nodes)),
    ),
    (
        rf"the constraint on {KEY} \((?P<n>\d+) nodes?\)",
        lambda read, facts: int(read["n"]) <= sum(facts.rejects(BRIEF[read["key"]], name) for name in facts.nodes),
    ),
    (r"\b[Aa]ll (?P<n>\d+) nodes", lambda read, facts: int(read["n"]) == len(facts.nodes)),
    (r"skew (?:would be|is) (?P<n>\d+)(?:, maxSkew (?P<most>\d+))?", _would_be),
    (r"minDomains requires (?P<asked>\d+) domains, but only (?P<n>\d+) counts?", _only),
    (
        (
            rf"lower minDomains to (?P<to>\d+) in the constraint on {KEY},"
            r" because no more than (?P<n>\d+) domains? counts?"
        ),
        _count,
    ),
    (
        rf"{NAMES} (?:has|have) the untolerated taints? (?P<taint>{TAINT})(?: and (?P<other>{TAINT}))?",
        lambda read, facts: _all(lambda facts, name: _has_taints(read, facts, name))(read, facts),
    ),
    (
        rf"constraint on {KEY} rejects {NAMES} too",
        lambda read, facts: all_of(read["names"], [n for n in facts.nodes if facts.rejects(read["key"], n)]),
    ),
    (r"0/(?P<n>\d+) nodes are available: (?P<why>.*)", _available),
    (
        rf"minDomains requires (?P<asked>\d+) domains of {KEY}, but each Pod .* may hold more than (?P<most>\d+)",
        _daemon_too_few,
    ),
    (
        rf"{KEY} has only one domain that counts for this Pod \({NAMES}\), so the skew is always 0",
        lambda read, facts: [read["names"]] == list(facts.domains(read["key"])),
    ),
    (
        rf"{NAMES} lacks? the label {KEY}",
        lambda read, facts: any(all_of(read["names"], each) for each in _unlabelled(facts, BRIEF[read["key"]])),
    ),
    (
        r"(?P<n>\d+) matching Pods? (?:is|are) not counted, because of (?:its|their) nodes?: (?P<where>.*)\.",
        _not_counted,
    ),
    (rf"skew over {KEY} is (?P<n>\d+) and maxSkew is (?P<most>\d+)", _skew),
    (
        (
            r"replaces (?P<pods>\d+) Pods of [a-z]+/[a-z0-9-]+(?: one after another| all at once)? "
            r"\((?P<n>\d+|none) of them runs?"
        ),
        _running,
    ),
    (r"in the end, (?:up to )?(?P<n>\d+) Pods? (?:still|may still) ha(?:s|ve) no node", _left),
    (r"(?:the rollout starts once|changes only) the (?P<n>\d+) Pending Pods", _pending),
    (rf"(?:one of )?the (?:(?P<n>\d+) )?running Pods? of job/\S+(?: on {NAMES})? to end", _ending),
    (
        rf"any of (?P<n>\d+) nodes, such as {NAMES},(?= to recover \(not ready\))",
        lambda read, facts: int(read["n"]) <= sum(facts.tainted(name, NOT_READY) for name in facts.nodes),
    ),
    (r"recreates the (?P<n>\d+) Pending Pods", _pending),
    (r"none of (?:its|their) (?P<n>\d+) (?:counted )?nodes is available", _nodes_at_minimum),
    (
        rf"This Pod may not go to {NAMES}, which lacks? the label {KEY}",
        _all(lambda facts, name: any(key not in facts.labels(name) for key in _keys(facts))),
    ),
    (
        r"\bmaxSkew (?:is )?(?P<n>\d+)",
        lambda read, facts: any(int(read["n"]) == facts.constraint(key)["maxSkew"] for key in _keys(facts)),
    ),
)
UNREAD: Mapping[str, str] = {
    r"so the skew is always 0": "there is one domain; another rule reads which",
    r"last FailedScheduling is 10s old": "how long the scheduler backs off, at most",
    r"and \d+ more reasons?|\S+ \(\S.*?\) and \d+ more(?=;|$)": (
        "reasons are not counted here: their texts are not part of the cluster"
    ),
    r"\d+ more filters? rejects? nodes": "as for reasons",
    r"(?:raise maxSkew|lower minDomains|lower the cpu request of container main) to \d+m?": (
        "what a fix writes is tried by the soak of fixes"
    ),
    r"replaces \d+ Pods of [a-z]+/[a-z0-9-]+": "counted where how many run follows",
}
"""Pattern of what holds a number that no rule counts → why."""
_RULES = [(re.compile(pattern), rule) for pattern, rule in RULES]
_UNREAD = [re.compile(pattern) for pattern in UNREAD]


def wrong(sentence: str, facts: Facts) -> Iterator[str]:
    """Yield what of the sentence is not so, and the numbers that no rule reads."""
    spans = [read.span() for each in _UNREAD for read in each.finditer(sentence)]
    for pattern, rule in _RULES:
        for read in pattern.finditer(sentence):
            spans.append(read.span())
            if not rule(read, facts):
                yield f"not so: {read[0]!r} in {sentence!r}"
    # Two rules may read the same words.
    left = "".join(char for at, char in enumerate(sentence) if not any(first <= at < end for first, end in spans))
    if re.search(r"\d", NAME.sub("", left)):
        yield f"no rule reads {left!r} of {sentence!r}"
