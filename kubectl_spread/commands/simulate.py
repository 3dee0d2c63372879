"""``simulate``: what happens to Pods and their spread when nodes, workloads or Pods change."""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import BinaryIO

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import unknown as unknown_to_admission
from kubectl_spread.apiserver.apply import mapping
from kubectl_spread.cluster.files.manifests import read_settings
from kubectl_spread.commands import read_sets
from kubectl_spread.commands.applying import AppliedManifests, application, apply_all, notes_of, unreadable
from kubectl_spread.commands.autoscaling import NO_OPTIONS, AutoscalerOptions, autoscaler_of
from kubectl_spread.commands.bad_objects import reporting_bad_objects
from kubectl_spread.commands.manifests import (
    MOST_PODS,
    Manifest,
    ManifestSources,
    read_manifests,
    unread_documents,
    with_served_kinds,
)
from kubectl_spread.commands.scope import Scope, not_found, unseen
from kubectl_spread.commands.source import Source
from kubectl_spread.commands.view import SchedulerOptions, View, look, reading_devices
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.controllers.nodelifecycle import added_names, sibling
from kubectl_spread.controllers.persistent_volumes import guessed
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef, owner_of
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.diagnosis.incomplete import CONTROLLERS, undecided, unread_kinds, unread_of_filters
from kubectl_spread.diagnosis.observer import Key, Observer
from kubectl_spread.diagnosis.step_changes import PendingPods, step_changes
from kubectl_spread.errors import ClusterError, ManifestError, UsageError
from kubectl_spread.gaps import IN_FILES, Gap, NodeNamed, Purpose, UntriedPods
from kubectl_spread.labels import EVERYTHING, Selector
from kubectl_spread.manifest_problem import ManifestProblem
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Node, Pod
from kubectl_spread.objects.kinds import Kind, Workload
from kubectl_spread.objects.workloads import Deployment
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.control_loop import MOST_VERDICTS
from kubectl_spread.simulation.outcomes import simulate as outcomes_of
from kubectl_spread.simulation.steps import Step, Verb
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.words import SHORT_KEYS, did_you_mean, listed

SCALABLE = (kinds.DEPLOYMENT, kinds.REPLICA_SET, kinds.STATEFUL_SET, kinds.REPLICATION_CONTROLLER)
RESTARTABLE = (kinds.DEPLOYMENT, kinds.STATEFUL_SET, kinds.DAEMON_SET)
# The kinds that decide how Pods are moved and created.
NEEDED = CONTROLLERS | {kinds.POD_DISRUPTION_BUDGET, kinds.CRON_JOB}
FROM_FILE = "filename"  # The flag whose value is a file with steps


class SimulateOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What ``simulate`` is asked beyond its scope."""

    steps: tuple[tuple[str, str], ...]  # (verb or FROM_FILE, value) in order
    # of every drain and deletion, as for ``Step``. disable_eviction, pod_selector: of every drain, as for ``Step``.
    force: bool = False
    disable_eviction: bool = False
    pod_selector: Selector = EVERYTHING
    namespace: str = "default"  # of objects that are named without one
    enforce_namespace: bool = False  # whether manifests of another namespace are an error, as with ``-n``
    defaults: bool = False  # whether workloads without constraints are included with the cluster's defaults
    most_verdicts: int = MOST_VERDICTS  # the most verdicts (Pods × nodes) before no further Pod is tried
    autoscalers: AutoscalerOptions = NO_OPTIONS  # as for ``why_pending``


class Given(msgspec.Struct, frozen=True):
    """A step as it was asked for, with the manifests to apply and the documents that cannot be read."""

    verb: Verb
    value: str
    manifests: Sequence[Manifest] = ()
    problems: tuple[ManifestProblem, ...] = ()


def simulate(
    source: Source,
    scope: Scope,
    options: SimulateOptions,
    scheduler: SchedulerOptions,
    *,
    stdin: BinaryIO | None = None,
) -> SimulateReport:
    """Return what the steps change for the workloads of the scope.

    Raises:
        ClusterError: a node or object that is named does not exist, or a list that is needed cannot be had.
        ManifestError: a file cannot be read, or one of its manifests asks for too many Pods.
        UsageError: a step, or Karpenter's version, is invalid.
    """
    read = given_steps(options, stdin)
    given = tuple(replace(each, manifests=with_served_kinds(each.manifests, source)) for each in read)
    specs = (each.pod_spec for step in given for each in step.manifests)
    reads = (*read_sets.for_moving(), *read_sets.scalers([""]), *read_sets.AUTOSCALERS)
    view = look(source, reads, scheduler, reading_devices(source, specs)).settled
    with reporting_bad_objects(source.name, view.snapshot):
        naming = Naming(view, options)
        steps = tuple(map(naming.step, given))
    named = set(_named(steps, naming.snapshot))

    def wanted(workload: OwnedPods) -> bool:
        return (workload.namespace, workload.ref) in named or scope.selects(workload)

    with reporting_bad_objects(source.name, view.snapshot):
        observer = Observer(naming.snapshot, wanted, defaults=options.defaults)
        found = outcomes_of(view.handles, steps, observer, most_verdicts=options.most_verdicts)
        changes = tuple(
            replace(
                change,
                pending=tuple(_beside_autoscaler(each, options.autoscalers) for each in change.pending),
                of_manifests=tuple(notes_of(of_step.merged, of_step.snapshot)),
                refused=of_step.refused or UNSET,
            )
            for change, of_step in zip(step_changes(steps, found), naming.applied, strict=True)
        )
    waiting = (judged for change in changes for pods in change.pending for judged in pods.judged)
    judged = (*found.after(-1)[0].seen.placed, *waiting)
    scaled = any(step.verb is Verb.SCALE for step in steps)
    unread_by = _unread(view.snapshot, naming.snapshot, judged, scaled=scaled)
    unread = dict.fromkeys((*unread_by, *_bound_by_name(judged, named)))
    unknown = (gap for of_step in naming.applied for manifest in of_step.merged for gap in manifest.unknown)
    documents = (unreadable(problem) for step in given for problem in step.problems)
    unserved = (gap for step in given for gap in unread_documents(step.manifests, view.snapshot, source))
    untried = (UntriedPods(pods=each.untried, step=str(each.step)) for each in changes if each.untried)
    refusals = (gap for change in changes for gap in change.may_be_refused)
    gaps = (*unread, *unknown, *documents, *unserved, *untried, *refusals)
    missing = tuple(dict.fromkeys((*view.incomplete, *gaps)))
    concluded = tuple(each.concluded(known=not missing) for each in changes)
    return SimulateReport(metadata=view.metadata, steps=concluded, incomplete=missing)


def _beside_autoscaler(pending: PendingPods, options: AutoscalerOptions) -> PendingPods:
    """Return the Pending Pods with what the cluster's autoscaler decides about the first; errors as for the command."""
    if not pending.reasons:
        return pending
    pod, handle = pending.judged[0]
    answer = autoscaler_of(pod, handle, options)
    clears = answer is UNSET or not (answer.by_constraint or answer.decision == "Unknown")
    reasons = (replace(it, conclusion=replace(it.conclusion, clears=clears)) for it in pending.reasons)
    return replace(pending, autoscaler=answer, reasons=tuple(reasons))


def _unread(before: Snapshot, after: Snapshot, judged: Iterable[tuple[Pod, Handle]], *, scaled: bool) -> Iterator[Gap]:
    """Yield what is not known of how Pods are moved and created, and of where these, which were judged, can go.

    ``before`` and ``after``: the cluster without and with all applied manifests. ``scaled``: whether a step scales.
    """
    needed = NEEDED.union([kinds.HORIZONTAL_POD_AUTOSCALER] * scaled)
    for gap in unread_kinds(before.inventory, needed.__contains__, Purpose.SIMULATION):
        # Files that hold none are no gap: of the former the step says so, the latter only name Jobs.
        if not (gap.kind in {kinds.HORIZONTAL_POD_AUTOSCALER, kinds.CRON_JOB} and gap.why in IN_FILES):
            yield gap
    for pod, handle in judged:
        yield from unread_of_filters(pod, handle, Purpose.SIMULATION)
        yield from undecided(pod, handle)
        yield from guessed(pod, handle.snapshot)
        yield from unknown_to_admission(pod, after if pod.metadata.controller else before)


def _bound_by_name(judged: Iterable[tuple[Pod, Handle]], named: Container[Key]) -> Iterator[NodeNamed]:
    """Yield the Pods of the workloads that steps name that name their node: its kubelet decides."""
    for pod, handle in judged:
        key = (pod.metadata.namespace, owner_of(pod, handle.snapshot))
        if key in named and handle.names_its_node(pod) and not handle.is_orphan(pod):
            yield NodeNamed(pod="/".join(pod.key), node_name=pod.spec.node_name)


def _named(steps: Sequence[Step], snapshot: Snapshot) -> Iterator[Key]:
    """Yield the workloads that steps name, in any namespace, or of which they name a Pod."""
    for step in steps:
        kind = kinds.named(step.ref.kind) if step.ref else None
        meant = [snapshot.get(kind.struct, step.namespace, step.ref.name)] if step.ref and kind else []
        for obj in (*meant, *(each.obj for each in step.objects)):
            if isinstance(obj, Pod | Workload):
                yield obj.metadata.namespace, owner_of(obj, snapshot)


