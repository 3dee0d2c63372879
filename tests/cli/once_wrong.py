"""Small clusters on which a hurried answer misleads, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.build import HOSTNAME, ZONE, Object, app, namespace, node, spread
from tests.build_workloads import controller, cron_job, owned, revision, template, workload
from tests.program import Ended, listed
from tests.program import spread as run

ON_ZONES = spread(ZONE, selector=app("web"))
ZONES = (namespace("default"), node("a1", zone="a"), node("b1", zone="b"))
SHUT = node("c1", zone="c", taints=["dedicated=gpu:NoSchedule"])
"""The node of a third zone, to which Pods without the toleration cannot go."""


class Row(Struct, frozen=True, kw_only=True):
    """A question and its answer."""

    objects: Sequence[Object]  # the cluster
    ask: Sequence[str]  # the command and its words
    manifests: Sequence[Object] = ()  # what ``check`` is asked about, or ``simulate`` applies
    code: int = 0  # the exit code
    says: Sequence[str] = ()  # what stands in the answer
    says_not: Sequence[str] = ()  # what does not

    def wrong(self, folder: Path) -> str:
        """Return the answer where it is not as it should be; empty where it is."""
        command, *words = self.ask
        ended = asked(folder, command, self.objects, *words, manifests=self.manifests)
        text = ended.stdout + ended.stderr
        right = ended.code == self.code and all(each in text for each in self.says)
        return "" if right and not any(each in text for each in self.says_not) else f"{ended.code}\n{text}"


def asked(
    folder: Path, command: str, objects: Iterable[Object], *words: str, manifests: Sequence[Object] = ()
) -> Ended:
    """Return how the command ends about a cluster of these objects.

    Args:
        folder: where files may be written.
        command: the command.
        objects: the cluster.
        *words: further words of the command line.
        manifests: what ``check`` is asked about, or ``simulate`` applies; nothing for other commands.
    """
    cluster = listed(folder / "cluster.json", objects)
    flag = "--apply" if command == "simulate" else "-f"
    manifest = (flag, listed(folder / "manifest.json", manifests)) if manifests else ()
    return run(command, "--from", cluster, *manifest, *words)


def pods_of(kind: str, owner: str, *on: str, pods: Object, **fields: Any) -> list[Object]:  # noqa: ANN401 - any field of the spec, by the API's name
    """Return a Pod of the template on each of these nodes, Pending for an empty one; ``fields`` are its alone."""
    labels = pods["metadata"]["labels"]
    given = {**pods["spec"], **fields}
    return [owned(f"{owner}-{n}", kind, owner, on=where, labels=labels, **given) for n, where in enumerate(on)]


def deployed(
    *on: str,
    pods: Object | None = None,
    beyond: Mapping[str, Any] | None = None,
    **spec: Any,  # noqa: ANN401 - any field of the spec, by the API's name
) -> list[Object]:
    """Return the Deployment web with a Pod on each of these nodes, Pending for an empty one.

    Args:
        *on: the nodes.
        pods: its template; with a constraint on zones unless said.
        beyond: what the spec of its Pods has besides, as a webhook writes it.
        **spec: further fields of its spec.
    """
    made = pods or template(ON_ZONES)
    replicas = revision("web", 1, pods=made)
    replicas["spec"]["replicas"] = len(on)
    living = pods_of("ReplicaSet", "web-h1", *on, pods=replicas["spec"]["template"], **(beyond or {}))
    return [workload("Deployment", "web", pods=made, replicas=len(on), **spec), replicas, *living]


def mounting(name: str) -> Object:
    """Return the fields of a Pod that mounts the claim."""
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]}


def run_of(job: str, *on: str) -> list[Object]:
    """Return a Job of the CronJob nightly with its Pods."""
    labels = {"app": "web", "batch.kubernetes.io/job-name": job}
    by_run = spread(ZONE, selector=app("web"), matchLabelKeys=["batch.kubernetes.io/job-name"])
    pods = template(by_run, labels=labels, restartPolicy="Never")
    made = workload("Job", job, pods=pods, parallelism=len(on), owner=controller("CronJob", "nightly"))
    return [made, *pods_of("Job", job, *on, pods=pods)]


def nightly() -> Object:
    """Return a CronJob whose runs count their own Pods alone."""
    by_run = spread(ZONE, selector=app("web"), matchLabelKeys=["batch.kubernetes.io/job-name"])
    return cron_job("nightly", pods=template(by_run, restartPolicy="Never"), parallelism=2)


def paused() -> list[Object]:
    """Return a paused Deployment whose new template no Pod has: it says nodes, and those that run say zones."""
    made, *rest = deployed("a1", "b1", paused=True)
    made["spec"]["template"] = template(spread(HOSTNAME, selector=app("web")))
    return [made, *rest]
