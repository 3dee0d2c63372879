"""A plan as a POSIX shell script that evicts, waits, and stops at the first surprise."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import chain, groupby

from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.report import Metadata
from kubectl_spread.diagnosis.fixes.shell import eviction_of, eviction_path
from kubectl_spread.diagnosis.planned_evictions import PlannedEviction
from kubectl_spread.errors import UsageError
from kubectl_spread.objects.core import Node
from kubectl_spread.rebalance.checkpoints import Checkpoints, CountedDomains
from kubectl_spread.render.cells import clean
from kubectl_spread.render.outline.access import commands_note
from kubectl_spread.render.outline.rebalance import reasons_of, sentence_of
from kubectl_spread.wording import rebalance as wording
from kubectl_spread.wording.incomplete import entries
from kubectl_spread.wording.words import capital_sentence

LIMITS = """\
WAIT_SECONDS=${WAIT_SECONDS:-600} # at most, for a Pod to be Ready, or gone
RETRY_SECONDS=${RETRY_SECONDS:-300} # at most, for a disruption budget to allow an eviction"""

# A line for each node, as ``_node`` makes it.
NODE = (
    "{{range .items}}{{.metadata.name}} {{if .spec.unschedulable}}cordoned{{else}}open{{end}}"
    ' Ready={{range .status.conditions}}{{if eq .type "Ready"}}{{.status}}{{end}}{{end}}'
    "{{range .spec.taints}} {{.key}}={{.value}}:{{.effect}}{{end}}LABELS\n{{end}}"
)
WHICH_SERVER = '"${SERVER:?set it to the URL of the API server}"'


def script_text(report: RebalanceReport, checkpoints: Checkpoints) -> str:
    """Return the plan as a script, which can be run again and goes on where it stopped; UsageError without UIDs."""
    uids = *(each.uid for each in report.evictions), *chain(*checkpoints.scheduled.values())
    if report.evictions and not all(uids):
        raise UsageError("--script needs the UIDs of Pods, and the files hold none", hint="read the cluster itself")
    lines = ["#!/bin/sh", *_comments(report)]
    if report.evictions:
        functions = files(__package__).joinpath("rebalance.sh").read_text(encoding="utf-8")
        lines += ["set -eu", *_connection(report.metadata), LIMITS, "", functions.rstrip()]
        lines += [line for at, each in enumerate(checkpoints.counted) for line in _domains(at, each)]
        lines += [*_nodes(checkpoints), ""]
        if "--server" not in report.metadata.connection_flags:
            access = report.metadata.access
            server = report.metadata.server or (access.server if access else "")
            # Where files name no server, whoever runs the script does.
            lines.append(f"check_server {shlex.quote(server) if server else WHICH_SERVER}")
        for namespace, uids in checkpoints.scheduled.items():
            lines.append(f"wait_scheduled {shlex.join((namespace, *uids))}")
        lines += _steps(report, checkpoints)
    return "\n".join((*lines, ""))


def _comments(report: RebalanceReport) -> Iterator[str]:
    yield f"# {sentence_of(report)}"
    if report.evictions:
        yield from (f"# {line}" for line in wording.SCRIPT_NOTES)
    if isinstance(report.schedulable, int):
        yield f"# {wording.wait_first(report.schedulable)}"
    notes = map(capital_sentence, map(wording.plan_note_text, report.notes))
    for line in (*notes, *reasons_of(report), *map(str, entries(report.incomplete))):
        yield clean(f"# {line}")


def _connection(metadata: Metadata) -> Iterator[str]:
    """Yield what asks the API server: with the flags that were given, and the context even where it is the current."""
    if note := commands_note(metadata):
        yield clean(f"# {note}")
    flags, context = metadata.connection_flags, metadata.access.context if metadata.access else ""
    if context and "--context" not in flags:
        flags = ("--context", context, *flags)
    yield f'ask() {{ {shlex.join(("kubectl", *flags))} "$@"; }}'


def _domains(at: int, counted: CountedDomains) -> Iterator[str]:
    words = [
        *(f"start ={domain} {pods}" for domain, pods in counted.start.items()),
        *(f"node {name} ={domain}" for name, domain in counted.place.items()),
    ]
    yield ""
    yield f"domains_{at}() {{"
    yield f"  printf '%s\\n' {shlex.join(words)}"
    yield "}"


