"""Named situations: tests/testdata/<plugin>/<situation>.yaml, and what the plugin must say of them.

A file holds ``about`` (what holds, in a sentence), the cluster in sections named as in `SECTIONS` (each entry the
arguments of a builder; ``objects`` are given whole), the ``pod``, ``release``, ``gates`` and ``config`` (a whole one or
just plugins with their arguments) where they are not the usual ones, and ``want``, one of:

* ``skip: true``: the filter has nothing to judge;
* ``all: [code, reason]``: it rejects the Pod before any node is looked at;
* ``nodes``: node → ``Success`` or ``[code, reason...]``;

and besides ``scores``: node → 0..100, ``null`` where the score has nothing to say; ``counts``, ``gets`` and others that
the plugin's own test explains.

``python -m tests.soak situations`` puts all of them to kube-scheduler itself (Go is needed).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.cycle import PRE_FILTER_RESULT
from kubectl_spread.scheduler.framework import Code, Handle, PreFilterResult, Scores, Status
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Profile
from tests import build, build_devices, build_storage
from tests.build import Object, configured_profile
from tests.conformance.record import ask, oracle

RELEASE = "1.36"  # The release of a situation that names none
TESTDATA = Path(__file__).parent.parent / "testdata"
PLUGINS = {
    "balanced_allocation": "NodeResourcesBalancedAllocation",
    "deferredpodscheduling": "DeferredPodScheduling",
    "dynamicresources": "DynamicResources",
    "imagelocality": "ImageLocality",
    "interpodaffinity": "InterPodAffinity",
    "nodeaffinity": "NodeAffinity",
    "nodedeclaredfeatures": "NodeDeclaredFeatures",
    "nodename": "NodeName",
    "nodeports": "NodePorts",
    "noderesources": "NodeResourcesFit",
    "nodeunschedulable": "NodeUnschedulable",
    "nodevolumelimits": "NodeVolumeLimits",
    "podtopologyspread": "PodTopologySpread",
    "tainttoleration": "TaintToleration",
    "volumebinding": "VolumeBinding",
    "volumerestrictions": "VolumeRestrictions",
    "volumezone": "VolumeZone",
}
"""Folder → plugin."""


def pod(
    *,
    name: str = "new",
    node: str = "",
    claims: Iterable[str] = (),
    volumes: Iterable[Object] = (),
    **fields: Any,  # noqa: ANN401 - whatever `build.pod` takes
) -> Object:
    """Return a Pod of `build.pod`, whose volumes are these claims and these."""
    claimed = [{"name": f"claim-{i}", "persistentVolumeClaim": {"claimName": name}} for i, name in enumerate(claims)]
    return build.pod(name, on=node, volumes=[*claimed, *volumes], **fields)


SECTIONS: Mapping[str, Callable[..., Object]] = {
    "nodes": build.node,
    "pods": pod,
    "namespaces": build.namespace,
    "claims": build_storage.claim,
    "volumes": build_storage.volume,
    "classes": build_storage.storage_class,
    "csiNodes": build_storage.csi_node,
    "drivers": build_storage.csi_driver,
    "capacities": build_storage.storage_capacity,
    "attachments": build_storage.attachment,
    "deviceClasses": build_devices.device_class,
    "resourceClaims": build_devices.resource_claim,
    "resourceSlices": build_devices.resource_slice,
    "objects": dict,
}


@dataclass(frozen=True)
class Situation:
    """A cluster, a Pod, and what a plugin must say."""

    plugin: str  # the plugin's folder
    name: str  # the file's name
    values: Object  # what is in the file

    def __str__(self) -> str:
        """Return the name under which pytest shows it."""
        return self.name

    @property
    def about(self) -> str:
        """What holds, in a sentence."""
        return str(self.values["about"])

    @property
    def want(self) -> Object:
        """What the plugin must say."""
        wanted: Object = self.values["want"]
        return wanted

    @property
    def verdict(self) -> Object:
        """What the filter must say: ``want`` without the rest."""
        return {key: value for key, value in self.want.items() if key in ("skip", "all", "nodes")}

    @property
    def release(self) -> str:
        """Whose rules apply, such as ``1.36``."""
        return str(self.values.get("release", RELEASE))

    @property
    def objects(self) -> list[Object]:
        return [make(**entry) for section, make in SECTIONS.items() for entry in self.values.get(section, ())]

    @property
    def config(self) -> Object | None:
        """The scheduler's configuration, None for the default one."""
        config: Object | None = self.values.get("config")
        if config is None or "apiVersion" in config:
            return config
        named = [{"name": plugin, "args": _arguments(plugin, args)} for plugin, args in config.items()]
        return _configuration({"pluginConfig": named})

    @property
    def case(self) -> Object:
        """The situation as the oracle is asked."""
        values: Object = {
            "id": f"{self.plugin}/{self.name}",
            "objects": self.objects,
            "pod": pod(**self.values["pod"]),
            "kubeVersion": f"v{self.release}",
        }
        optional = {"featureGates": self.values.get("gates"), "config": self.config}
        return values | {field: value for field, value in optional.items() if value}

    @property
    def profile(self) -> Profile:
        """The scheduler's profile."""
        minor = int(self.release.removeprefix("1."))
        return configured_profile(self.config, minor=minor, gates=self.values.get("gates"))

    @property
    def handle(self) -> Handle:
        """The cluster as the plugin sees it."""
        return build.handle(self.objects, self.profile)

    @property
    def pod(self) -> Pod:
        return build.typed_pod(pod(**self.values["pod"]), self.profile)

    def judged_by(self, pre_filter: Callable[[Pod, Handle], PreFilterResult | Status]) -> Object:
        """Return what the filter says, in the words of ``want``."""
        handle = self.handle
        result = pre_filter(self.pod, handle)
        if isinstance(result, Status):
            return {"all": _said(result)} if result.rejected else {"skip": True}
        return {"nodes": {name: _judged(result, info) for name, info in handle.node_infos.items()}}

    def scored_by(self, pre_score: Callable[[Pod, Handle, Sequence[NodeInfo]], Scores | Status | None]) -> Object:
        """Return node → score, None where the score has nothing to say."""
        handle = self.handle
        scores = pre_score(self.pod, handle, [*handle.node_infos.values()])
        if isinstance(scores, Status):
            return {"all": _said(scores)}
        return dict.fromkeys(handle.node_infos) if scores is None else {**scores}


