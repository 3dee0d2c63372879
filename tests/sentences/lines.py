"""What single lines of the commands' texts say in numbers, counted in the cluster, with the replicas placed above them.

Lines that have a number and that no rule here or in ``texts`` reads are found: see ``UNREAD`` for those that are left.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from tests.build import Object
from tests.sentences.grammar import NAMES, NOT_READY, Facts, all_of, named, wrong

Known = Mapping[str, Facts]
"""The workload's name → what there is to count for it."""
Rule = Callable[[re.Match[str], Known, str], bool]
"""What a pattern has read, the cluster, and the whole text → whether it is so."""
HEADER = re.compile(r"^default/(?P<kind>[a-z]+)/(?P<app>web-\d): ", re.MULTILINE)


def section(read: re.Match[str]) -> str:
    """Return the part of the text that is about the same workload."""
    begins = [each.start() for each in HEADER.finditer(read.string)]
    first = max(each for each in begins if each <= read.start())
    return read.string[first : next((each for each in begins if each > first), None)]


def state(read: re.Match[str], known: Known, *, before: str = "") -> Facts | None:
    """Return what there is to count with the replicas placed of which the text says where; None where it does not.

    ``before``: a workload whose replicas are not placed yet. A Pod of a DaemonSet is for one node, a Pod with a volume
    for that volume's zone: which Pod it is, is not said.
    """
    facts, text = about(read, known), read.string
    if (waits := re.search(rf"^({facts.app}-\S+) is Pending: ", text, re.MULTILINE)) is not None:
        return facts.of(waits[1])
    if not re.search(r"^(?:Rollout|Replicas|The scheduler would report): ", text, re.MULTILINE):
        return facts
    # Waiting Pods of a Job that a CronJob made come in too, and no line says where.
    unsaid = facts.kind == "DaemonSet" or facts.zone or "default/cronjob/" in text
    if unsaid or re.search(r"^Replicas: .* more|to be (?:replaced|deleted)", text, re.MULTILINE):
        return None
    apps = [each["app"] for each in HEADER.finditer(text)]
    placed = [
        pod
        for app, part in zip(apps, HEADER.split(text)[3::3], strict=True)
        if app != before
        for pod in _placed(known[app], part)
    ]
    return None if "depending on chance" in section(read) else replace(facts, on=[*facts.on, *placed])


def about(read: re.Match[str], known: Known) -> Facts:
    """Return what there is to count for the workload of the section."""
    header = HEADER.match(section(read))
    assert header is not None
    return known[header["app"]]


def _placed(facts: Facts, text: str) -> Iterator[Object]:
    """Yield the Pods of the workload that the part of a text has placed."""
    told = re.search(r"^Replicas: (.*)$", text, re.MULTILINE)
    for name, n in re.findall(r"([a-d]\d)(?: \((\d+)\))?", told[1] if told else ""):
        pod = {**facts.pod, "spec": {**facts.pod["spec"], "nodeName": name}, "status": {"phase": "Running"}}
        yield from [pod] * int(n or 1)


def _key(read: re.Match[str]) -> str:
    """Return the key of the constraint that the line is about."""
    key: str = re.findall(r"^Constraint \d+: ([^,]+),", read.string[: read.end()], re.MULTILINE)[-1]
    return key


def _sentence(read: re.Match[str], known: Known, _: str) -> bool:
    """Whether the grammar reads the sentence, and all of it is so."""
    facts, said = state(read, known), read["said"]
    if (claimed := re.search(r"claim data-(\S+) is bound", said)) is not None:
        # Which nodes have taken the others is said, and not their zones.
        facts = None if "\nReplicas: " in section(read) else about(read, known).of(claimed[1])
    return facts is None or not list(wrong(_lower(said), facts))


def _lower(sentence: str) -> str:
    """Return a sentence as a summary begins."""
    return re.sub(r"\b(?:Zones?|Nodes?|All)\b", lambda read: read[0].lower(), sentence)


