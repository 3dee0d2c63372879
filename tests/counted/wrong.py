"""Which facts of a report are not so, by the counts of ``facts``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, show
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import why_pending
from tests.build import Object
from tests.commands.memory import Memory
from tests.counted.clusters import cluster
from tests.counted.facts import Facts, milli
from tests.program import encoded

Check: TypeAlias = Callable[[Object, Facts], bool]
NAME = re.compile(r"\b[a-z]+(?:-\d+)+\b|\b[a-d]\d\b")  # Names of nodes, Pods and workloads, whose digits count nothing

SCOPE = Scope(namespace="default")


def pending(seed: int) -> Iterator[tuple[Object, Facts]]:
    """Yield each Pending Pod of the seed's cluster as JSON has it, and what there is to count for it."""
    objects = cluster(seed)
    apps = {each["metadata"]["name"]: each["metadata"]["labels"]["app"] for each in objects if each["kind"] == "Pod"}
    for item in encoded(why_pending(Memory(objects), SCOPE, SchedulerOptions(), fix_budget=0).report)["items"]:
        yield item, Facts.about(objects, apps[item["name"]], item["name"])


def wrong_facts(seed: int) -> Iterator[str]:
    """Yield what ``why-pending`` and ``show`` conclude of the seed's cluster that is not so."""
    for item, facts in pending(seed):
        yield from wrong_nodes(item, facts)
        yield from wrong_constraints(item["constraints"], facts)
        yield from wrong_causes(item.get("cause"), facts)
        yield from wrong_numbers(item["summary"], [item.get("cause"), [*facts.nodes]])
    objects = cluster(seed)
    for row in encoded(show(Memory(objects), SCOPE, ShowOptions(), SchedulerOptions()).report)["items"]:
        facts = Facts.about(objects, row["workload"]["name"], row["pendingPod"])
        running = sum(pod["status"]["phase"] == "Running" for pod in facts.kin)
        if (row["ready"], row["pending"]) != (running, len(facts.kin) - running):
            yield f"{row['workload']}: {row['ready']} ready, {row['pending']} pending"
        yield from wrong_constraints([row["constraint"]], facts)


def rejects(requirement: Object, name: str, facts: Facts) -> bool:
    """Whether a constraint of the Pod, or a filter plugin, rejects the node."""
    constraints = facts.pod["spec"]["topologySpreadConstraints"]
    if requirement["kind"] == "constraint":
        return facts.rejects(constraints[requirement["index"]]["topologyKey"], name)
    return {
        "NodeUnschedulable": facts.cordoned(name),
        "TaintToleration": facts.untolerated(name),
        "NodeAffinity": not facts.selects(name),
        "NodeResourcesFit": facts.free(name) < facts.asked,
        "VolumeBinding": facts.elsewhere(name),
    }[requirement["plugin"]]


def holds(reason: Object, name: str, facts: Facts) -> bool:
    """Whether the node rejects the Pod for this reason."""
    match reason:
        case {"kind": "UntoleratedTaints", "taints": taints}:
            return facts.untolerated(name) and all(facts.tainted(name, taint) for taint in taints)
        case {"kind": "InsufficientResources", "resources": [{"name": "cpu", "asked": asked, "free": free}]}:
            return milli(asked) == facts.asked > facts.free(name) <= milli(free) < facts.asked
        case {"kind": "UnusableClaims"}:
            return facts.elsewhere(name)
        case {"kind": "RejectedByConstraint", "topologyKey": key}:
            return facts.rejects(key, name)
    return {"Cordoned": facts.cordoned(name), "UnmetNodeAffinity": not facts.selects(name)}[reason["kind"]]


def _holders(key: str, facts: Facts) -> list[str]:
    domains, minimum = facts.domains(key), facts.minimum(key)
    return sorted(domain for domain, pods in domains.items() if pods == minimum)


def _is_pinned_domain(cause: Object, facts: Facts) -> bool:
    key, domains = cause["constraint"]["topologyKey"], cause["domains"]
    counted = [name for name in facts.counted(key) if facts.labels(name)[key] in domains]
    full = {domain: each["matching"] for each in cause.get("full", ()) for domain in each["domains"]}
    closed = [domain for domain in facts.domains(key) if _is_closed(domain, key, facts)]
    pods = facts.domains(key)
    return (
        sorted(domains) == _holders(key, facts)
        and cause["nodes"] == len(counted)
        and full == {domain: pods[domain] for domain in closed}
    )


def _is_closed(domain: str, key: str, facts: Facts) -> bool:
    return any(facts.rejects(key, name) for name in facts.nodes if facts.labels(name).get(key) == domain)


def _is_blamed(blamed: Object, facts: Facts) -> bool:
    key = blamed["topologyKey"]
    constraint = facts.constraint(key)
    return bool(
        blamed["maxSkew"] == constraint["maxSkew"]
        and blamed["minDomains"] == constraint.get("minDomains", 1)
        and blamed["globalMinimum"] == facts.minimum(key)
        and blamed["selector"] == f"app={constraint['labelSelector']['matchLabels']['app']}"
        and blamed["domains"] == len({facts.labels(name)[key] for name in facts.nodes if key in facts.labels(name)})
    )


