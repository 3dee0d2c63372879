"""The cluster as one command sees it: read, indexed, under the rules of one release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from kubectl_spread import __version__
from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.commands import read_sets
from kubectl_spread.commands.bad_objects import reporting_bad_objects
from kubectl_spread.commands.source import ReadLists, Source
from kubectl_spread.contract.report import Metadata
from kubectl_spread.diagnosis.incomplete import unread_cluster, unread_pods, without_unread
from kubectl_spread.errors import ManifestError, UsageError
from kubectl_spread.gaps import Gap, UnknownFeatureGate, UnprovedRelease
from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Event, Node, Pod, PodSpec
from kubectl_spread.objects.decoding import DecodeError
from kubectl_spread.objects.kinds import EVENT
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.objects.times import last_told, written
from kubectl_spread.release import PROVED_MINORS, REFERENCE_MINOR, minor_of
from kubectl_spread.scheduler.framework import NO_SCHEDULER, Handle, Handles
from kubectl_spread.scheduler.profile import Profile, configured_profiles, default_profile, known_gates
from kubectl_spread.snapshot import Inventory, Snapshot, together
from kubectl_spread.wording.pages import RULES_FROM

if TYPE_CHECKING:
    from kubectl_spread.cluster.reads import Read

VersionFrom = Literal["flag", "server", "nodes", "default"]


class SchedulerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which scheduler is mirrored."""

    kube_version: str = ""  # empty to find out
    configuration: str = ""  # the file with it; empty for the default profile
    feature_gates: Mapping[str, bool] = {}  # those that differ from the release's defaults


class View(msgspec.Struct, frozen=True):
    """The cluster and the schedulers' rules; ``incomplete``: what holds for every answer, as of an unproved release."""

    handles: Handles
    metadata: Metadata
    incomplete: tuple[Gap, ...]

    @property
    def snapshot(self) -> Snapshot:
        """The cluster."""
        return self.handles.snapshot

    def handle(self, scheduler_name: str = DEFAULT_SCHEDULER) -> Handle:
        """Return the cluster as the scheduler sees it; one without a profile is taken for the default one."""
        return self.handles.named(scheduler_name)

    @property
    def settled(self) -> View:
        """The cluster in which the Pods that the scheduler counts on a node are bound to it."""
        return replace(self, handles=self.handles.with_snapshot(self.snapshot.settled))

    def with_inventory(self, inventory: Inventory) -> View:
        """Return the view after more of the cluster was read, under the same rules."""
        snapshot = Snapshot.build(inventory)
        metadata = replace(self.metadata, resource_versions=dict(inventory.resource_versions))
        handles = self.handles.each(lambda handle: handle.with_more_read(snapshot))
        return replace(self, handles=handles, metadata=metadata)


def look(source: Source, reads: Sequence[Read], scheduler: SchedulerOptions, read: ReadLists | None = None) -> View:
    """Return the cluster under the rules of its release; ``read`` also reads what the lists call for.

    Raises:
        ClusterError: a list that is needed cannot be had.
        ManifestError: a file cannot be read.
        UsageError: the release or the scheduler's configuration makes no sense.
    """
    read = read or source.read
    server_version = _start_version_request(source, scheduler)
    snapshot = Snapshot.build(read(reads))
    if source.server and snapshot.undecided and EVENT.name not in snapshot.inventory.objects:
        # Only these Pods need the scheduler's messages.
        first, *others = {namespace for namespace, _ in snapshot.undecided}
        messages = read((read_sets.failures("" if others else first),))
        snapshot = Snapshot.build(together(snapshot.inventory, messages))
    version, version_from = _choose_version(server_version(), snapshot, scheduler)
    minor = minor_of(version)
    if minor is None:
        raise UsageError(f"unknown Kubernetes version {version!r}", hint="want a release such as v1.36")
    profiles = _profiles(scheduler, minor)
    if not source.server:
        with reporting_bad_objects(source.name, snapshot):
            snapshot = _with_server_defaults(snapshot, profiles[0])
    source.log.say(f"the rules are those of {version}, {RULES_FROM[version_from]}")
    metadata = Metadata(
        version=__version__,
        server=source.server,
        kube_version=version,
        kube_version_from=version_from,
        source=source.name,
        access=source.access,
        resource_versions=dict(snapshot.inventory.resource_versions),
        as_of=written(told) if (told := last_told(snapshot.all(Pod), snapshot.all(Event))) else "",
    )
    judged = (without_unread(profile, snapshot) for profile in profiles)
    inventory = snapshot.inventory
    gaps: list[Gap] = [*unread_cluster(inventory), *unread_pods(inventory)]
    if minor not in PROVED_MINORS:
        gaps.append(UnprovedRelease(minor=minor, nearest=max(PROVED_MINORS.start, min(minor, PROVED_MINORS[-1]))))
    gaps += (UnknownFeatureGate(gate=gate) for gate in sorted(set(scheduler.feature_gates) - known_gates()))
    return View(Handles.build(snapshot, judged), metadata, tuple(gaps))


