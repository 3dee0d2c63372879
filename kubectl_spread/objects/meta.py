"""What every Kubernetes object has, and label selectors.

Source: apimachinery pkg/apis/meta/v1/types.go (v1.36).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypedDict, TypeVar

import msgspec

from kubectl_spread.apimachinery import quoted
from kubectl_spread.labels import NOTHING, Operator, Selector, new_requirement


class Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The base of all API types: immutable, API names in camelCase; acyclic, so the garbage collector skips them."""


T = TypeVar("T")
KeyT = TypeVar("KeyT")
# What JSON and YAML documents consist of.
Plain: TypeAlias = dict[str, "Plain"] | list["Plain"] | str | int | float | bool | None
ControllerKey: TypeAlias = tuple[str, str, str]  # Namespace, kind and name of a controller


def once(parts: Iterable[T]) -> tuple[T, ...]:
    """Return the parts in their order, without repeats of the same Python object.

    The reader lets the Pods of a workload share most of their parts: thousands of Pods have few different ones.
    """
    return tuple({id(part): part for part in parts}.values())


def grouped(parts: Iterable[T], key: Callable[[T], KeyT]) -> dict[KeyT, list[T]]:
    """Return key → the parts with that key, both in their order."""
    groups: dict[KeyT, list[T]] = {}
    for part in parts:
        groups.setdefault(key(part), []).append(part)
    return groups


def walked(values: Plain, change: Callable[[dict[str, Plain]], Plain]) -> Plain:
    """Return the values with every mapping in them changed, inner ones first."""
    if isinstance(values, list):
        return [walked(each, change) for each in values]
    if not isinstance(values, dict):
        return values
    return change({key: walked(each, change) for key, each in values.items()})


CONFIG_MIRROR = "kubernetes.io/config.mirror"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
DO_NOT_EVICT = "karpenter.sh/do-not-evict"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
PREFER_NO_EVICTION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
POD_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
JOB_INDEX_FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
HELM_RELEASE = "meta.helm.sh/release-name"
ARGO_TRACKING_ID = "argocd.argoproj.io/tracking-id"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# How often the template of a DaemonSet has changed, and once more.
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
KEPT_ANNOTATIONS = (
    CONFIG_MIRROR,
    DO_NOT_DISRUPT,
    DO_NOT_EVICT,
    SAFE_TO_EVICT,
    PREFER_NO_EVICTION,
    POD_DELETION_COST,
    JOB_INDEX_FAILURE_COUNT,
    HELM_RELEASE,
    ARGO_TRACKING_ID,
    LAST_APPLIED,
    TEMPLATE_GENERATION,
)

if TYPE_CHECKING:
    Annotations: TypeAlias = Mapping[str, str]
else:
    # The decoder drops all other annotations: they may be larger than the rest of the object.
    Annotations = TypedDict("Annotations", dict.fromkeys(KEPT_ANNOTATIONS, str), total=False)


class OwnerReference(Struct, frozen=True):
    """The object that owns another; ``controller`` marks the one that manages it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(Struct, frozen=True):
    """Identity, labels and owners; times are RFC 3339 text as the API sends it.

    ``deletion_timestamp`` is when a Pod's grace period ends, not when the deletion was requested. The kubelet sets
    ``deletion_grace_period_seconds`` to 0 when no container of the Pod runs any more.
    """

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = {}
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    annotations: Annotations = {}

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that is the object's controller, None where it has none."""
        return next((owner for owner in self.owner_references if owner.controller), None)

    @property
    def controller_kind(self) -> str:
        """The kind of its controller; empty where it has none."""
        return self.controller_key[1]

    @property
    def controller_key(self) -> ControllerKey:
        """The key of its controller; kind and name are empty where it has none."""
        controller = self.controller
        return (self.namespace, controller.kind, controller.name) if controller else (self.namespace, "", "")


class KubernetesObject(Struct, frozen=True):
    """The base of all kinds."""

    metadata: ObjectMeta = ObjectMeta()

    @property
    def key(self) -> tuple[str, str]:
        """Its identity among the objects of its kind: (namespace, name)."""
        return self.metadata.namespace, self.metadata.name

    @property
    def as_controller(self) -> ControllerKey:
        """Its key as a controller."""
        return self.metadata.namespace, type(self).__name__, self.metadata.name


class AnnotatedMeta(ObjectMeta, frozen=True):
    """ObjectMeta of the kinds whose annotations are all kept (revisions, volumes, maintenance of nodes)."""

    annotations: dict[str, str] = {}


class ManagedSpecFields(Struct, frozen=True):
    """Whether a manager manages ``spec.replicas``."""

    replicas: dict[str, object] | None = msgspec.field(name="f:replicas", default=None)


class FieldsV1(Struct, frozen=True):
    """The fields that a manager manages."""

    spec: ManagedSpecFields = msgspec.field(name="f:spec", default=ManagedSpecFields())


class ManagedFieldsEntry(Struct, frozen=True):
    """What one manager wrote, by apply or by update."""

    manager: str = ""
    operation: str = ""
    fields_v1: FieldsV1 = msgspec.field(name="fieldsV1", default=FieldsV1())


class ScaledMeta(AnnotatedMeta, frozen=True):
    """AnnotatedMeta of the kinds with replicas, whose number an autoscaler may manage."""

    managed_fields: tuple[ManagedFieldsEntry, ...] = ()


class LabelSelectorRequirement(Struct, frozen=True):
    """One expression of a label selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True):
    """A label selector as the API has it; an absent one selects nothing, an empty one everything."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


LABEL_OPERATORS = frozenset((Operator.IN, Operator.NOT_IN, Operator.EXISTS, Operator.DOES_NOT_EXIST))


def parse_label_selector(selector: LabelSelector | None) -> Selector:
    """Return the parsed selector: absent selects nothing, empty selects everything.

    Raises:
        ValueError: the API server would reject it; the text is upstream's.

    Source: meta/v1/helpers.go LabelSelectorAsSelector (v1.36).
    """
    if selector is None:
        return NOTHING
    labels = sorted(selector.match_labels.items())
    requirements = [new_requirement(key, Operator.IN, (value,)) for key, value in labels]
    for each in selector.match_expressions:
        if each.operator not in LABEL_OPERATORS:
            raise ValueError(f"{quoted(each.operator)} is not a valid label selector operator")
        requirements.append(new_requirement(each.key, Operator(each.operator), each.values))
    return Selector(tuple(requirements))


def readable_selector(selector: LabelSelector | None) -> Selector:
    """Return the parsed selector; one that cannot be parsed selects nothing."""
    try:
        return parse_label_selector(selector)
    except ValueError:
        return NOTHING


def name_order(obj: KubernetesObject) -> tuple[str, str, int, str]:
    """Return what objects are sorted by for people: their namespace, then their name, where db-3 is before db-10."""
    name = obj.metadata.name
    begins = name.rstrip("0123456789")
    return obj.metadata.namespace, begins, int(name[len(begins) :] or -1), name
