"""The text of ``show``, ``rebalance``, ``simulate`` and ``check``, read back and counted in the objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.program import spread as run
from tests.sentences.clusters import KINDS, cluster
from tests.sentences.grammar import NAME, Facts
from tests.sentences.lines import LINES, UNREAD, Known, Rule


def misread_texts(seed: int) -> Iterator[str]:
    """Yield the lines of commands about the seed's cluster that are not so."""
    for command, text, known in texts(seed):
        yield from (f"seed {seed}: {command}: not so: {line!r}" for line in not_so(command, text, known))


def texts(seed: int) -> Iterator[tuple[str, str, Known]]:
    """Yield each command, its text about the seed's cluster, and what there is to count."""
    objects = cluster(seed)
    # A Job of a CronJob and a ReplicaSet of a Deployment have an owner.
    makers = [each for each in objects if each["kind"] in KINDS and not each["metadata"]["ownerReferences"]]
    known = {each["metadata"]["name"]: Facts.about(objects, each["metadata"]["name"]) for each in makers}
    first = next(each["metadata"]["name"] for each in objects if each["kind"] == "Node")
    with TemporaryDirectory() as folder:
        source, manifest = Path(folder, "cluster.json"), Path(folder, "manifest.json")
        for path, items in ((source, objects), (manifest, makers)):
            path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*items]}), encoding="utf-8")
        for words in (["show", *known], ["rebalance"], ["simulate", "--drain", first], ["check", "-f", str(manifest)]):
            text = run(*words, "--from", str(source)).stdout
            yield words[0], text.replace(f"{folder}/", ""), known


def not_so(command: str, text: str, known: Known) -> Iterator[str]:
    """Yield what a rule of the command reads and is not so, and lines with a number that none reads."""
    spans = [read.span() for pattern in UNREAD for read in re.finditer(pattern, text, re.MULTILINE)]
    for pattern, rule in RULES[command]:
        for read in re.finditer(pattern, text, re.MULTILINE):
            spans.append(read.span("rows" if "rows" in read.groupdict() else 0))
            if not rule(read, known, text):
                yield read[0]
    left = [*text]
    for first, end in spans:
        left[first:end] = (char if char == "\n" else " " for char in left[first:end])
    yield from (
        f"no rule reads {line!r}" for line in "".join(left).splitlines() if re.search(r"\d", NAME.sub("", line))
    )


def _domains(text: str) -> dict[str, int]:
    """Return domain → Pods of ``a:2→1 b:0 others(3):1``, as they were before."""
    return {name: int(number) for name, number in re.findall(r"(\S+?):(\d+)", text) if not name.startswith("others")}


def _row(read: re.Match[str], known: Known, _: str) -> bool:
    facts, key = known[read["app"]].of_all, read["key"]
    domains, constraint, skew = facts.domains(key), facts.constraint(key), facts.skew(key)
    # Of many domains the text has those that change.
    same = _domains(read["domains"]).items() <= domains.items()
    return same and (int(read["skew"]), int(read["most"])) == (skew, constraint["maxSkew"])


def _violated(known: Known, when: str = "DoNotSchedule") -> int:
    """Return how many such constraints (count) have a skew beyond maxSkew."""
    found = 0
    for facts in known.values():
        for each in facts.pod["spec"]["topologySpreadConstraints"]:
            meant = each["whenUnsatisfiable"] == when and facts.kind != "DaemonSet"
            found += meant and facts.skew(each["topologyKey"]) > each["maxSkew"]
    return found


def _evictions(read: re.Match[str], known: Known, text: str) -> bool:
    rows = re.findall(r"^\d+ +\d+ +web-\S+ +[a-d]\d ", text, re.MULTILINE)
    partly = re.findall(r"^[a-z]+/web-\d .* Partial ", text, re.MULTILINE)
    others = int(read["others"] or len(partly)) == len(partly)
    return others and int(read["n"]) == len(rows) and int(read["all"] or read["some"]) == _violated(known)


def _waiting(facts: Facts) -> int:
    return sum(not each["spec"].get("nodeName") for each in facts.kin)


def _wait(read: re.Match[str], known: Known, text: str) -> bool:
    waiting = sum(_waiting(known[app]) for app in re.findall(r"/(web-\d)\b", read["who"]))
    first = re.search(r"^(\d+) Pending Pods? can be scheduled now", text, re.MULTILINE)
    return waiting - (int(first[1]) if first else 0) <= int(read["n"]) <= waiting


def _first(read: re.Match[str], known: Known, _: str) -> bool:
    return 0 < int(read["n"]) <= sum(map(_waiting, known.values()))


def _evicted(read: re.Match[str], known: Known, text: str) -> bool:
    moved = [each for facts in known.values() if facts.kind != "DaemonSet" for each in facts.kin]
    gone = [each for each in moved if each["spec"].get("nodeName") == read["node"]]
    named = re.search(r"^Evicted: (.*)\.$", text, re.MULTILINE)
    names = re.findall(r"(?<![\w/-])(web-\d-[\d-]+)\b", named[1]) if named else []
    stay = re.search(r", (\d+) Pods? blocked", text)
    number = int(read["n"].replace("no", "0"))
    whole = len(names) == number or (named is not None and "more" in named[1])
    return number + int(stay[1] if stay else 0) == len(gone) and whole


def _pending(read: re.Match[str], _: Known, text: str) -> bool:
    """Whether the lines below, one for each workload, add up to the headline's number."""
    below = [
        sum(int(n or 0) for n in each) for each in _columns(rf"\b{_RANGE} Pods? of default/\S+(?= .*\bPending)", text)
    ]
    least, most = int(read["n"]), int(read["most"] or read["n"])
    # In one order one workload gets the room, in another another.
    return below[0] <= least and most <= below[1] and (least == below[0] or least < most)