def _configuration(profile: Object) -> Object:
    api = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {**api, "profiles": [{"schedulerName": "default-scheduler", **profile}]}


def _arguments(plugin: str, values: Object) -> Object:
    """Return a plugin's arguments as the configuration carries them."""
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": f"{plugin}Args", **values}


def _judged(result: PreFilterResult, info: NodeInfo) -> Any:  # noqa: ANN401 - a word or a list of them
    """Return the verdict on a node; one that PreFilter has left out is recorded without a reason of its own."""
    if result.node_names is not None and info.name not in result.node_names:
        return [Code.UNSCHEDULABLE_AND_UNRESOLVABLE.value, PRE_FILTER_RESULT]
    return _said(result.filter_node(info))


def _said(status: Status) -> Any:  # noqa: ANN401 - a word or a list of them
    return [status.code.value, *status.reasons] if status.rejected else status.code.value


def situations(plugin: str, *, having: str = "") -> list[Situation]:
    """Return the situations of one plugin, by name: all, or those that want something particular."""
    files = sorted((TESTDATA / plugin).glob("*.yaml"))
    found = (
        Situation(plugin, file.stem, yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)) for file in files
    )
    return [situation for situation in found if not having or having in situation.want]


def disagreements(asked: Iterable[Situation]) -> list[str]:
    """Return where kube-scheduler itself says something else than is wanted."""
    by_release: dict[str, list[Situation]] = defaultdict(list)
    for situation in asked:
        by_release[situation.release].append(situation)
    found = []
    for release, of_release in sorted(by_release.items()):
        answers = ask(oracle(release), [situation.case for situation in of_release])
        found += [line for pair in zip(of_release, answers, strict=True) for line in _disagreements(*pair)]
    return found


def _disagreements(situation: Situation, answer: Object) -> Iterable[str]:
    """Yield where the answer departs from what is wanted."""
    name = f"{situation.plugin}/{situation.name}"
    if "error" in answer:
        yield f"{name}: {answer['error']}"
        return
    plugin = PLUGINS[situation.plugin]
    each = answer.get("each", {}).get(plugin, {})
    for node, said in _by_node(situation).items():
        found = each.get(node)
        heard = "Success" if found is None else [found["code"], *found.get("reasons", ())]
        if _as_set(said) != _as_set(heard):
            yield f"{name}: of {node} kube-scheduler says {heard}, wanted is {said}"
    weight = situation.profile.weights.get(plugin, 1)
    for node, wanted in situation.want.get("scores", {}).items():
        scored = answer.get("scores", {}).get(node, {}).get(plugin)
        if scored != (None if wanted is None else wanted * weight):
            yield f"{name}: kube-scheduler scores {node} {scored} at weight {weight}, wanted is {wanted}"


def _by_node(situation: Situation) -> Mapping[str, Any]:
    """Return node → what is wanted of it; nothing where the situation is about scores alone."""
    want = situation.verdict
    if not want:
        return {}
    names = [entry["name"] for entry in situation.values["nodes"]]
    found: Mapping[str, Any] = want.get("nodes") or dict.fromkeys(names, want.get("all", "Success"))
    return found


def _as_set(said: Any) -> frozenset[str]:  # noqa: ANN401 - a word or a list of them
    """Return the code and the reasons, whose order does not matter."""
    return frozenset([said] if isinstance(said, str) else said)
