"""What the API server changes in an object after admission, before it validates it.

Source: pkg/api/pod/util.go dropDisabledFields, pkg/registry/core/pod/strategy.go PrepareForCreate; for Jobs
pkg/apis/batch/v1/defaults.go, pkg/registry/batch/job/strategy.go (v1.33 to v1.37).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.objects.core import (
    Affinity,
    Container,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    TopologySpreadConstraint,
)
from kubectl_spread.objects.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from kubectl_spread.objects.workloads import JOB_NAME_LABELS, JOB_UID_LABELS, Job
from kubectl_spread.release import (
    CONTAINER_RESTART_RULES,
    DYNAMIC_RESOURCES,
    IMAGE_VOLUME,
    MATCH_LABEL_KEYS,
    MATCH_LABEL_KEYS_MERGE,
    POD_LEVEL_RESOURCES,
    Release,
)

_GENERATED = "xxxxx"
"""Stands for the five characters that the API server adds to generateName."""
_MAX_GENERATED = 63


def name_as_created(metadata: ObjectMeta) -> str:
    """Return the object's name, or one such as it would get; empty where it has neither name nor generateName."""
    if metadata.name or not metadata.generate_name:
        return metadata.name
    return metadata.generate_name[: _MAX_GENERATED - len(_GENERATED)] + _GENERATED


def pod_as_created(pod: Pod, release: Release) -> Pod:
    """Return the Pod of a manifest as it is validated: defaults set, then prepared."""
    return prepared(defaulted(pod, release), release)


def prepared(pod: Pod, release: Release) -> Pod:
    """Return the Pod without the fields whose feature is off, and with label keys merged into selectors.

    Only a Pod's are merged, as it is created: its template keeps the keys, for each revision has labels of its own.

    Source: pkg/registry/core/pod/strategy.go podStrategy.PrepareForCreate (v1.36).
    """
    spec = template_as_created(pod.spec, release)
    labels = pod.metadata.labels
    if spec.affinity is not None:
        spec = replace(spec, affinity=_merged_affinity(spec.affinity, labels))
    if release.enables(MATCH_LABEL_KEYS_MERGE):
        constraints = tuple(_merged_constraint(constraint, labels) for constraint in spec.topology_spread_constraints)
        spec = replace(spec, topology_spread_constraints=constraints)
    return replace(pod, spec=spec)


def template_as_created(spec: PodSpec, release: Release) -> PodSpec:
    """Return the spec, a Pod's or a template's, without the fields whose feature is off.

    A disabled field is no error: it is as if nobody had written it, so a manifest may be ahead of its cluster.

    Source: pkg/api/pod/util.go dropDisabledFields (v1.33 to v1.37).
    """
    if not release.enables(POD_LEVEL_RESOURCES):
        spec = replace(spec, resources=None)
    if not release.enables(IMAGE_VOLUME):
        spec = replace(spec, volumes=tuple(volume for volume in spec.volumes if volume.image is None))
    if not release.enables(MATCH_LABEL_KEYS):
        constraints = tuple(replace(c, match_label_keys=()) for c in spec.topology_spread_constraints)
        spec = replace(spec, topology_spread_constraints=constraints)
    if not release.enables(DYNAMIC_RESOURCES):
        spec = replace(spec, resource_claims=())
    if not release.enables(CONTAINER_RESTART_RULES):
        spec = _without_restart_rules(spec, release)
    return spec


def job_as_created(job: Job) -> Job:
    """Return the Job with labels that hold its name, unless it brings a selector, and with those of its template."""
    # upstream: a Job without labels shares its template's, if that has any.
    of_template = job.spec.template.metadata
    labels = of_template.labels
    if job.spec.selector is None:
        labels = {**dict.fromkeys(JOB_NAME_LABELS, name_as_created(job.metadata)), **labels}
    template = replace(job.spec.template, metadata=replace(of_template, labels=labels))
    own = job.metadata.labels or (labels if of_template.labels else {})
    return Job(metadata=replace(job.metadata, labels=own), spec=replace(job.spec, template=template))


def job_as_stored(job: Job) -> Job:
    """Return the Job whose Pods carry its name and its UID, unless it selects them otherwise.

    One that has no UID yet gets one that is made up of its name.

    Source: pkg/registry/batch/job/strategy.go generateSelector (v1.36).
    """
    if job.spec.selector is not None:
        return job
    created = job_as_created(job)
    metadata = created.spec.template.metadata
    uid = job.metadata.uid or format(zlib.crc32(f"{job.metadata.namespace}/{job.metadata.name}".encode()), "08x")
    identity = dict.fromkeys(JOB_UID_LABELS, uid)
    template = replace(created.spec.template, metadata=replace(metadata, labels={**identity, **metadata.labels}))
    return replace(created, spec=replace(created.spec, template=template))