def _finding(read: re.Match[str], known: Known, _: str) -> bool:
    """As for a sentence; findings are about the first replica, before the others are placed."""
    facts = about(read, known)
    others = state(read, known, before=facts.app)
    first = (each for each in (facts, others) if each is not None)
    return any(not list(wrong(read["said"], each)) for each in first) or _sentence(read, known, "")


def _now(read: re.Match[str], known: Known, text: str) -> bool:
    """As for a sentence, about the cluster as it is if nothing is placed or evicted: else it is told of the end."""
    changes = re.search(r"^\d+ +\d+ +web-| The plan counts (?:it|them) as scheduled", text, re.MULTILINE)
    return bool(changes) or not list(wrong(read["said"], known[read["app"]]))


def _constraint(read: re.Match[str], known: Known, _: str) -> bool:
    facts, key = about(read, known), read["key"]
    each = facts.constraint(key)
    said = each["whenUnsatisfiable"], str(each["maxSkew"]), str(each.get("minDomains", 1))
    same = facts.pod["spec"]["topologySpreadConstraints"].index(each) == int(read["i"])
    then = state(read, known) if read["allowed"] or read["none"] else None
    if then is not None and said[0] == "DoNotSchedule":
        domains = then.domains(key)
        itself = each["labelSelector"]["matchLabels"]["app"] == facts.pod["metadata"]["labels"]["app"]
        allowed = sum(number + itself - then.minimum(key) <= each["maxSkew"] for number in domains.values())
        same &= (int(read["allowed"] or 0), int(read["all"] or 0)) == (allowed, len(domains))
    return same and said == (read["when"], read["most"], read["domains"] or said[2])


def _row(read: re.Match[str], known: Known, _: str) -> bool:
    """Whether a row of a constraint's table has the nodes and Pods that are counted, and the skew after one more."""
    facts = state(read, known)
    if facts is None:
        return True
    key, (names, number) = _key(read), named(read["names"])
    counted, domains, each = facts.counted(key), facts.domains(key), facts.constraint(key)
    there = [name for name in facts.nodes if facts.labels(name).get(key) in names]
    here = [name for name in there if name in counted]
    if number > len(names) or len(names) > 1:
        # Domains of one row are alike.
        there = here = []
    least, _, most = read["pods"].partition("..")
    same = all(int(least) <= domains.get(name, 0) <= int(most or least) for name in names)
    if there:
        same &= (int(read["n"]), int(read["of"] or read["n"])) == (len(here), len(there))
    if (would := re.search(r"skew would be (\d+)", read["next"])) is not None:
        itself = each["labelSelector"]["matchLabels"]["app"] == facts.pod["metadata"]["labels"]["app"]
        same &= all(domains[name] + itself - facts.minimum(key) == int(would[1]) for name in names)
    for part in read["next"].removeprefix("no: ").split("; "):
        same &= "cpu" not in part or not list(wrong(f"no: {part}", facts))
    return same


def _minimum(read: re.Match[str], known: Known, _: str) -> bool:
    facts = state(read, known)
    if facts is None:
        return True
    domains, minimum = facts.domains(_key(read)), facts.minimum(_key(read))
    at = [name for name, number in domains.items() if number == minimum]
    which = read["which"].removeprefix("no domain is counted")
    number = re.fullmatch(r"(\d+) domains?", which)
    return int(read["n"]) == minimum and (int(number[1]) == len(at) if number else all_of(which, at))


def _too_few(read: re.Match[str], known: Known, _: str) -> bool:
    facts = state(read, known)
    if facts is None:
        return read["least"] == "0"
    if "own node" in read[0]:
        return read["n"] == "1" and facts.kind == "DaemonSet"
    numbers = 0, facts.constraint(_key(read))["minDomains"], len(facts.domains(_key(read)))
    return tuple(map(int, read.group("least", "asked", "n"))) == numbers


