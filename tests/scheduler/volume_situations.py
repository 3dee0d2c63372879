"""Named situations with volumes: tests/testdata/<plugin>/<situation>.yaml, and what the plugin must say of them.

A file holds ``about`` (what holds, in a sentence), the cluster in sections named as in `SECTIONS` (each entry the
arguments of a builder), the ``pod`` (``claims`` is short for volumes that are claims), ``release``, ``gates`` and
``config`` where they are not the usual ones, and ``want``, one of:

* ``skip: true``: the plugin has nothing to judge;
* ``all: [code, reason]``: it rejects the Pod before any node is looked at;
* ``nodes``: node → ``Success`` or ``[code, reason...]``;

and besides ``gets``: node → claim → the volume it would get, and ``scores``: node → 0..100, ``null`` in releases that
do not score.

``python -m tests.scheduler.volume_situations`` puts all of them to kube-scheduler itself (Go is needed).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import Handle, PreFilterResult, Status
from kubectl_spread.scheduler.profile import Profile, configured_profile
from tests import build, build_storage
from tests.build import Object
from tests.conformance.record import ask, oracle


def mounting_pod(
    *,
    name: str = "new",
    namespace: str = "default",
    node: str = "",
    claims: Iterable[str] = (),
    volumes: Iterable[Object] = (),
) -> Object:
    """Return a Pod that mounts the claims and the volumes."""
    claimed = [{"name": f"claim-{i}", "persistentVolumeClaim": {"claimName": name}} for i, name in enumerate(claims)]
    return build.pod(name, namespace=namespace, on=node, volumes=[*claimed, *volumes])


TESTDATA = Path(__file__).parent.parent / "testdata"
PLUGINS = {
    "volumerestrictions": "VolumeRestrictions",
    "nodevolumelimits": "NodeVolumeLimits",
    "volumebinding": "VolumeBinding",
    "volumezone": "VolumeZone",
}
SECTIONS: Mapping[str, Callable[..., Object]] = {
    "nodes": build.node,
    "pods": mounting_pod,
    "claims": build_storage.claim,
    "volumes": build_storage.volume,
    "classes": build_storage.storage_class,
    "csiNodes": build_storage.csi_node,
    "drivers": build_storage.csi_driver,
    "capacities": build_storage.storage_capacity,
    "attachments": build_storage.attachment,
}


@dataclass(frozen=True)
class Situation:
    """A cluster, a Pod, and what a plugin must say.

    Attributes:
        plugin: the plugin's folder.
        name: the file's name.
        values: what is in the file.
    """

    plugin: str
    name: str
    values: Object

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
    def release(self) -> str:
        """Whose rules apply, such as ``1.36``."""
        return str(self.values.get("release", "1.36"))

    @property
    def objects(self) -> list[Object]:
        """The cluster."""
        return [make(**entry) for section, make in SECTIONS.items() for entry in self.values.get(section, ())]

    @property
    def case(self) -> Object:
        """The situation as the oracle is asked."""
        values: Object = {
            "id": f"{self.plugin}/{self.name}",
            "objects": self.objects,
            "pod": mounting_pod(**self.values["pod"]),
        }
        values["kubeVersion"] = f"v{self.release}"
        optional = {"featureGates": self.values.get("gates"), "config": self.values.get("config")}
        return values | {field: value for field, value in optional.items() if value}

    @property
    def profile(self) -> Profile:
        """The scheduler's profile."""
        minor = int(self.release.removeprefix("1."))
        return configured_profile(self.values.get("config"), minor=minor, gates=self.values.get("gates"))

    @property
    def handle(self) -> Handle:
        """The cluster as the plugin sees it."""
        return build.handle(self.objects, self.profile)

    @property
    def pod(self) -> Pod:
        """The Pod to be placed."""
        return build.typed_pod(mounting_pod(**self.values["pod"]), self.profile)

    def judged_by(self, pre_filter: Callable[[Pod, Handle], PreFilterResult | Status]) -> Object:
        """Return what the plugin says, in the words of ``want``."""
        handle = self.handle
        result = pre_filter(self.pod, handle)
        if isinstance(result, Status):
            return {"all": _said(result)} if result.rejected else {"skip": True}
        return {"nodes": {name: _said(result.filter_node(info)) for name, info in handle.node_infos.items()}}

    @property
    def verdict(self) -> Object:
        """What the filter must say: ``want`` without the rest."""
        return {key: value for key, value in self.want.items() if key in ("skip", "all", "nodes")}


def situations(plugin: str) -> list[Situation]:
    """Return the situations of one plugin, by name."""
    files = sorted((TESTDATA / plugin).glob("*.yaml"))
    return [Situation(plugin, file.stem, yaml.safe_load(file.read_text(encoding="utf-8"))) for file in files]


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
    for node, wanted in (situation.want.get("scores") or {}).items():
        scored = answer.get("scores", {}).get(node, {}).get(plugin)
        if scored != wanted:
            yield f"{name}: kube-scheduler scores {node} {scored}, wanted is {wanted}"


def _by_node(situation: Situation) -> Mapping[str, Any]:
    """Return node → what is wanted of it."""
    want = situation.verdict
    names = [entry["name"] for entry in situation.values["nodes"]]
    return want["nodes"] if "nodes" in want else dict.fromkeys(names, want.get("all", "Success"))


def _as_set(said: Any) -> frozenset[str]:  # noqa: ANN401 - a word or a list of them
    """Return the code and the reasons, whose order does not matter."""
    return frozenset([said] if isinstance(said, str) else said)


def _said(status: Status) -> Any:  # noqa: ANN401 - a word or a list of them
    """Return a status in the words of ``want``."""
    return [status.code.value, *status.reasons] if status.rejected else status.code.value


def main() -> int:
    """Put every situation to kube-scheduler; return 1 where it disagrees."""
    asked = [situation for plugin in PLUGINS for situation in situations(plugin)]
    found = disagreements(asked)
    sys.stdout.write("\n".join([*found, f"{len(asked)} situations, {len(found)} disagreements", ""]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
