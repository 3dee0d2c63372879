"""The snapshot that ships, served as an API server would in small pages, and the program run against it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from kubectl_spread.objects.kinds import BY_API, KINDS
from tests.cluster.api_server import Answer, Response, Seen, status
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.program import INSTALLED, Ended

SHOP = Path(__file__).parents[2] / "examples" / "shop.yaml"
TOKEN = "s3cr3t-t0k3n"  # noqa: S105 - that of a server on loopback
PODS, NODES = "/api/v1/pods", "/api/v1/nodes"
WHY = ("why-pending", "--fix-budget", "0")  # What is asked: to look for fixes reads nothing more

Object = dict[str, Any]


def shop_objects() -> list[Object]:
    """Return what the snapshot holds; nobody else has what is returned."""
    found: list[Object] = yaml.load(SHOP.read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]
    return found


@dataclass(frozen=True, slots=True)
class Shop:
    """An answer to every request that the program makes."""

    objects: list[Object] = field(default_factory=shop_objects)  # what the cluster holds
    page: int = 4  # how many objects a page has at most
    version: str = "7"  # of all lists

    def __call__(self, seen: Seen) -> Response:
        """Return a page of the list, or the server's version."""
        if seen.path == "/version":
            return Response(body={"gitVersion": "v1.36.2"})
        items = self._listed(seen.path)
        if items is None:
            return status(404, "NotFound", "the server could not find the requested resource")
        begin = int(seen.query.get("continue", "0"))
        end = begin + min(self.page, int(seen.query.get("limit", self.page)))
        metadata: Object = {"resourceVersion": self.version}
        if end < len(items):
            metadata |= {"continue": str(end), "remainingItemCount": len(items) - end}
        return Response(body={"metadata": metadata, "items": items[begin:end]})

    def _listed(self, path: str) -> list[Object] | None:
        """Return the objects of the list at the path, None where there is no such list."""
        for kind in KINDS:
            for namespace in ("", "shop"):
                if path == kind.path(namespace):
                    return [each for each in self.objects if _is_in(each, kind.name, namespace)]
        return None


def _is_in(each: Object, kind: str, namespace: str) -> bool:
    """Whether the object is of the kind and, unless it is empty, of the namespace."""
    known = BY_API[each["apiVersion"], each["kind"]]
    return known.name == kind and namespace in {"", each["metadata"].get("namespace", namespace)}


def first_page(seen: Seen, path: str) -> bool:
    """Whether the request is for the beginning of the list."""
    return seen.path == path and "continue" not in seen.query and seen.query.get("limit") != "1"


def failing(fault: Response, *, path: str = PODS, forever: bool = False) -> Answer:
    """Return the shop, with trouble where a list begins, once or for ever."""
    shop, waiting = Shop(), [fault]

    def answer(seen: Seen) -> Response:
        if not first_page(seen, path) or not waiting:
            return shop(seen)
        return waiting[0] if forever else waiting.pop()

    return answer


@dataclass(frozen=True, slots=True)
class Program:
    """The installed command with a kubeconfig for one server, and nothing else of whoever runs the tests."""

    kubeconfig: Path  # for the server
    home: Path  # an empty directory

    @classmethod
    def for_server(cls, url: str, folder: Path, *, authority: Path | None = None) -> Program:
        """Return the program for a user with a token; over TLS where there is an authority to trust."""
        cluster = {"certificate-authority": str(authority)} if authority else {}
        path = folder / "kubeconfig"
        write_kubeconfig(path, server=url, namespace="shop", cluster=cluster, user={"token": TOKEN})
        return cls(path, folder)

    @property
    def environment(self) -> Mapping[str, str]:
        """What the program sees of its surroundings."""
        return {"PATH": os.defpath, "HOME": str(self.home), "KUBECONFIG": str(self.kubeconfig)}

    def run(self, *words: str) -> Ended:
        """Return how the installed command ended, which has told nobody the token either."""
        process = self.start(*words)
        stdout, stderr = process.communicate(timeout=60)
        assert TOKEN not in stdout + stderr
        return Ended(process.returncode, stdout, stderr)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Return the program, running."""
        return subprocess.Popen(
            [str(INSTALLED), *words],
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