def _passed_over(read: re.Match[str], known: Known, _: str) -> bool:
    facts = about(read, known)
    if facts.kind == "DaemonSet" and "affinity" in read["why"]:
        # One Pod's: all nodes but its own.
        return named(read["names"])[1] < len(facts.nodes)
    having: Callable[[str], bool] = {
        "without": lambda name: read["why"].rpartition(" ")[2] not in facts.labels(name),
        "with": facts.untolerated,
        "outside": lambda name: not facts.selects(name),
    }[read["why"].partition(" ")[0]]
    names, number = named(read["names"])
    return all(map(having, names)) and number <= sum(map(having, facts.nodes))


def _skew(read: re.Match[str], known: Known, _: str) -> bool:
    facts = known[read["app"]].of_all
    keys = re.findall(r"^Constraint \d+: ([^,]+),", read.string[read.end() :], re.MULTILINE)
    return (int(read["n"]), int(read["most"])) == (facts.skew(keys[0]), facts.constraint(keys[0])["maxSkew"])


def _rejected(read: re.Match[str], known: Known, _: str) -> bool:
    facts = state(read, known)
    return named(read["names"])[1] == int(read["n"]) and (facts is None or not list(wrong(read["why"], facts)))


def _on_nodes(read: re.Match[str], known: Known, _: str) -> bool:
    """Whether the nodes are there, and no more replicas are on them than are wanted; a DaemonSet wants one on each."""
    facts, found = about(read, known), re.findall(r"([a-d]\d)(?: \((\d+)\))?", read["names"])
    names = [name for name, _ in found]
    most = max(len(facts.kin), len(facts.nodes))
    return {*names} <= facts.nodes.keys() and sum(int(n or 1) for _, n in found) <= most


def _wait(read: re.Match[str], known: Known, text: str) -> bool:
    facts, (names, number) = next(iter(known.values())), named(read["names"])
    unready = [name for name in facts.nodes if facts.tainted(name, NOT_READY)]
    there = {*names} <= {*unready} and max(number, int(read["any"] or 0)) <= len(unready)
    return there and (not read["n"] or _numbered(read, known, text))


def _unlabelled(read: re.Match[str], known: Known, _: str) -> bool:
    """Whether these nodes lack the label, and so many."""
    facts, (names, number) = about(read, known), named(read["names"])
    lacking = [name for name, node in facts.nodes.items() if read["key"] not in node["metadata"]["labels"]]
    return {*names} <= {*lacking} and number <= len(lacking)


def _numbered(read: re.Match[str], _: Known, text: str) -> bool:
    """Whether the step comes after the one before it, or after the title of the steps."""
    before = text[: read.start()]
    steps = re.split(r"^(?:What to do|No safe fix was found)", before, flags=re.MULTILINE)[-1]
    return int(read["n"]) == len(re.findall(r"^  \d+\. ", steps, re.MULTILINE)) + 1


def _there(read: re.Match[str], known: Known, _: str) -> bool:
    """Whether the nodes are there."""
    names, number = named(read["names"])
    nodes = about(read, known).nodes
    return {*names} <= nodes.keys() and number <= len(nodes)


def _lets_in(read: re.Match[str], known: Known, _: str) -> bool:
    return int(read["n"] or 0) <= int(read["all"] or len(("one", "two"))) <= len(about(read, known).kin)


def _left(read: re.Match[str], known: Known, _: str) -> bool:
    """Whether no more Pods are left than are wanted, and than a rollout creates beside them at a time."""
    wanted = len(about(read, known).kin)
    # The next run of a CronJob comes beside the last one.
    runs = 2 if read.string[: read.start()].rpartition("default/")[2].startswith("cronjob/") else 1
    return 0 < int(read["n"]) <= runs * (wanted + math.ceil(wanted / 4))


def _totals(read: re.Match[str], known: Known, _: str) -> bool:
    return int(read["n"]) == len(known) == sum(map(int, re.findall(r"\d+", read["each"])))


def _daemons(read: re.Match[str], known: Known, _: str) -> bool:
    names, number = named(read["names"])
    return int(read["n"]) == number <= int(read["all"]) <= len(known[read["app"]].nodes) and {*names} <= {
        *known[read["app"]].nodes
    }


def _newly(read: re.Match[str], known: Known, _: str) -> bool:
    waited = sum(not each["spec"].get("nodeName") for facts in known.values() for each in facts.kin)
    return int(read["before"]) <= waited and int(read["n"]) <= int(read["most"] or read["n"])


