"""What an API server refuses to change in an object that exists.

The new object is the one that apply.py merges from the manifest and the existing object.

Source: pkg/apis/{core,apps,batch,node,resource,scheduling,storage}/validation Validate*Update (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from kubectl_spread.apimachinery import as_json, quoted
from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.apiserver.quantities import as_stored, read_amounts
from kubectl_spread.apiserver.validation.field_errors import Errors, forbidden, invalid
from kubectl_spread.apiserver.validation.labelselectors import selector_as_json
from kubectl_spread.objects import core, devices, policy, storage, workloads
from kubectl_spread.objects.meta import KubernetesObject, LabelSelector, Plain, walked
from kubectl_spread.objects.template_rest import same_rest
from kubectl_spread.objects.well_known_labels import SUCCESSORS
from kubectl_spread.release import Release

_IMMUTABLE = "field is immutable"
_STATEFUL_SET = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy',"
    " 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
POD_IMMUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_CLAIM = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_INDEXED = "Indexed"
_STOPPED_JOBS_SINCE = 36


class _Fixed(msgspec.Struct, frozen=True):
    """A field that no update changes.

    Attributes:
        path: its path, as in the API server's messages.
        fields: the paths that are compared, where they are others.
        forbids: what the message forbids, where it does not say that the field is immutable.
        until: the first release (minor) whose message says that; None for none.
        once_set: whether it may be set where it is empty. Snapshots of older releases lack some fields.
        default: what an absent value of the new object stands for.
        exception: the change that the message excepts; a deprecated label may become the one that replaces it.
    """

    path: str
    fields: tuple[str, ...] = ()
    exception: str = ""
    forbids: str = ""
    until: int | None = None
    once_set: bool = False
    default: str = ""


_IN_TREE = ("awsElasticBlockStore", "azureDisk", "cinder", "gcePersistentDisk", "portworxVolume")
_FIXED: Mapping[type[KubernetesObject], tuple[_Fixed, ...]] = {
    workloads.Job: tuple(
        _Fixed(f"spec.{name}") for name in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy")
    ),
    core.Node: (
        _Fixed(
            "spec.providerID",
            forbids='node updates may not change providerID except from "" to valid',
            once_set=True,
        ),
    ),
    core.ResourceQuota: (_Fixed("spec.scopes"),),
    devices.ResourceSlice: (_Fixed("spec.pool.name"), _Fixed("spec.driver"), _Fixed("spec.nodeName")),
    policy.PriorityClass: (_Fixed("value", forbids="may not be changed in an update."), _Fixed("preemptionPolicy")),
    policy.RuntimeClass: (_Fixed("handler", once_set=True),),
    storage.CSIStorageCapacity: (_Fixed("nodeTopology"), _Fixed("storageClassName")),
    storage.PersistentVolume: (
        _Fixed(
            "spec.persistentvolumesource",
            fields=tuple(f"spec.{source}" for source in ("csi", *_IN_TREE)),
            forbids="spec.persistentvolumesource is immutable after creation",
        ),
        _Fixed("volumeMode", fields=("spec.volumeMode",)),
        _Fixed(
            "nodeAffinity",
            fields=("spec.nodeAffinity",),
            once_set=True,
            exception=", except for updating from beta label to GA",
        ),
    ),
    storage.StorageClass: (
        *(
            _Fixed(path, forbids=f"updates to {path} are forbidden.", until=36, once_set=lacking, default=default)
            for path, lacking, default in (
                ("parameters", True, ""),
                ("provisioner", False, ""),
                ("reclaimPolicy", True, "Delete"),
            )
        ),
        _Fixed("volumeBindingMode"),
    ),
    storage.VolumeAttachment: (_Fixed("spec"),),
}
"""Kind → its fixed fields among those that are read. Other workloads, Pods and claims have functions below."""


def update_errors(new: KubernetesObject, live: KubernetesObject, release: Release) -> Errors:
    """Yield the errors of the changes between the live object and the new one."""
    if live.metadata.uid and new.metadata.uid not in {"", live.metadata.uid}:
        yield invalid("metadata.uid", quoted(new.metadata.uid), _IMMUTABLE)
    match new, live:
        case (
            workloads.Deployment() | workloads.ReplicaSet() | workloads.DaemonSet(),
            workloads.Deployment() | workloads.ReplicaSet() | workloads.DaemonSet(),
        ):
            yield from _selector_errors(new.spec.selector, live.spec.selector)
        case workloads.StatefulSet(), workloads.StatefulSet():
            yield from _stateful_set_errors(new.spec, live.spec)
        case workloads.Job(), workloads.Job():
            yield from _job_errors(new.spec, live, release)
            yield from _fixed_errors(new, live, release)
        case core.Pod(), core.Pod():
            yield from _pod_errors(*(defaulted(pod, release).spec for pod in (new, live)))
        case storage.PersistentVolumeClaim(), storage.PersistentVolumeClaim():
            yield from _claim_errors(new.spec, live)
        case devices.ResourceClaim(), devices.ResourceClaim():
            yield from _device_errors(new.spec, live.spec)
        case devices.ResourceClaimTemplate(), devices.ResourceClaimTemplate():
            yield from _device_errors(new.spec.spec, live.spec.spec)
        case _:
            yield from _fixed_errors(new, live, release)


def _fixed_errors(new: KubernetesObject, live: KubernetesObject, release: Release) -> Errors:
    for fixed in _FIXED.get(type(live), ()):
        wanted, had = ([_value(obj, path) for path in fixed.fields or (fixed.path,)] for obj in (new, live))
        wanted = wanted if any(wanted) else [fixed.default or value for value in wanted]
        renamed = bool(fixed.exception) and _with_new_labels(wanted) == _with_new_labels(had)
        if wanted == had or renamed or (fixed.once_set and not had[0]):
            continue
        if fixed.forbids and (fixed.until is None or release.minor < fixed.until):
            yield forbidden(fixed.path, fixed.forbids)
        else:
            # differs: the message has no affinity and no selector, which Go prints in its own notation.
            nested = isinstance(wanted[0], dict) and fixed.path != "parameters"
            yield invalid(fixed.path, "{...}" if nested else as_json(wanted[0]), _IMMUTABLE + fixed.exception)


def _with_new_labels(values: Plain) -> Plain:
    return walked(values, lambda found: {**found, "key": SUCCESSORS.get(str(found.get("key")), found.get("key"))})


def _value(obj: KubernetesObject, path: str) -> Plain:
    value = as_stored(obj, as_json=True)
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    # The lists here are sets.
    return [*sorted({*map(str, value)})] if isinstance(value, list) else value


def _device_errors(new: devices.ResourceClaimSpec, live: devices.ResourceClaimSpec) -> Errors:
    def requests(spec: devices.ResourceClaimSpec) -> Sequence[object]:
        return [
            (
                each.name,
                *(
                    (one.device_class_name, mode, one.count if mode == "ExactCount" else None, one.admin_access)
                    for one in each.first_available or (each.exact,)
                    for mode in [one.allocation_mode or "ExactCount"]
                ),
            )
            for each in spec.devices.requests
        ]

    # differs: the message has no spec, which Go prints in its own notation.
    if requests(new) != requests(live):
        yield invalid("spec", "{...}", _IMMUTABLE)


def _selector_errors(new: LabelSelector | None, live: LabelSelector | None) -> Errors:
    if new is not None and new != live:
        yield invalid("spec.selector", selector_as_json(new), _IMMUTABLE)


def _stateful_set_errors(new: workloads.StatefulSetSpec, live: workloads.StatefulSetSpec) -> Errors:
    def claim_templates(spec: workloads.StatefulSetSpec) -> list[object]:
        return [
            (each.metadata.name, sorted(each.metadata.labels.items()), as_stored(each.spec))
            for each in spec.volume_claim_templates
        ]

    if (
        (new.selector is not None and new.selector != live.selector)
        or (new.volume_claim_templates and claim_templates(new) != claim_templates(live))
        or new.pod_management_policy != live.pod_management_policy
        or new.service_name not in {"", live.service_name}
    ):
        yield forbidden("spec", _STATEFUL_SET)


def _job_errors(new: workloads.JobSpec, job: workloads.Job, release: Release) -> Errors:
    live = job.spec
    if new.completions is not None and new.completions != live.completions:
        parallelism = new.parallelism if new.parallelism is not None else live.parallelism
        if new.completion_mode != _INDEXED:
            yield invalid("spec.completions", new.completions, _IMMUTABLE)
        elif new.completions != parallelism:
            yield invalid("spec.completions", new.completions, "can only be modified in tandem with spec.parallelism")
    yield from _selector_errors(new.selector, live.selector)
    # differs: the message has no template, which Go prints in its own notation.
    if _template_changes(new.template, live.template, open_=_is_open(job, release), release=release):
        yield invalid("spec.template", "{...}", _IMMUTABLE)


def _is_open(job: workloads.Job, release: Release) -> bool:
    """Whether the scheduling directives of the template may change: by now, its controller has stopped it.

    Source: pkg/registry/batch/job/strategy.go validationOptionsForJob (v1.36).
    """
    return job.spec.suspend and (release.minor >= _STOPPED_JOBS_SINCE or not job.status.start_time)


def _template_changes(new: core.PodTemplateSpec, live: core.PodTemplateSpec, *, open_: bool, release: Release) -> bool:
    """Whether the template of a Job changes. While it is open, its scheduling directives may change."""
    specs = [new.spec, live.spec]
    containers = (*live.spec.containers, *live.spec.init_containers)
    if not all(mount.mount_path for container in containers for mount in container.volume_mounts):
        specs = [spec.with_containers(_without_paths) for spec in specs]
    if open_:
        new_spec, live_spec = (_without_directives(spec, release) for spec in specs)
        unread = same_rest(new.rest, live.rest, metadata=False) is False
        return unread or as_stored(new_spec) != as_stored(live_spec)
    adds_labels = not new.metadata.labels.items() <= live.metadata.labels.items()
    return adds_labels or same_rest(new.rest, live.rest) is False or as_stored(specs[0]) != as_stored(specs[1])


def _without_directives(spec: core.PodSpec, release: Release) -> core.PodSpec:
    affinity = replace(spec.affinity, node_affinity=None) if spec.affinity is not None else None
    if release.minor >= _STOPPED_JOBS_SINCE:
        spec = spec.with_containers(lambda container: replace(container, resources=core.ResourceRequirements()))
    affinity = affinity if affinity != core.Affinity() else None
    return replace(spec, affinity=affinity, node_selector={}, tolerations=(), scheduling_gates=())


def _pod_errors(new: core.PodSpec, live: core.PodSpec) -> Errors:
    if len(new.containers) != len(live.containers) or len(new.init_containers) != len(live.init_containers):
        yield forbidden("spec.containers", "pod updates may not add or remove containers")
        return
    # Admission adds tolerations of node conditions, which the manifest does not have.
    given = (toleration for toleration in live.tolerations if not toleration.key.startswith("node.kubernetes.io/"))
    if any(toleration not in new.tolerations for toleration in given):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden("spec.tolerations", detail)
    # A gated Pod may be restricted to fewer nodes.
    if live.scheduling_gates:
        if any(new.node_selector.get(key) != value for key, value in live.node_selector.items()):
            detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            yield invalid("spec.nodeSelector", msgspec.json.encode(new.node_selector).decode(), detail)
        new = replace(new, node_selector=live.node_selector, affinity=live.affinity, scheduling_gates=())
        live = replace(live, scheduling_gates=())
    if as_stored(_without_mutable(new, live)) != as_stored(_without_mutable(live, live)):
        yield forbidden("spec", POD_IMMUTABLE)


def _without_mutable(spec: core.PodSpec, live: core.PodSpec) -> core.PodSpec:
    return replace(
        spec.with_containers(lambda container: replace(_without_paths(container), image="")),
        ephemeral_containers=(),
        active_deadline_seconds=None,
        tolerations=(),
        priority=spec.priority if spec.priority is not None else live.priority,
    )


def _without_paths(container: core.Container) -> core.Container:
    # Names and paths of mounts are not read of Pods, nor held by older snapshots. Digests of the whole are compared.
    own = (mount.bind_mount_options for mount in container.volume_mounts)
    mounts = tuple(core.VolumeMount(bind_mount_options=options) for options in own if options)
    return replace(container, volume_mounts=mounts)


def _claim_errors(new: core.PersistentVolumeClaimSpec, live: storage.PersistentVolumeClaim) -> Errors:
    compared = new
    if live.status.phase == "Bound":
        attributes_class = live.spec.volume_attributes_class_name
        compared = replace(compared, resources=live.spec.resources, volume_attributes_class_name=attributes_class)
    if not live.spec.volume_name:
        compared = replace(compared, volume_name="")
    if as_stored(compared) != as_stored(live.spec):
        yield forbidden("spec", _CLAIM)
    wanted, had = (read_amounts(spec.resources.requests).get("storage") for spec in (new, live.spec))
    if wanted is not None and had is not None and wanted < had:
        yield forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