def _columns(pattern: str, text: str) -> tuple[list[str], list[str]]:
    """Return the least and the most of each range that the pattern finds."""
    found = [(n, most or n) for n, most in re.findall(pattern, text, re.MULTILINE)]
    return [n for n, _ in found], [most for _, most in found]


def _all(read: re.Match[str], known: Known, _: str) -> bool:
    facts = known[read["app"]]
    if facts.kind == "DaemonSet":
        there = {each["spec"].get("nodeName") for each in facts.kin} if read["what"] == "new Pods" else set()
        return int(read["n"]) == sum(not facts.untolerated(name) for name in facts.nodes.keys() - there)
    return int(read["n"]) == (len(facts.kin) if read["what"] == "replicas" else _waiting(facts))


def _of(read: re.Match[str], known: Known, _: str) -> bool:
    return int(read["n"]) <= int(read["all"]) == len(known[read["app"]].kin)


def _stay(read: re.Match[str], known: Known, _: str) -> bool:
    return int(read["n"]) <= _waiting(known[read["app"]])


def _there(read: re.Match[str], known: Known, _: str) -> bool:
    placed = re.search(r"^Replicas: (.*)$", read[0], re.MULTILINE)
    nodes = sum(int(n or 1) for n in re.findall(r"[a-d]\d(?: \((\d+)\))?", placed[1])) if placed else 0
    facts = known[read["app"]]
    return int(read["n"]) == len(facts.kin) and nodes <= _waiting(facts)


def _counted(read: re.Match[str], known: Known, text: str) -> bool:
    """Whether the table of a constraint has as many nodes, and Pods, as are counted in each of its domains."""
    facts, key = known[read["app"]], read["key"]
    if (waits := re.search(rf"^({read['app']}-\S+) is Pending: ", text, re.MULTILINE)) is not None:
        facts = facts.of(waits[1])
    rows = re.findall(r"^([a-d]\d?) +(\d+)(?: of (\d+))? +(\d+) +(?:\d+|-) ", read["rows"], re.MULTILINE)
    counted, domains = facts.counted(key), facts.domains(key)
    found = True
    for domain, nodes, of, pods in rows:
        there = [name for name in facts.nodes if facts.labels(name).get(key) == domain]
        here = [name for name in there if name in counted]
        found &= (int(nodes), int(of or nodes), int(pods)) == (len(here), len(there), domains.get(domain, 0))
    return found


_ROW = (
    r"^[a-z]+/(?P<app>web-\d) +(?P<key>\S+/\S+) +(?:\w+ +)?(?P<most>\d+) +(?P<skew>\d+)(?:→\S+)? +[A-Z].*?"
    r"(?P<domains>(?:\S+:\d\S* ?)+)$"
)
_RANGE = r"(\d+)(?: to (\d+))?"
_MANIFEST = r"^default/[a-z]+/(?P<app>web-\d): "
_WHOLE: Mapping[str, Sequence[tuple[str, Rule]]] = {
    "show": (
        (
            (
                r"^default/[a-z]+/(?P<app>web-\d): .*\nConstraint \d+: (?P<key>\S+), .*\n"
                r"(?P<rows>(?:(?!Constraint).*\n)*?)Minimum: "
            ),
            _counted,
        ),
    ),
    "rebalance": (
        (
            r"^(?P<n>\d+) uneven constraints? (?:is|are) only preferred: ",
            lambda read, known, _: int(read["n"]) == _violated(known, "ScheduleAnyway"),
        ),
        (
            (
                r"^(?P<n>\d+) evictions? (?:balance|improve)s? (?P<some>\d+)(?: of (?P<all>\d+))? violated"
                r"(?: constraints? and improves? (?P<others>\d+) others?\.)?"
            ),
            _evictions,
        ),
        (r"^No eviction is planned for (?P<n>\d+) violated", lambda read, known, _: int(read["n"]) == _violated(known)),
        (
            r"^No eviction is needed: (?P<n>\d+) constraints? (?:is|are) satisfied once",
            lambda read, known, _: int(read["n"]) == _violated(known),
        ),
        (r"^(?P<n>\d+) Pods? of (?P<who>.*) waits? for a node", _wait),
        (r"^(?P<n>\d+) Pending Pods? can be scheduled now: wait until", _first),
        (_ROW, _row),
    ),
    "simulate": (
        (r"^drain (?P<node>\S+): (?P<n>\d+|no) Pods? (?:is )?evicted", _evicted),
        (r"^drain \S+: (?:.*, )?(?P<n>\d+)(?: to (?P<most>\d+))? (?:newly )?Pending(?: \(\d+ before\))?\.$", _pending),
        (_ROW, _row),
    ),
    "check": (
        (rf"{_MANIFEST}all (?P<n>\d+) (?P<what>replicas|new Pods) can be scheduled", _all),
        (rf"{_MANIFEST}replica (?P<n>\d+)(?: to \d+)? of (?P<all>\d+) cannot be scheduled", _of),
        (rf"{_MANIFEST}unchanged: (?P<n>\d+) Pods? stays? Pending", _stay),
        (rf"{_MANIFEST}.*\nRollout: \w+, (?P<n>\d+) Pods? exists?\b.*(?:\nReplicas: .*)?$", _there),
    ),
}
RULES: Mapping[str, Sequence[tuple[str, Rule]]] = {
    command: (*rules, *((pattern, rule) for commands, pattern, rule in LINES if command in commands))
    for command, rules in _WHOLE.items()
}