def _still_pending(read: re.Match[str], known: Known, text: str) -> bool:
    """Whether the reason is so, where all evicted Pods wait: then it is known who is where."""
    if any(int(most) > len(known[app].kin) for most, app in re.findall(r"(\d+) Pods? of \S+/(web-\d)", read["who"])):
        return False
    drained = re.search(
        r"^drain (\S+): (?P<gone>\d+) Pods? (?:is )?evicted, (?P<new>\d+) newly Pending; (?P<before>\d+) ",
        text,
        re.MULTILINE,
    )
    waited = sum(not each["spec"].get("nodeName") for facts in known.values() for each in facts.kin)
    if drained is None or drained["gone"] != drained["new"] or int(drained["before"]) != waited or not read["why"]:
        return True
    # A waiting Pod of a DaemonSet may come to the node; which of several Pods with volumes is meant, is not said.
    if any(each.kind == "DaemonSet" or each.zone for each in known.values()):
        return True
    told = [known[app].drained(drained[1]) for app in re.findall(r"/(web-\d)\b", read["who"])]
    return not any(list(wrong(_lower(read["why"]), facts)) for facts in told)


def _blocked(read: re.Match[str], _: Known, text: str) -> bool:
    named_so = ", ".join(re.findall(r"^Blocked: (.*?): The disruption budget", text, re.MULTILINE))
    return int(read["n"]) == len(re.findall(r"default/web-\d-[\w-]+", named_so)) or " more" in named_so


def _counts_of_domains(read: re.Match[str], known: Known, _: str) -> bool:
    """Whether as many domains as are said have each number of Pods, where the skew is the same before and after."""
    facts, key = known[read["app"]].of_all, read["key"]
    found = {int(pods): int(n) for pods, n in re.findall(r"(\d+)×(\d+)", read["domains"])}
    number = sum(found.values()) == len(facts.domains(key))
    return number and int(read["most"]) == facts.constraint(key)["maxSkew"]


def _eviction(read: re.Match[str], known: Known, text: str) -> bool:
    on = {each["metadata"]["name"]: each["spec"].get("nodeName") for facts in known.values() for each in facts.kin}
    nodes = next(iter(known.values())).nodes
    before = len(re.findall(r"^\d+ +\d+ +web-\S+ +[a-d]\d ", text[: read.start()], re.MULTILINE))
    order = int(read["order"]) == before + 1 >= int(read["wave"])
    return order and on[read["pod"]] == read["node"] and {*named(read["lands"])[0]} <= nodes.keys()


def _ghosts(read: re.Match[str], known: Known, _: str) -> bool:
    more, names = re.search(r" and (\d+) more$", read["names"]), re.findall(r"web-\d-[\w-]+", read["names"])
    return len(names) + int(more[1] if more else 0) == len(about(read, known).kin)


def _too_few_to_balance(read: re.Match[str], known: Known, _: str) -> bool:
    facts = known[read["app"]].of_all
    asked = facts.constraint(read["key"])["minDomains"]
    return (int(read["n"]), int(read["asked"])) == (len(facts.domains(read["key"])), asked)


def _stay(read: re.Match[str], known: Known, _: str) -> bool:
    facts = known[read["app"]].of_all
    domains, at = facts.domains(read["key"]), read["domain"]
    beyond = [name for name, n in domains.items() if n > facts.minimum(read["key"]) + 0]
    return at in beyond and int(read["n"]) < sum(domains[name] for name in beyond)