def scenario_steps(path: str, stdin: BinaryIO | None) -> Iterator[tuple[str, str]]:
    """Yield (verb, value) of each step under ``steps`` of a file; ManifestError if it cannot be read, or lists none."""
    documents = read_settings(path, stdin=stdin)
    if not documents:
        raise ManifestError([ManifestProblem(path, "lists no steps", field="steps")])
    for document in documents:
        listed = mapping(document.values).get("steps")
        if not isinstance(listed, list) or not listed:
            raise ManifestError([document.problem("lists no steps", "steps")])
        for number, step in enumerate(listed):
            said = list(mapping(step).items())
            verb, value = said[0] if len(said) == 1 else ("", None)
            if verb not in set(Verb) or not isinstance(value, str):
                want = f"is not a step: want one of {', '.join(Verb)} with a value"
                raise ManifestError([document.problem(want, f"steps[{number}]")])
            yield verb, value


def given_steps(options: SimulateOptions, stdin: BinaryIO | None) -> Iterator[Given]:
    """Yield the steps, also those of files, with their manifests.

    Raises:
        ManifestError: a file cannot be read, or no manifest of a step can.
        UsageError: there is no step.
    """
    if not options.steps:
        raise UsageError("nothing to simulate", hint="give a step, such as --drain NODE")
    for flag, value in options.steps:
        for verb, named in scenario_steps(value, stdin) if flag == FROM_FILE else ((flag, value),):
            if verb == Verb.APPLY:
                filenames, enforce = tuple(named.split(",")), options.enforce_namespace
                sources = ManifestSources(filenames=filenames, namespace=options.namespace, enforce_namespace=enforce)
                yield Given(Verb.APPLY, named, *read_manifests(sources, stdin=stdin, of_any_kind=True))
            else:
                yield Given(Verb(verb), named)


