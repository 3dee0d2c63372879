"""A plan as a POSIX shell script that evicts, waits, and stops at the first surprise."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import chain

from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.report import Metadata
from kubectl_spread.diagnosis.planned_evictions import PlannedEviction, eviction_of, eviction_path
from kubectl_spread.errors import UsageError
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
        lines += [line for at, each in enumerate(checkpoints.counted) for line in _domains(at, each)] + [""]
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


def _steps(report: RebalanceReport, checkpoints: Checkpoints) -> Iterator[str]:
    wave: list[PlannedEviction] = []
    for at, (each, awaited) in enumerate(zip(report.evictions, checkpoints.awaited, strict=True)):
        if wave and wave[0].wave != each.wave:
            yield ""
            yield f"# Wave {each.wave}"
            yield from (f"wait_gone {_pod(gone)}" for gone in wave)
            wave = []
        wave.append(each)
        yield ""
        yield clean(f"# {each.order}: {each.pod} of {each.workload} on {each.node}, to {', '.join(each.lands)}")
        yield f"if is_there {_pod(each)}; then"
        yield from (f"  {line}" for line in _checks(checkpoints, at))
        name, path = f"{each.namespace}/{each.pod}", eviction_path(each.namespace, each.pod)
        yield f"  evict {shlex.join((name, path, eviction_of(each.namespace, each.pod, each.uid)))}"
        yield "fi"
        words = (each.namespace, "/".join(awaited.controller), str(awaited.ready), *awaited.apart_from)
        yield f"wait_ready {shlex.join(words)}"
    yield ""
    yield from _checks(checkpoints, len(report.evictions))
    yield f"echo {shlex.quote(wording.SCRIPT_DONE)}"


def _pod(eviction: PlannedEviction) -> str:
    return shlex.join((eviction.namespace, eviction.pod, eviction.uid))


def _checks(checkpoints: Checkpoints, done: int) -> Iterator[str]:
    for at, each in enumerate(checkpoints.counted):
        selector = ",".join(map(str, each.selector.requirements))
        now: Mapping[str, tuple[int, int]] = each.ends[done - 1] if done else {}
        counts = (f"now ={domain} {least} {most}" for domain, (least, most) in now.items())
        yield f"check_counts {shlex.join((each.namespace, selector, each.topology_key, f'domains_{at}', *counts))}"