NUMBERS = r"(?P<domains>(?:\d+×\d+ ?)+|<none>)(?:→ (?:(?:\d+×\d+ ?)+|\d+ domains, \d+\.\.\d+))?$"
EITHER = ("show", "check")
LINES: Sequence[tuple[Sequence[str], str, Rule]] = (
    (
        EITHER,
        (
            r"^Constraint (?P<i>\d+): (?P<key>\S+), (?P<when>\w+), maxSkew (?P<most>\d+)"
            r"(?:, minDomains (?P<domains>\d+))?(?:: (?P<none>counts no domain)\.|, .*|"
            r": allows a Pod in (?P<allowed>\d+) of (?P<all>\d+) domains?\.)$"
        ),
        _constraint,
    ),
    (
        EITHER,
        (
            rf"^{NAMES} +(?P<n>\d+)(?: of (?P<of>\d+))? +(?P<pods>\d+(?:\.\.\d+)?)(?: each)? +(?:\d+|-) +"
            r"(?P<next>yes|no: .*|not counted)$"
        ),
        _row,
    ),
    (EITHER, r"^Minimum: (?P<n>\d+) \((?P<which>.*)\)\.$", _minimum),
    (
        EITHER,
        (
            r"^Minimum: (?P<least>\d+), because minDomains requires (?P<asked>\d+) domains and only (?P<n>\d+)"
            r" counts?\.(?: Each Pod counts only its own node\.)?$"
        ),
        _too_few,
    ),
    (EITHER, rf"^Not counted: {NAMES}, (?P<why>.*)\.$", _passed_over),
    (EITHER, r"^\w+ \((?:error|warning|info)\): (?P<said>.*)$", _finding),
    (("show",), rf"{HEADER.pattern}(?:Violated|Uneven): skew (?P<n>\d+), maxSkew (?P<most>\d+).*$", _skew),
    (("show",), rf"{HEADER.pattern}(?P<said>(?!Violated|Uneven|NoEffect).*)$", _sentence),
    (("check",), rf"{HEADER.pattern}unchanged: \d+ Pods? stays? Pending\. (?P<said>.*)$", _sentence),
    (
        ("check",),
        (
            rf"{HEADER.pattern}(?:.*Otherwise: )?(?:replica \d+ of \d+ cannot be scheduled|not schedulable)\. "
            r"(?P<said>.*)$"
        ),
        _sentence,
    ),
    (
        ("check",),
        rf"{HEADER.pattern}(?P<n>\d+) of (?P<all>\d+) nodes cannot take their Pod \({NAMES}\)\. .*$",
        _daemons,
    ),
    (("check",), r"^The scheduler would report: (?P<said>.*)$", _sentence),
    (("check",), rf"^(?P<n>\d+): {NAMES} +(?:[A-Z]\w+(?:, )?)+ +(?P<why>\S.*)$", _rejected),
    (("check",), r"^Replicas: (?P<names>.*)$", _on_nodes),
    (
        ("check", "rebalance"),
        (
            r"^(?:  Not proposed: tolerating the taints? of|  (?P<n>\d+)\. Wait for|Wait for)"
            rf" (?:any of (?P<any>\d+) nodes, such as )?{NAMES},?(?: to recover)? \(not ready"
        ),
        _wait,
    ),
    (("show",), rf"^web-\S+ is Pending: it can go to {NAMES}\.$", _there),
    (("check",), r"^  (?P<n>\d+)\. (?=[A-Z])", _numbered),
    (("check",), rf"^  \d+\. Set (?P<key>\S+) on {NAMES} to where (?:it is|each of them is): .*$", _unlabelled),
    (("rebalance",), r"^\w+: default/\S+/(?P<app>web-\d), \S+: [a-d]\d? takes no more Pods: (?P<said>.*)$", _now),
    (("check",), rf"{HEADER.pattern}it can be scheduled now, on {NAMES}\.$", _there),
    (
        ("check",),
        r" Then (?:(?:(?P<n>\d+) of |all )(?P<all>\d+)|both) replicas without a node can be scheduled, ",
        _lets_in,
    ),
    (("check",), r"In the end, (?:up to )?(?P<n>\d+) Pods? (?:still|may still) ha(?:s|ve) no node", _left),
    (("check",), r"^(?P<n>\d+) Pod templates: (?P<each>.*)\.$", _totals),
    (
        ("simulate",),
        (
            r"(?:,|:) (?P<n>\d+)(?: to (?P<most>\d+))? (?:newly )?Pending(?:; | \()(?P<before>\d+)"
            r" (?:(?:was|were) Pending )?before\)?\.$"
        ),
        _newly,
    ),
    (
        ("simulate",),
        (
            r"^(?P<who>\d+ (?:to \d+ )?Pods? of default/.*?) (?:is|are) Pending"
            r"(?:\. (?P<why>.*)| in some random orders\.)$"
        ),
        _still_pending,
    ),
    (("simulate",), r"(?:: |, )(?P<n>\d+) Pods? blocked, ", _blocked),
    (
        ("simulate", "rebalance"),
        rf"^[a-z]+/(?P<app>web-\d) +(?P<key>\S+/\S+) +(?:\w+ +)?(?P<most>\d+) +\d+(?:→\S+)? +.*? {NUMBERS}",
        _counts_of_domains,
    ),
    (
        ("rebalance",),
        rf"^(?P<order>\d+) +(?P<wave>\d+) +(?P<pod>web-\S+) +(?P<node>[a-d]\d) +(?P<lands>{NAMES}.*)$",
        _eviction,
    ),
    (("show",), r"^Ghost Pods, which their own constraint does not count: (?P<names>.*)\.$", _ghosts),
    (
        ("rebalance",),
        (
            r"^\w+: default/\S+/(?P<app>web-\d), (?P<key>\S+): there (?:is|are) only (?P<n>\d+) of the (?P<asked>\d+)"
            r" domains that minDomains requires"
        ),
        _too_few_to_balance,
    ),
    (
        ("rebalance",),
        (
            r"^\w+: default/\S+/(?P<app>web-\d), (?P<key>\S+): \S+ in (?P<domain>\S+) stays: .*; (?P<n>\d+) more stays?"
            r"(?: for the same reason|, some for other reasons)"
        ),
        _stay,
    ),
)
UNREAD: Mapping[str, str] = {
    r"^(?:  \d+\. )?Add a node like .*$": "which nodes are alike is told by the tests of fixes",
    r"^Some nodes are equal, so the scheduler may use one for the other: .*$": "as the tests of check tell",
    r"^Not counted: the same nodes as for constraint \d+\.$": "the lines of that constraint name them",
    r"^Headroom: .*$": "how many more find a node is tried by the soak of next Pods",
    r"ranges show \d+ simulations|^A range such as .*$": "orders are no part of the cluster",
    r"\b\d+ more with --all-fixes\)|^(?:  )?\d+ fix(?:es)? (?:changes? what|would (?:replace|end|lose)) .*$": (
        "fixes are counted by their own tests"
    ),
    r"^(?:  )?Not proposed: (?:lower minDomains|raise maxSkew) to \d+.*$": "as for fixes",
    r"^(?:  )?Not proposed: deleting \S+ on \S+ or \d+ more \(": "which Pods stay is told by their own tests",
    r"For the rest, see \d\.": "fixes of the list above",
    r"^  \d+\. [\w+]+: .*?(?=\. (?:Then|In the end|Ask its owner)|$)": "as for fixes",
    r"^In other random orders .*$": "in another order of chance a Pod goes elsewhere",
    r"^  \d+\. [\w+]+: .*?\. Then this (?:Pending )?Pod can go to (?:\d+ nodes|\S+)": (
        "the soak of fixes tries what a fix writes"
    ),
    r"^  \d+\. [\w+]+: .*?, the first on (?:one of \d+ nodes|\S+)": "as for what a fix writes",
    r"^     ?.*$": "lines of a manifest",
    r"^ +(?:echo '|kubectl patch ).*$": "a command",
    r"^Fix this first, then plan again: .*$": "what a fix writes is tried by the soak of fixes",
    r"^Constraint \d+ (?:is|may be) Violated in the end.*$": "how a rollout ends is simulated by its own tests",
    r"skew is always 0": "there is one domain, or each Pod sees only its own node",
    r"^default/\S+: replica \d+ (?:to \d+ )?of \d+ (?:may not be schedulable|cannot be scheduled), depending on .*$": (
        "in another order of chance other replicas are placed"
    ),
}
"""Pattern of what holds a number in a line that no rule counts → why."""
