"""What Pods want of each other: ports of the node, and affinity between Pods."""

from tests.conformance.ingredients.draft import (
    HOSTNAME,
    NAMESPACES,
    RACK,
    ZONE,
    Draft,
    Object,
    selector,
    with_match_label_keys,
)

_KEYS = (ZONE, HOSTNAME, HOSTNAME, RACK, "example.com/nowhere")
_PORTS = (80, 443, 8080)
_ADDRESSES = ("", "", "0.0.0.0", "127.0.0.1", "10.0.0.1")  # noqa: S104 what Pods ask for; nothing is bound here


def host_ports(draft: Draft, pod: Object) -> None:
    """Take one or two ports of the node, on one address or on all."""
    dice = draft.dice
    chosen: list[Object] = []
    for port in dice.some(_PORTS, least=1, most=2):
        one: Object = {"containerPort": port, "hostPort": port, "protocol": dice.choice(("TCP", "TCP", "UDP", "SCTP"))}
        address = dice.choice(_ADDRESSES)
        chosen.append(one | {"hostIP": address} if address else one)
    pod["spec"]["containers"][0]["ports"] = chosen


def sidecar_ports(_draft: Draft, pod: Object) -> None:
    """Take a port of the node for a sidecar, and one for an init container, which is gone by the time it counts."""
    taken = [{"containerPort": 9090, "hostPort": 9090, "protocol": "TCP"}]
    later = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    pod["spec"].setdefault("initContainers", []).extend(
        [
            {"name": "proxy", "image": "registry/side@sha256:0a1b", "restartPolicy": "Always", "ports": taken},
            {"name": "setup", "image": "registry/side@sha256:0a1b", "ports": later},
        ]
    )


def host_network(_draft: Draft, pod: Object) -> None:
    """Use the node's network, where every port of the Pod is one of the node's."""
    pod["spec"]["hostNetwork"] = True
    for container in pod["spec"]["containers"]:
        for port in container.get("ports", ()):
            port["hostPort"] = port["containerPort"]


def required_pod_affinity(draft: Draft, pod: Object) -> None:
    """Require Pods nearby."""
    _affinity(pod, "podAffinity")["requiredDuringSchedulingIgnoredDuringExecution"] = _terms(draft, pod)


def required_pod_anti_affinity(draft: Draft, pod: Object) -> None:
    """Refuse Pods nearby."""
    _affinity(pod, "podAntiAffinity")["requiredDuringSchedulingIgnoredDuringExecution"] = _terms(draft, pod)


def preferred_pod_affinity(draft: Draft, pod: Object) -> None:
    """Prefer Pods nearby, or further away."""
    kind = draft.dice.choice(("podAffinity", "podAntiAffinity"))
    _affinity(pod, kind)["preferredDuringSchedulingIgnoredDuringExecution"] = [
        {"weight": draft.dice.choice((1, 10, 100)), "podAffinityTerm": term} for term in _terms(draft, pod)
    ]


def _terms(draft: Draft, pod: Object) -> list[Object]:
    """Return one or two terms."""
    return [_term(draft, pod) for _ in range(draft.dice.choice((1, 1, 2)))]


def _term(draft: Draft, pod: Object) -> Object:
    """Return a term: which Pods, of which namespaces, within which topology."""
    dice = draft.dice
    term: Object = {"topologyKey": dice.choice(_KEYS)}
    if dice.chance(0.95):
        term["labelSelector"] = selector(dice)
    if dice.chance(0.2):
        term["namespaces"] = dice.some(list(NAMESPACES), least=1)
    if dice.chance(0.2):
        term["namespaceSelector"] = dice.choice(({}, {"matchLabels": {"team": "a"}}, {"matchLabels": {"env": "prod"}}))
    with_match_label_keys(draft, term, pod=pod, chance=0.1)
    return term


def _affinity(pod: Object, kind: str) -> Object:
    """Return one kind of the Pod's affinity, which is there from now on."""
    affinity: Object = pod["spec"].setdefault("affinity", {}).setdefault(kind, {})
    return affinity
