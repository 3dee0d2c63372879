"""A large cluster's Pods are asked for node by node, and whatever goes wrong amid that, the answer is whole or none."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pytest

from kubectl_spread.commands.read_sets import WHOLE_CLUSTER_PODS
from tests.build import Object, namespace, node, pod
from tests.cluster.api_server import Response, Seen, serving, status
from tests.faults.shop import PODS, Program, Shop
from tests.program import Ended

ANSWERED = 1
"""The exit code: the Pod is blocked."""
WAITING, MANIFEST = "why-pending", "check"
"""What is asked: why a Pod waits, and whether one would find a node."""
ALWAYS = 99
NODES = [f"n{number:02}" for number in range(20)]
SHUT = ["node.kubernetes.io/unreachable:NoSchedule"]
OBJECTS: list[Object] = [
    namespace("shop"),
    *(node(name) for name in NODES),
    *(node(f"shut-{number}", taints=SHUT) for number in range(5)),
    *(pod(f"big-{name}", on=name, namespace="other", requests={"cpu": "8"}) for name in NODES),
    pod("waits", namespace="shop", requests={"cpu": "1"}),
]
COMES = pod("comes", namespace="shop", requests={"cpu": "1"})
TROUBLED = "n07"


def is_on_node(seen: Seen) -> bool:
    """Whether the request is for the Pods of one node."""
    return seen.path == PODS and seen.query.get("fieldSelector", "").startswith("spec.nodeName=n")


@dataclass(frozen=True, slots=True)
class LargeShop:
    """A cluster that says it has many Pods, and gives those of one node where they are asked for."""

    shop: Shop = field(default_factory=lambda: Shop(objects=OBJECTS, page=500))

    def __call__(self, seen: Seen) -> Response:
        """Return what is asked for."""
        answer = self.shop(seen)
        if seen.path != PODS or not isinstance(answer.body, dict):
            return answer
        if seen.query.get("limit") == "1":
            metadata = answer.body["metadata"] | {"continue": "1", "remainingItemCount": WHOLE_CLUSTER_PODS}
            return Response(body=answer.body | {"metadata": metadata})
        items = answer.body["items"]
        if selector := seen.query.get("fieldSelector"):
            name = selector.removeprefix("spec.nodeName=")
            items = [each for each in items if each["spec"].get("nodeName", "") == name]
        return Response(body=answer.body | {"items": items})


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to the list of one node's Pods, and what comes of it.

    Attributes:
        name: what it is.
        says: what the server says in place of the list.
        times: how often, before it says the list.
        whole: whether all Pods are read then.
        requests: how often the list is asked for.
    """

    name: str
    says: Response
    times: int = ALWAYS
    whole: bool = False
    requests: int


TOO_NEW = status(504, "Timeout", "Too large resource version", Retry_After="1")
TOO_NEW.body["details"] = {"causes": [{"reason": "ResourceVersionTooLarge"}]}  # type: ignore[index] # a Status
FAULTS = (
    Fault(name="403", says=status(403, "Forbidden"), whole=True, requests=1),
    Fault(name="410", says=status(410, "Expired"), times=1, requests=2),
    Fault(name="410 always", says=status(410, "Expired"), whole=True, requests=3),
    Fault(name="504: that server is behind", says=TOO_NEW, times=2, requests=3),
)


def troubled(fault: Fault) -> Callable[[Seen], Response]:
    """Return a server with the fault."""
    shop, left, lock = LargeShop(), [fault.times], threading.Lock()

    def answer(seen: Seen) -> Response:
        with lock:
            trouble = is_on_node(seen) and seen.query["fieldSelector"].endswith(TROUBLED) and left[0] > 0
            left[0] -= trouble
        return fault.says if trouble else shop(seen)

    return answer


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, ...]]:
    """Return question → how it is put to the program."""
    manifest = tmp_path_factory.mktemp("manifest") / "comes.json"
    manifest.write_text(json.dumps(COMES))
    return {WAITING: ("why-pending",), MANIFEST: ("check", "-f", str(manifest))}


@pytest.fixture(scope="module")
def answers(
    questions: dict[str, tuple[str, ...]], tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, bool], str]:
    """Return (question, whether all Pods were read) → the answer of a server without faults."""
    found = {}
    for (name, words), (whole, flags) in product(questions.items(), ((False, ()), (True, ("--read=all",)))):
        with serving(LargeShop()) as running:
            ended = Program.for_server(running.url, tmp_path_factory.mktemp("whole")).run(*words, *flags)
        assert (ended.code, ended.stderr) == (ANSWERED, "")
        assert any(map(is_on_node, running.seen)) is not whole
        found[name, whole] = ended.stdout
    return found


@pytest.mark.parametrize("question", [WAITING, MANIFEST])
def test_what_is_said_is_the_same_in_stages(question: str, answers: dict[tuple[str, bool], str]) -> None:
    assert answers[question, False].splitlines()[0] == answers[question, True].splitlines()[0]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault(
    fault: Fault,
    tmp_path_factory: pytest.TempPathFactory,
    questions: dict[str, tuple[str, ...]],
    answers: dict[tuple[str, bool], str],
) -> None:
    """Both questions are put at once, because most of their time is spent in pauses."""
    folders = [tmp_path_factory.mktemp("fault") for _ in questions]
    with ThreadPoolExecutor() as pool:
        judged = pool.map(
            lambda question, folder: judge(fault, folder, questions[question], answers[question, fault.whole]),
            questions,
            folders,
        )
        assert len([*judged]) == len(questions)


def judge(fault: Fault, folder: Path, question: tuple[str, ...], answer: str) -> None:
    """Assert what comes of the fault when this is asked, whose answer without it is this."""
    with serving(troubled(fault)) as server:
        ended = Program.for_server(server.url, folder).run(*question)
    assert ended == Ended(ANSWERED, answer, "")
    asked = [seen.query["fieldSelector"] for seen in server.seen if is_on_node(seen)]
    assert asked.count(f"spec.nodeName={TROUBLED}") == fault.requests


def test_who_may_not_list_all_pods_is_answered_from_a_namespace(tmp_path: Path) -> None:
    shop = LargeShop()
    with serving(lambda seen: status(403, "Forbidden") if seen.path == PODS else shop(seen)) as running:
        ended = Program.for_server(running.url, tmp_path).run("why-pending", "-o", "json")
    assert "list pods" in ended.stdout
    assert not any(map(is_on_node, running.seen))
