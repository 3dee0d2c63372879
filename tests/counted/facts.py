"""What there is to count in a cluster about a Pod that waits, in plain Python over the objects, without the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tests.build import ZONE, Object

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


class Facts(Struct, frozen=True):
    """A cluster and a Pod that waits there."""

    nodes: Mapping[str, Object]  # node's name → node
    on: Sequence[Object]  # the Pods that are on nodes
    kin: Sequence[Object]  # all Pods of the workload
    pod: Object  # the Pod
    zones: Mapping[str, str]  # Pod's name → where its volume is

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

    @property
    def zone(self) -> str:
        """Where the Pod's volume is; empty where it has none."""
        return self.zones[self.pod["metadata"]["name"]]

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
        return next(each for each in self.pod["spec"]["topologySpreadConstraints"] if each["topologyKey"] == key)

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
        found = Counter({self.labels(name)[key]: 0 for name in nodes})
        for each in self.matching(key):
            if each["spec"]["nodeName"] in nodes:
                found[self.labels(each["spec"]["nodeName"])[key]] += 1
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
        constraint, domain = self.constraint(key), self.labels(name).get(key)
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
