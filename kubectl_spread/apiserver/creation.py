"""What the API server changes in an object between admission and validation.

Source: pkg/api/pod/util.go dropDisabledFields, pkg/registry/core/pod/strategy.go PrepareForCreate; for Jobs
pkg/apis/batch/v1/defaults.go, pkg/registry/batch/job/strategy.go (v1.33 to v1.37).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.objects.core import Container, Pod, PodAffinity, PodAffinityTerm, PodSpec
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

_GENERATED = "xxxxx"  # The five random characters that the API server adds to generateName
_MAX_GENERATED = 63
Keys: TypeAlias = Sequence[str]  # Keys of labels


def name_as_created(metadata: ObjectMeta) -> str:
    """Return the object's name, or one like it would get; empty where it has neither name nor generateName."""
    if metadata.name or not metadata.generate_name:
        return metadata.name
    return metadata.generate_name[: _MAX_GENERATED - len(_GENERATED)] + _GENERATED


def pod_as_created(pod: Pod, release: Release) -> Pod:
    """Return the Pod of a manifest as it is validated: defaults set, then prepared."""
    return prepared(defaulted(pod, release), release)


def prepared(pod: Pod, release: Release) -> Pod:
    """Return the Pod without the fields whose feature is off, and with label keys merged into selectors.

    Keys are merged only when a Pod is created. Its template keeps them, because each revision has its own labels.

    Source: pkg/registry/core/pod/strategy.go podStrategy.PrepareForCreate (v1.36).
    """
    spec, merged = template_as_created(pod.spec, release), partial(_merged, pod.metadata.labels)
    return replace(pod, spec=_with_selectors(spec, merged, of_constraints=release.enables(MATCH_LABEL_KEYS_MERGE)))


def template_as_created(spec: PodSpec, release: Release) -> PodSpec:
    """Return the spec of a Pod or a template without the fields whose feature is off.

    A disabled field is dropped, not refused.

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
    """Return the Job with its name in the labels of its template, unless it has a selector."""
    # upstream: a Job without labels shares its template's, if that has any.
    of_template = job.spec.template.metadata
    labels = of_template.labels
    if job.spec.selector is None:
        labels = {**dict.fromkeys(JOB_NAME_LABELS, name_as_created(job.metadata)), **labels}
    template = replace(job.spec.template, metadata=replace(of_template, labels=labels))
    own = job.metadata.labels or (labels if of_template.labels else {})
    return Job(metadata=replace(job.metadata, labels=own), spec=replace(job.spec, template=template))


def job_as_stored(job: Job) -> Job:
    """Return the Job whose Pods have its name and its UID as labels, unless it has a selector.

    A Job without a UID gets one that is derived from its name.

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
    """Return the spec without restart rules, and, from v1.34 on, without restart policies of others than sidecars.

    Earlier releases know no other policy, so validation refuses it.
    """
    knows_policies = release.knows(CONTAINER_RESTART_RULES)

    def without_rules(container: Container, *, is_sidecar: bool = False) -> Container:
        policy = None if knows_policies and not is_sidecar else container.restart_policy
        return replace(container, restart_policy=policy, restart_policy_rules=())

    return replace(
        spec,
        containers=tuple(map(without_rules, spec.containers)),
        init_containers=tuple(without_rules(c, is_sidecar=c.restart_policy == "Always") for c in spec.init_containers),
        ephemeral_containers=tuple(map(without_rules, spec.ephemeral_containers)),
    )


def _merged(
    labels: Mapping[str, str], selector: LabelSelector | None, match_keys: Keys, mismatch_keys: Keys
) -> LabelSelector | None:
    # A nil selector matches nothing, and stays nil.
    if selector is None:
        return None
    # A key that the Pod does not have is left out.
    expressions = (
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for operator, keys in (("In", match_keys), ("NotIn", mismatch_keys))
        for key in keys
        if key in labels
    )
    return replace(selector, match_expressions=(*selector.match_expressions, *expressions))


def unmerged(spec: PodSpec) -> PodSpec:
    """Return the spec as it was before its label keys were merged into selectors."""

    def without(selector: LabelSelector | None, match_keys: Keys, mismatch_keys: Keys) -> LabelSelector | None:
        keys = {*match_keys, *mismatch_keys}
        if selector is None or not keys:
            return selector
        left = tuple(expression for expression in selector.match_expressions if expression.key not in keys)
        return replace(selector, match_expressions=left)

    return _with_selectors(spec, without)


def _with_selectors(
    spec: PodSpec,
    change: Callable[[LabelSelector | None, Keys, Keys], LabelSelector | None],
    *,
    of_constraints: bool = True,
) -> PodSpec:
    """Return the spec with changed selectors; ``change`` takes a selector, matchLabelKeys and mismatchLabelKeys."""

    def changed(term: PodAffinityTerm) -> PodAffinityTerm:
        selector = change(term.label_selector, term.match_label_keys, term.mismatch_label_keys)
        return replace(term, label_selector=selector)

    def of_pods(terms: PodAffinity | None) -> PodAffinity | None:
        if terms is None:
            return None
        preferred = (replace(each, pod_affinity_term=changed(each.pod_affinity_term)) for each in terms.preferred)
        return PodAffinity(required=tuple(map(changed, terms.required)), preferred=tuple(preferred))

    affinity, constraints = spec.affinity, spec.topology_spread_constraints
    if affinity:
        near, apart = of_pods(affinity.pod_affinity), of_pods(affinity.pod_anti_affinity)
        affinity = replace(affinity, pod_affinity=near, pod_anti_affinity=apart)
    if of_constraints:
        selectors = (change(each.label_selector, each.match_label_keys, ()) for each in constraints)
        pairs = zip(constraints, selectors, strict=True)
        constraints = tuple(replace(each, label_selector=selector) for each, selector in pairs)
    return replace(spec, affinity=affinity, topology_spread_constraints=constraints)