def _leaves(requirement: Object, facts: Facts) -> bool:
    left = [name for name in facts.nodes if not rejects(requirement["requirement"], name, facts)]
    return sorted(requirement["leaves"]) == sorted(left)


def _is_daemon_node(cause: Object, facts: Facts) -> bool:
    return facts.selects(cause["node"]) and all(
        facts.rejects(key, cause["node"]) for key in cause.get("constraints", ())
    )


def _is_restriction(restriction: Object, facts: Facts) -> bool:
    usable = sorted(name for name in facts.nodes if not facts.elsewhere(name))
    return sorted(restriction["nodes"]) == usable and restriction["others"] == len(facts.nodes) - len(usable)


CHECKS: Mapping[frozenset[str], Check] = {
    frozenset({"nodes", "reasons"}): lambda part, facts: all(
        holds(reason, name, facts) for reason in part["reasons"] for name in part["nodes"]
    ),
    frozenset({"nodes", "reason"}): lambda part, facts: all(
        holds(part["reason"], name, facts) for name in part["nodes"]
    ),
    frozenset({"nodes", "topologyKey"}): lambda part, facts: (
        "others" in part or all(facts.rejects(part["topologyKey"], name) for name in part["nodes"])
    ),
    frozenset({"globalMinimum", "topologyKey"}): _is_blamed,
    frozenset({"pins", "domains"}): _is_pinned_domain,
    frozenset({"leaves"}): _leaves,
    frozenset({"eligible"}): lambda part, facts: (
        sorted(part["eligible"]) == sorted(facts.domains(part["constraint"]["topologyKey"]))
    ),
    frozenset({"node", "filters"}): _is_daemon_node,
    frozenset({"others", "nodes", "pins"}): _is_restriction,
}
"""Fields of a part of a cause → whether what they hold is so."""


def wrong_causes(part: Any, facts: Facts) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield the parts of a cause that are not so."""
    if isinstance(part, dict):
        for names, check in CHECKS.items():
            if names <= part.keys() and not check(part, facts):
                yield f"{', '.join(sorted(names))}: {part}"
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from wrong_causes(inner, facts)


def wrong_nodes(item: Object, facts: Facts) -> Iterator[str]:
    """Yield the nodes of which something else rejects the Pod first, and a message that counts them otherwise."""
    first = {name: facts.said_first(name) for name in facts.nodes}
    for node in filter(lambda node: facts.selects(node["name"]), item["nodes"]):
        reasons = [] if node["feasible"] else node["reasons"]
        if reasons != [first[node["name"]]] * bool(first[node["name"]]):
            yield f"{node['name']}: {reasons}, not {first[node['name']]!r}"
    if sorted(item["feasible"]) != sorted(name for name, why in first.items() if not why):
        yield f"feasible: {item['feasible']}"
    counts = sorted(f"{number} {why}" for why, number in Counter(first.values()).items())
    if item["message"] and item["message"] != f"0/{len(first)} nodes are available: {', '.join(counts)}.":
        yield item["message"]


def wrong_constraints(constraints: list[Object], facts: Facts) -> Iterator[str]:
    """Yield the constraints whose domains, minimum or skew are counted otherwise."""
    for constraint in constraints:
        key = constraint["topologyKey"]
        eligible = {each["value"]: each for each in constraint["domains"] if each["eligible"]}
        counted = {name for each in eligible.values() for name in each["nodes"]}
        if {value: each["matching"] for value, each in eligible.items()} != facts.domains(key):
            yield f"{key}: domains {constraint['domains']}"
        if counted != set(facts.counted(key)):
            yield f"{key}: nodes {sorted(counted)}"
        if constraint["globalMinimum"] != facts.minimum(key):
            yield f"{key}: minimum {constraint['globalMinimum']}"
        hard = constraint["whenUnsatisfiable"] == "DoNotSchedule"
        yield from (
            f"{key}: {domain} allowed {each['allowed']}"
            for domain, each in eligible.items()
            if hard and each["allowed"] is _is_closed(domain, key, facts)
        )


def wrong_numbers(text: str, cause: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield the numbers of a sentence about a cause that are none of its numbers, amounts, or numbers of names."""
    known = {str(number) for number in _numbers(cause)}
    yield from (
        f"{number} in {text!r}"
        for number in re.findall(r"(?<![\w.])\d+m?\b", NAME.sub("", text))
        if number not in known
    )


def _numbers(part: Any) -> Iterator[str | int]:  # noqa: ANN401 - any JSON
    if isinstance(part, dict | list):
        yield from range(len(part) + 1)  # Names, of which a sentence has some and counts the rest.
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _numbers(inner)
    else:
        yield from re.findall(r"\d+m?", str(part))
