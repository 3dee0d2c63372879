"""An entry of the reference behind ``explain``, and the rules that give a conclusion its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

import msgspec

DOCUMENTATION = "https://kubernetes.io/docs/concepts"
SPREAD = f"{DOCUMENTATION}/scheduling-eviction/topology-spread-constraints/"

DEFINITION = f"{SPREAD}#spread-constraint-definition"
NODE_LABELS = f"{SPREAD}#node-labels"
CONFLICTING = f"{SPREAD}#example-conflicting-topologyspreadconstraints"
AFFINITY = f"{SPREAD}#interaction-with-node-affinity-and-node-selectors"
CONVENTIONS = f"{SPREAD}#implicit-conventions"
DEFAULTS = f"{SPREAD}#cluster-level-default-constraints"
LIMITATIONS = f"{SPREAD}#known-limitations"
TAINTS = f"{DOCUMENTATION}/scheduling-eviction/taint-and-toleration/"
POD_AFFINITY = f"{DOCUMENTATION}/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity"
NODE_ASSIGNMENT = f"{DOCUMENTATION}/scheduling-eviction/assign-pod-node/"
ROLLBACK = f"{DOCUMENTATION}/workloads/controllers/deployment/#rolling-back-a-deployment"
DISRUPTIONS = f"{DOCUMENTATION}/workloads/pods/disruptions/"
PREEMPTION = f"{DOCUMENTATION}/scheduling-eviction/pod-priority-preemption/"
APPLY = f"{DOCUMENTATION}/overview/working-with-objects/object-management/"
REQUESTS = f"{DOCUMENTATION}/configuration/manage-resources-containers/"

TextT = TypeVar("TextT", bound=Callable[..., str])


class EntryKind(StrEnum):
    """What kind of thing is explained."""

    FINDING = "finding"
    FIX = "fix"
    WAIT = "wait"
    STATUS = "status"
    VERDICT = "verdict"
    DECISION = "decision"
    OUTCOME = "outcome"
    FIELD = "field"
    COLUMN = "column"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is explained.

    Attributes:
        kind: of thing.
        name: as it is written in reports and manifests.
        summary: what it is, in half a line.
        meaning: what it means.
        when: when it is reported or offered; for a field, what the API server accepts.
        action: what to do.
        link: the heading of the Kubernetes documentation.
    """

    kind: EntryKind
    name: str = ""
    summary: str
    meaning: str
    when: str
    action: str
    link: str


def named(entries: Mapping[str, Entry]) -> tuple[Entry, ...]:
    """Return the entries under these names."""
    return tuple(msgspec.structs.replace(entry, name=name) for name, entry in entries.items())


class Rules:
    """The rules for one kind of conclusion: for each its name, its text and its explanation.

    A conclusion is a type of the engine, which its text takes as its argument, and its name is that of the type::

        FINDINGS = Rules(EntryKind.FINDING)

        @FINDINGS.rule(summary=..., meaning=..., when=..., action=..., link=...)
        def _(finding: findings.GhostPod) -> str:
            return f"the labelSelector {finding.selector} does not match {finding.pod} itself: ..."
    """

    def __init__(self, kind: EntryKind) -> None:
        self._kind = kind
        self._entries: dict[str, Entry] = {}
        self._texts: dict[str, Callable[..., str]] = {}

    @property
    def entries(self) -> Iterable[Entry]:
        """The explanations, in the order of the rules."""
        return self._entries.values()

    def rule(
        self, *, summary: str, meaning: str, when: str, action: str, link: str = DEFINITION
    ) -> Callable[[TextT], TextT]:
        """Return the decorator of the function that makes the text; the arguments are those of ``Entry``."""

        def register(text: TextT) -> TextT:
            # Read as it is written, so that ``explain`` loads no type of the engine.
            name = next(iter(text.__annotations__.values())).rpartition(".")[2]
            self._entries[name] = Entry(
                kind=self._kind, name=name, summary=summary, meaning=meaning, when=when, action=action, link=link
            )
            self._texts[name] = text
            return text

        return register

    def summary(self, name: str) -> str:
        """Return in half a line what the conclusion of this name is."""
        return self._entries[name].summary

    def text(self, conclusion: object) -> str:
        """Return the text of a conclusion."""
        return self._texts[type(conclusion).__name__](conclusion)
