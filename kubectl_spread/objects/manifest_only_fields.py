"""What of a manifest only the API server's validation reads: objects of the cluster are decoded without it.

Source: api core/v1/types.go, apps/v1/types.go and batch/v1/types.go (v1.36).
"""

from __future__ import annotations

from kubectl_spread.objects.core import Volume
from kubectl_spread.objects.meta import ObjectMeta, Struct


class ExecAction(Struct, frozen=True):
    """A command that is run in the container."""

    command: tuple[str, ...] = ()


class HTTPGetAction(Struct, frozen=True):
    """A request; a port is a number or the name of one."""

    port: int | str = 0
    scheme: str = ""


class TCPSocketAction(Struct, frozen=True):
    """A connection."""

    port: int | str = 0


class GRPCAction(Struct, frozen=True):
    """A request to the standard health service."""

    port: int = 0


class SleepAction(Struct, frozen=True):
    """A pause."""


class Handler(Struct, frozen=True):
    """What is done to ask or to tell a container something: one of these."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    grpc: GRPCAction | None = None
    sleep: SleepAction | None = None


class Probe(Handler, frozen=True):
    """How a container is asked whether it is well; an API server puts its default in the place of every 0."""

    initial_delay_seconds: int = 0
    timeout_seconds: int = 0
    period_seconds: int = 0
    success_threshold: int = 0
    failure_threshold: int = 0
    termination_grace_period_seconds: int | None = None


class Lifecycle(Struct, frozen=True):
    """What is done when a container has started and before it is stopped."""

    post_start: Handler | None = None
    pre_stop: Handler | None = None


class NamedPort(Struct, frozen=True):
    """A port of a container."""

    name: str = ""


class KeySelector(Struct, frozen=True):
    """A key of a ConfigMap or Secret."""

    name: str = ""
    key: str = ""


class FieldSelector(Struct, frozen=True):
    """A field of the Pod, or of a file in it."""


class EnvironmentVariableSource(Struct, frozen=True):
    """Where the value of a variable comes from: one of these."""

    field_ref: FieldSelector | None = None
    resource_field_ref: FieldSelector | None = None
    config_map_key_ref: KeySelector | None = None
    secret_key_ref: KeySelector | None = None
    file_key_ref: FieldSelector | None = None


class EnvironmentVariable(Struct, frozen=True):
    """A variable of a container."""

    name: str = ""
    value: str = ""
    value_from: EnvironmentVariableSource | None = None


class MountDetails(Struct, frozen=True):
    """Where a container sees a volume."""

    name: str = ""
    mount_path: str = ""
    sub_path: str = ""


class ContainerDetails(Struct, frozen=True):
    """A container or init container."""

    restart_policy: str | None = None
    termination_message_policy: str = ""
    image_pull_policy: str = ""
    ports: tuple[NamedPort, ...] = ()
    env: tuple[EnvironmentVariable, ...] = ()
    volume_mounts: tuple[MountDetails, ...] = ()
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None


class EmptyDirDetails(Struct, frozen=True):
    """A directory that lives as long as its Pod."""


class HostPathDetails(Struct, frozen=True):
    """A file or directory of the node."""

    path: str = ""
    type: str = ""


class SecretDetails(Struct, frozen=True):
    """A Secret mounted as files."""

    secret_name: str = ""


class NFSDetails(Struct, frozen=True):
    """A directory of a file server."""

    server: str = ""
    path: str = ""


class ConfigMapDetails(Struct, frozen=True):
    """A ConfigMap mounted as files."""

    name: str = ""


class VolumeDetails(Volume, frozen=True):
    """A volume of a Pod, with the sources that people use most and that keep it off no node."""

    empty_dir: EmptyDirDetails | None = None
    host_path: HostPathDetails | None = None
    secret: SecretDetails | None = None
    nfs: NFSDetails | None = None
    config_map: ConfigMapDetails | None = None


class PodSpecDetails(Struct, frozen=True):
    """What a Pod is made of."""

    containers: tuple[ContainerDetails, ...] = ()
    init_containers: tuple[ContainerDetails, ...] = ()
    volumes: tuple[VolumeDetails, ...] = ()


class TemplateDetails(Struct, frozen=True):
    """The Pods a workload makes."""

    spec: PodSpecDetails = PodSpecDetails()


class ClaimTemplateDetails(Struct, frozen=True):
    """A claim that a StatefulSet makes for each Pod, and with it a volume of its name."""

    metadata: ObjectMeta = ObjectMeta()


class JobSpecDetails(Struct, frozen=True):
    """How long a Job may take, and how long it is kept."""

    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    template: TemplateDetails = TemplateDetails()


class JobTemplateDetails(Struct, frozen=True):
    """The Jobs a CronJob makes."""

    spec: JobSpecDetails = JobSpecDetails()


class WorkloadSpecDetails(JobSpecDetails, frozen=True):
    """What the kinds of workloads say, each some of it."""

    min_ready_seconds: int = 0
    progress_deadline_seconds: int | None = None
    revision_history_limit: int | None = None
    volume_claim_templates: tuple[ClaimTemplateDetails, ...] = ()
    schedule: str = ""
    concurrency_policy: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None
    job_template: JobTemplateDetails = JobTemplateDetails()


class WorkloadDetails(Struct, frozen=True):
    """A workload of any kind."""

    spec: WorkloadSpecDetails = WorkloadSpecDetails()


class PodDetails(Struct, frozen=True):
    """A Pod."""

    spec: PodSpecDetails = PodSpecDetails()