def _with_server_defaults(snapshot: Snapshot, profile: Profile) -> Snapshot:
    """Return the objects of files with the fields that a server and its controllers write."""
    snapshot = snapshot.with_objects(defaulted(pod, profile.release) for pod in snapshot.all(Pod))
    if any(snapshot.all(PodDisruptionBudget)):
        from kubectl_spread.controllers.disruption import never_counted

        snapshot = snapshot.with_others(never_counted(snapshot))
    return snapshot


def _profiles(scheduler: SchedulerOptions, minor: int) -> tuple[Profile, ...]:
    default = default_profile(minor, gates=scheduler.feature_gates)
    if not scheduler.configuration:
        return (default,)
    from kubectl_spread.cluster.files.manifests import documents_of
    from kubectl_spread.cluster.files.sources import read_inputs

    documents = documents_of(read_inputs([scheduler.configuration], recursive=False, urls=True, stdin=None))
    found = next((document for document in documents if document.kind == "KubeSchedulerConfiguration"), None)
    if found is None:
        raise ManifestError([documents[0].problem(f"is a {documents[0].kind}, not a KubeSchedulerConfiguration")])
    try:
        configured = configured_profiles(found.values, minor=minor, gates=scheduler.feature_gates)
    except DecodeError as error:
        raise ManifestError([found.problem(error.reason, error.field_path)]) from error
    unserved = all(profile.scheduler_name != DEFAULT_SCHEDULER for profile in configured)
    return (*configured, replace(default, scheduler_name=NO_SCHEDULER)) if unserved else configured


def _start_version_request(source: Source, scheduler: SchedulerOptions) -> Callable[[], str]:
    """Ask for the server's version while the lists are read; return what waits for the answer."""
    if scheduler.kube_version:
        return str
    if not source.server:
        return source.version
    from kubectl_spread.cluster.net.background import Background

    return Background(source.version).result


def _choose_version(server: str, snapshot: Snapshot, scheduler: SchedulerOptions) -> tuple[str, VersionFrom]:
    if scheduler.kube_version:
        return scheduler.kube_version, "flag"
    if server:
        return server, "server"
    kubelets = [node.status.node_info.kubelet_version for node in snapshot.all(Node)]
    newest = max((minor for kubelet in kubelets if (minor := minor_of(kubelet)) is not None), default=None)
    return (f"v1.{newest}", "nodes") if newest is not None else (f"v1.{REFERENCE_MINOR}", "default")


def reading_devices(source: Source, specs: Iterable[PodSpec] = (), *, at_once: bool = False) -> ReadLists:
    """Return what reads lists of the source, and devices where Pods may need them; files hold all that there is.

    For the arguments see ``read_sets.read_with_devices``.
    """
    if not source.server:
        return source.read
    return partial(read_sets.read_with_devices, source.read, specs=tuple(specs), at_once=at_once)