class Naming:
    """Resolves the names in steps; each step sees the nodes and objects that earlier ones leave.

    ``snapshot`` is the cluster with all manifests that were applied so far, ``applied`` has the manifests of each step.
    """

    def __init__(self, view: View, options: SimulateOptions) -> None:
        self.snapshot = view.snapshot
        self.applied: list[AppliedManifests] = []
        self._view = view
        self._options = options
        self._nodes: dict[str, Node] = dict(view.snapshot.nodes)

    def step(self, given: Given) -> Step:
        """Return the next step.

        Raises:
            ClusterError: what is named does not exist.
            ManifestError: a manifest asks for too many Pods.
            UsageError: a value is invalid.
        """
        verb, value = given.verb, given.value
        self.applied.append(apply_all(given.manifests, self.snapshot, self._view.handle().profile))
        match verb:
            case Verb.APPLY:
                return self._applied(value, self.applied[-1])
            case Verb.SCALE:
                named, equals, text = value.rpartition("=")
                if not equals:
                    raise UsageError(f"{value!r} names no object and number", hint="want [NAMESPACE/]TYPE/NAME=N")
                namespace, ref = self._object(named, SCALABLE, Verb.SCALE)
                number = _number(text, f"--{Verb.SCALE} {value}")
                return Step(verb, value, namespace=namespace, ref=ref, number=number)
            case Verb.RESTART:
                return self._restarted(value)
            case Verb.DELETE:
                namespace, ref = self._object(value, (kinds.POD,), verb)
                return Step(verb, value, namespace=namespace, ref=ref, force=self._options.force)
            case Verb.ADD_NODE:
                return self._added(value)
            case _:
                return self._of_nodes(verb, value)

    def _of_nodes(self, verb: Verb, value: str) -> Step:
        if "=" not in value or value in self._nodes:
            value = self._node(value)
            names: Sequence[str] = [value]
        else:
            names = self._labelled(value)
        if verb is Verb.REMOVE:
            for name in names:
                del self._nodes[name]
        if verb not in {Verb.DRAIN, Verb.REMOVE}:
            return Step(verb, value, nodes=tuple(names))
        force, delete, selector = self._options.force, self._options.disable_eviction, self._options.pod_selector
        return Step(verb, value, nodes=tuple(names), force=force, disable_eviction=delete, pod_selector=selector)

    def _labelled(self, value: str) -> Sequence[str]:
        """Return the nodes with this label; at least one."""
        key, _, label = value.partition("=")
        labels_of = {name: node.metadata.labels for name, node in self._nodes.items()}
        if not any(key in has for has in labels_of.values()):  # As tables have it.
            key = next((long for long, short in SHORT_KEYS.items() if short == key), key)
        if names := [name for name, has in labels_of.items() if has.get(key) == label]:
            return names
        labels = {f"{name}={has}" for each in labels_of.values() for name, has in each.items()}
        # Tables leave out how all values begin.
        ended = [each for each in labels if each.startswith(f"{key}=") and each.endswith(label)]
        hint = f"did you mean {ended[0]}?" if len(ended) == 1 else did_you_mean(f"{key}={label}", labels)
        raise ClusterError(f"no node has the label {value}", what="nodes", status=404, hint=hint)

    def _node(self, name: str) -> str:
        """Return the full name of a node, given as NAME, ``node/NAME`` or NAME without its suffix from a dot on."""
        kind, _, rest = name.replace(" ", "/", 1).partition("/")
        name = rest if rest and kinds.named(kind) is kinds.NODE else name
        if name not in self._nodes:
            begun = [node for node in self._nodes if node.startswith(f"{name}.")]
            if len(begun) == 1:
                return begun[0]
            what, begun = f'nodes "{name}"', sorted(node for node in self._nodes if node.startswith(name))
            hint = did_you_mean(name, self._nodes) or (begun and f"these begin with it: {listed(begun)}") or ""
            absent = ClusterError(f"{what} not found", what=what, status=404, hint=hint)
            raise unseen(what, (kinds.NODE,), self.snapshot) or absent
        return name

    def _added(self, value: str) -> Step:
        like, equals, text = value.rpartition("=") if value not in self._nodes else ("", "", "")
        like = like if equals else value
        number = _number(text, f"--{Verb.ADD_NODE} {value}") if equals else 1
        like = self._node(like)
        names = added_names(like, number, self._nodes)
        self._nodes |= {name: sibling(self._nodes[like], name) for name in names}
        return Step(Verb.ADD_NODE, f"{like}={text}" if equals else like, nodes=(like,), number=number)

    def _applied(self, value: str, applied: AppliedManifests) -> Step:
        self.snapshot = applied.snapshot
        objects = tuple(application(each, each.obj) for each in applied.unmerged if each.obj is not None)
        merged = (self.snapshot.nodes[each.obj.metadata.name] for each in objects if isinstance(each.obj, Node))
        self._nodes |= {node.metadata.name: node for node in merged}
        return Step(Verb.APPLY, value, objects=objects)

    def _restarted(self, value: str) -> Step:
        """Return the step that restarts a workload.

        Source: kubectl pkg/polymorphichelpers/objectrestarter.go (v0.36).
        """
        namespace, ref = self._object(value, RESTARTABLE, Verb.RESTART)
        found = self.snapshot.get(Deployment, namespace, ref.name) if ref.kind == Deployment.__name__ else None
        if found is not None and found.spec.paused:
            flags = "-n", namespace, *self._view.metadata.connection_flags
            resume = kubectl("rollout resume", str(ref), flags=flags)
            raise UsageError(
                f"{ref} is paused, and kubectl does not restart a paused Deployment", hint=f"run {resume} first"
            )
        return Step(Verb.RESTART, value, namespace=namespace, ref=ref)

    def _object(self, value: str, allowed: Sequence[Kind], verb: Verb) -> tuple[str, WorkloadRef]:
        """Return namespace and reference of an object that exists, given as [NAMESPACE/]TYPE/NAME of these kinds."""
        parts = value.split("/")
        if len(parts) == 2:  # noqa: PLR2004 - TYPE/NAME
            parts = [self._options.namespace, *parts]
        if len(parts) != 3 or not all(parts):  # noqa: PLR2004 - NAMESPACE/TYPE/NAME
            own = self._options.namespace
            there = [kind for kind in kinds.WORKLOAD_KINDS if self.snapshot.get(kind.struct, own, value)]
            hint = f"did you mean {there[0].singular}/{value}?" if len(there) == 1 else "want [NAMESPACE/]TYPE/NAME"
            raise UsageError(f"{value!r} names no object", hint=hint)
        (namespace, _, name), kind = parts, kinds.named(parts[1])
        if kind is None or kind not in allowed:
            names = ", ".join(each.singular for each in allowed)
            want = f"TYPE/NAME of {names}" if len(allowed) > 1 else f"{names}/NAME"
            raise UsageError(f"invalid argument {value!r} for --{verb}", hint=f"want [NAMESPACE/]{want}")
        if self.snapshot.get(kind.struct, namespace, name) is None:
            raise self._absent(kind, namespace, name)
        return namespace, WorkloadRef(kind=kind.name, name=name)

    def _absent(self, kind: Kind, namespace: str, name: str) -> ClusterError:
        there = [each.metadata for each in self.snapshot.all(kind.struct)]
        elsewhere = [each.namespace for each in there if each.name == name]
        what = f'{kind.plural} "{name}"'
        near = did_you_mean(name, [each.name for each in there if each.namespace == namespace])
        absent = not_found(what, Scope(namespace=namespace), elsewhere, near=near)
        return unseen(what, (kind,), self.snapshot) or absent


def _number(text: str, given: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) > MOST_PODS:
        raise UsageError(f"{given}: {text!r} is not a number of replicas or nodes", hint=f"want 0 to {MOST_PODS}")
    return int(text)