def _without_restart_rules(spec: PodSpec, release: Release) -> PodSpec:
    """Return the spec without restart rules of containers, and, in v1.34, without policies but those of sidecars."""
    # Before v1.34 only the policy of sidecars was valid: any other stays, and validation refuses it.
    known = release.knows(CONTAINER_RESTART_RULES)

    def stripped(container: Container) -> Container:
        policy = None if known else container.restart_policy
        return replace(container, restart_policy=policy, restart_policy_rules=())

    def without_rules(container: Container) -> Container:
        sidecar = container.restart_policy == "Always"
        return replace(container, restart_policy_rules=()) if sidecar else stripped(container)

    return replace(
        spec,
        containers=tuple(map(stripped, spec.containers)),
        init_containers=tuple(map(without_rules, spec.init_containers)),
        ephemeral_containers=tuple(map(stripped, spec.ephemeral_containers)),
    )


def _merged_affinity(affinity: Affinity, labels: Mapping[str, str]) -> Affinity:
    """Return the affinity with each term's label keys merged into its selector."""
    return replace(
        affinity,
        pod_affinity=_merged_pod_affinity(affinity.pod_affinity, labels),
        pod_anti_affinity=_merged_pod_affinity(affinity.pod_anti_affinity, labels),
    )


def _merged_pod_affinity(affinity: PodAffinity | None, labels: Mapping[str, str]) -> PodAffinity | None:
    """Return affinity or anti-affinity with merged terms."""
    if affinity is None:
        return None
    required = affinity.required_during_scheduling_ignored_during_execution
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    return PodAffinity(
        required_during_scheduling_ignored_during_execution=tuple(_merged_term(term, labels) for term in required),
        preferred_during_scheduling_ignored_during_execution=tuple(
            replace(weighted, pod_affinity_term=_merged_term(weighted.pod_affinity_term, labels))
            for weighted in preferred
        ),
    )


def _merged_term(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    """Return the term with its label keys merged into its selector."""
    expressions = (
        *_expressions("In", term.match_label_keys, labels),
        *_expressions("NotIn", term.mismatch_label_keys, labels),
    )
    return replace(term, label_selector=_with_expressions(term.label_selector, expressions))


def _merged_constraint(constraint: TopologySpreadConstraint, labels: Mapping[str, str]) -> TopologySpreadConstraint:
    """Return the constraint with its label keys merged into its selector."""
    expressions = tuple(_expressions("In", constraint.match_label_keys, labels))
    return replace(constraint, label_selector=_with_expressions(constraint.label_selector, expressions))


def _expressions(operator: str, keys: Sequence[str], labels: Mapping[str, str]) -> Iterator[LabelSelectorRequirement]:
    """Yield an expression for each of the keys that the Pod's labels have."""
    for key in keys:
        # A key that the Pod lacks is left out, rather than to select the Pods that lack it too.
        if key in labels:
            yield LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))


def _with_expressions(
    selector: LabelSelector | None, expressions: Sequence[LabelSelectorRequirement]
) -> LabelSelector | None:
    """Return the selector with further expressions; an absent one stays absent."""
    # A nil selector matches nothing; with expressions it would match something.
    if selector is None:
        return None
    return replace(selector, match_expressions=(*selector.match_expressions, *expressions))


def unmerged(spec: PodSpec) -> PodSpec:
    """Return the spec as it was before its label keys were merged: validation forbids a selector that names them."""
    constraints = tuple(map(_unmerged_constraint, spec.topology_spread_constraints))
    affinity = _unmerged_affinity(spec.affinity) if spec.affinity else None
    return replace(spec, topology_spread_constraints=constraints, affinity=affinity)


def _unmerged_constraint(constraint: TopologySpreadConstraint) -> TopologySpreadConstraint:
    """Return the constraint without the expressions of its label keys."""
    return replace(constraint, label_selector=_without(constraint.label_selector, constraint.match_label_keys))


def _unmerged_affinity(affinity: Affinity) -> Affinity:
    """Return the affinity without the expressions of its terms' label keys."""
    return replace(
        affinity,
        pod_affinity=_unmerged_pod_affinity(affinity.pod_affinity),
        pod_anti_affinity=_unmerged_pod_affinity(affinity.pod_anti_affinity),
    )


def _unmerged_pod_affinity(affinity: PodAffinity | None) -> PodAffinity | None:
    """Return affinity or anti-affinity without them."""
    if affinity is None:
        return None
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    return PodAffinity(
        required_during_scheduling_ignored_during_execution=tuple(
            map(_unmerged_term, affinity.required_during_scheduling_ignored_during_execution)
        ),
        preferred_during_scheduling_ignored_during_execution=tuple(
            replace(weighted, pod_affinity_term=_unmerged_term(weighted.pod_affinity_term)) for weighted in preferred
        ),
    )


def _unmerged_term(term: PodAffinityTerm) -> PodAffinityTerm:
    """Return the term without the expressions of its label keys."""
    return replace(
        term, label_selector=_without(term.label_selector, (*term.match_label_keys, *term.mismatch_label_keys))
    )


def _without(selector: LabelSelector | None, keys: Sequence[str]) -> LabelSelector | None:
    """Return the selector without expressions on these keys."""
    if selector is None or not keys:
        return selector
    left = tuple(expression for expression in selector.match_expressions if expression.key not in keys)
    return replace(selector, match_expressions=left)