def _nodes(checkpoints: Checkpoints) -> Iterator[str]:
    """Yield how the nodes of the plan were, and how kubectl prints the same of each node."""
    label = " {{with .metadata.labels}}{{with index . KEY}}={{.}}{{end}}{{end}}"
    labels = "".join(label.replace("KEY", json.dumps(key)) for key in checkpoints.keys)
    yield ""
    yield f"NODE={shlex.quote(NODE.replace('LABELS', labels))}"
    yield "planned_nodes() {"
    yield f"  printf '%s\\n' {shlex.join(_node(each, checkpoints.keys) for each in checkpoints.nodes)}"
    yield "}"


def _node(node: Node, keys: Sequence[str]) -> str:
    ready = next((each.status for each in node.status.conditions if each.type == "Ready"), "")
    labels = (f" ={node.metadata.labels[key]}" if node.metadata.labels.get(key) else " " for key in keys)
    taints = (f" {each.key}={each.value}:{each.effect}" for each in node.spec.taints)
    cordoned = "cordoned" if node.spec.unschedulable else "open"
    return f"{node.metadata.name} {cordoned} Ready={ready}{''.join(taints)}{''.join(labels)}"


def _steps(report: RebalanceReport, checkpoints: Checkpoints) -> Iterator[str]:
    planned = zip(report.evictions, checkpoints.awaited, checkpoints.budgets, strict=True)
    done, before = 0, 0
    for _, group in groupby(enumerate(planned), key=_step_of):
        made = [each for _, each in group]
        evictions = [each for each, *_ in made]
        if evictions[0].wave > 1 and evictions[0].wave != report.evictions[done - 1].wave:
            yield ""
            yield f"# Wave {evictions[0].wave}"
            yield from (f"wait_gone {_pod(gone)}" for gone in report.evictions[before:done])
            before = done
        yield ""
        for each in evictions:
            yield clean(f"# {each.order}: {each.pod} of {each.workload} on {each.node}, to {', '.join(each.lands)}")
        if len(evictions) > 1:
            yield f"# {capital_sentence(wording.together(len(evictions)))}"
        yield f"if are_there {' '.join(map(_pod, evictions))}; then"
        yield from (f"  {line}" for line in _checks(checkpoints, done))
        yield from (f"  allows {shlex.join((*budget, str(pods)))}" for budget, pods in made[0][2].items())
        yield "fi"
        for each in evictions:
            name, path = f"{each.namespace}/{each.pod}", eviction_path(each.namespace, each.pod)
            evict = shlex.join((name, path, eviction_of(each.namespace, each.pod, each.uid)))
            yield f"if is_there {_pod(each)}; then evict {evict}; fi"
        done += len(evictions)
        ends = {(each.namespace, awaited.controller): awaited for each, awaited, _ in made}
        for (namespace, controller), awaited in ends.items():
            words = (namespace, "/".join(controller), str(awaited.ready), *awaited.apart_from)
            yield f"wait_ready {shlex.join(words)}"
    yield ""
    yield from _checks(checkpoints, len(report.evictions), nodes=False)
    yield f"echo {shlex.quote(wording.SCRIPT_DONE)}"


def _step_of(numbered: tuple[int, tuple[PlannedEviction, object, object]]) -> tuple[bool, int]:
    number, (eviction, *_) = numbered
    return (True, eviction.wave) if eviction.together is True else (False, number)


def _pod(eviction: PlannedEviction) -> str:
    return shlex.join((eviction.namespace, eviction.pod, eviction.uid))


def _checks(checkpoints: Checkpoints, done: int, *, nodes: bool = True) -> Iterator[str]:
    if nodes:
        yield "check_nodes"
    for at, each in enumerate(checkpoints.counted):
        selector = ",".join(map(str, each.selector.requirements))
        now: Mapping[str, tuple[int, int]] = each.ends[done - 1] if done else {}
        counts = (f"now ={domain} {least} {most}" for domain, (least, most) in now.items())
        yield f"check_counts {shlex.join((each.namespace, selector, each.topology_key, f'domains_{at}', *counts))}"
