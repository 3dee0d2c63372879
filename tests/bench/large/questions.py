"""What is asked of the large cluster, and what an answer may cost beside the bare read of all its Pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from tests.bench.large.pending import NAMESPACE, ON_ALL_NODES, ON_FEW_NODES
from tests.bench.measuring import Measured

TEAM, DEPLOYMENT = "team-10", "app-0120"
MANIFEST = "MANIFEST"  # Among the arguments, what stands for the file with a Deployment that the cluster does not have
IN_A_RACK = "MANIFEST-IN-A-RACK"  # The same of one that the nodes of one rack would have to take, and have no room for
BARE_READ = "bare read of all Pods (R)"
ANSWERS = frozenset((0, 1, 3))  # The codes the program ends with when it has answered


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question to the program."""

    name: str  # what is asked
    arguments: tuple[str, ...]  # of the program
    time: float  # how often the time of the bare read it may take
    memory: float  # how much it may have resident (MiB)
    read: float = inf  # which part of the bytes of the bare read it may read


QUESTIONS = (
    Question(
        name="why-pending POD, one rack",
        arguments=("why-pending", ON_FEW_NODES, "-n", NAMESPACE),
        time=0.30,
        memory=220,
        read=0.20,
    ),
    Question(
        name="why-pending POD, any node",
        arguments=("why-pending", ON_ALL_NODES, "-n", NAMESPACE),
        time=1.0,
        memory=300,
    ),
    Question(name="why-pending -A", arguments=("why-pending", "-A"), time=1.35, memory=320),
    Question(name="show -A", arguments=("show", "-A"), time=1.35, memory=320),
    Question(name="audit -A", arguments=("audit", "-A"), time=1.35, memory=320),
    Question(name="check -f", arguments=("check", "-f", MANIFEST, "-n", TEAM), time=1.1, memory=300),
    Question(
        name="check -f, one rack",
        arguments=("check", "-f", IN_A_RACK, "-n", TEAM),
        time=0.30,
        memory=220,
        read=0.20,
    ),
    Question(
        name="show TYPE/NAME",
        arguments=("show", f"deployment/{DEPLOYMENT}", "-n", TEAM),
        time=0.15,
        memory=150,
        read=0.20,
    ),
    Question(name="show -n", arguments=("show", "-n", TEAM), time=0.30, memory=200, read=0.20),
)

_READ_MB = re.compile(r"^read .*: ([\d,]+\.\d) MB in ", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What an answer took, beside the bare read, and what of it was more than it may be."""

    measured: Measured  # what was measured
    time: float  # as a multiple of the bare read's
    read_mb: float | None  # how much was read (MB, unpacked); None where nobody says
    exceeded: tuple[str, ...] | None = None  # the budgets that it does not keep; None where there are none


def read_mb(said: str) -> float | None:
    """Return how much was read (MB) by what a program said on stderr; None where it said nothing of it."""
    found = _READ_MB.findall(said)
    return sum(float(each.replace(",", "")) for each in found) if found else None


def costs(measured: Sequence[Measured]) -> Iterator[Cost]:
    """Yield the cost of each command, the first of which is the bare read."""
    bare = measured[0]
    questions: Mapping[str, Question] = {question.name: question for question in QUESTIONS}
    bare_mb = read_mb(bare.said) or inf
    for each in measured:
        time, read = each.seconds / bare.seconds, read_mb(each.said)
        asked = questions.get(each.name)
        exceeded = _exceeded(asked, each, time=time, read=(read or 0) / bare_mb) if asked else None
        yield Cost(measured=each, time=time, read_mb=read, exceeded=exceeded)


def _exceeded(asked: Question, measured: Measured, *, time: float, read: float) -> tuple[str, ...]:
    """Return the budgets that an answer does not keep."""
    held = {"time": time <= asked.time, "memory": measured.memory <= asked.memory, "read": read <= asked.read}
    return tuple(name for name, is_held in held.items() if not is_held)


def table(measured: Sequence[Measured]) -> str:
    """Return what was measured, a line for each command, in columns."""
    budgets = {question.name: _budget(question) for question in QUESTIONS}
    rows = [_row(cost, budgets.get(cost.measured.name, "")) for cost in costs(measured)]
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    lines = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in (_HEADINGS, *rows)]
    return "".join(f"{'  '.join(line).rstrip()}\n" for line in lines)


_HEADINGS = ("QUESTION", "SECONDS", "OF R", "CPU S", "MIB", "READ MB", "BUDGET", "HELD")


def _row(cost: Cost, budget: str) -> tuple[str, ...]:
    """Return the cells of a line."""
    measured = cost.measured
    held = "" if cost.exceeded is None else f"no: {', '.join(cost.exceeded)}" if cost.exceeded else "yes"
    figures = (f"{measured.seconds:.2f}", f"{cost.time:.2f}", f"{measured.cpu_seconds:.2f}", f"{measured.memory:.0f}")
    return measured.name, *figures, "" if cost.read_mb is None else f"{cost.read_mb:.0f}", budget, held


def _budget(question: Question) -> str:
    """Return what a question may cost, in one cell."""
    read = "" if question.read == inf else f", {question.read:.0%} of bytes"
    return f"{question.time:.2f} R, {question.memory:.0f} MiB{read}"
