"""Fresh cases are asked in equal shares, and what differs is told."""

import sys
from pathlib import Path

import pytest

from tests.conformance.fuzz import Chunk, chunks, outcome, told
from tests.conformance.generate import SUITES, cases
from tests.conformance.record import oracle

FORGETFUL = """#!{python}
import json, sys
sys.path.insert(0, {root!r})
from tests.conformance.answer import answer
for line in sys.stdin:
    case = json.loads(line)
    said = answer(case)
    if {fails}:
        said = {{"id": case["id"], "error": "kube-scheduler panicked"}}
    said.get("each", {{}}).pop("NodeUnschedulable", None)
    print(json.dumps(said))
"""


def program(folder: Path, *, fails: bool = False) -> Path:
    """Return a program that answers as the engine does, but forgets what cordoned nodes are."""
    path = folder / "oracle"
    root = str(Path(__file__).parents[2])
    path.write_text(FORGETFUL.format(python=sys.executable, root=root, fails=fails))
    path.chmod(0o700)
    return path


@pytest.mark.parametrize("count", [0, 3, 1000, 1001])
def test_every_suite_has_its_share(count: int) -> None:
    drawn = list(chunks(Path("oracle"), minor=36, seed=1, count=count))
    of_suite = [sum(chunk.count for chunk in drawn if chunk.suite == suite) for suite in SUITES]
    assert sum(of_suite) == count
    assert max(of_suite) - min(of_suite) <= 1


def test_what_differs_is_kept_and_told(tmp_path: Path) -> None:
    forgetful = program(tmp_path)
    found = outcome(Chunk(forgetful, "filters", minor=36, seed=1, first=0, count=20))
    assert (found.compared, found.unanswered) == (20, 0)
    assert found.differing
    text = told(forgetful, found.differing[0])
    assert text.startswith(found.differing[0]["id"])
    assert "kube-scheduler says nothing, the answer says UnschedulableAndUnresolvable" in text


def test_what_the_scheduler_gives_up_on_is_counted_apart(tmp_path: Path) -> None:
    found = outcome(Chunk(program(tmp_path, fails=True), "spread", minor=36, seed=1, first=0, count=5))
    assert (found.compared, found.unanswered, found.differing) == (0, 5, [])


def test_the_case_at_which_the_engine_breaks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError

    forgetful = program(tmp_path)
    monkeypatch.setattr("tests.conformance.fuzz.answer", broken)
    with pytest.raises(ZeroDivisionError) as raised:
        outcome(Chunk(forgetful, "spread", minor=36, seed=1, first=0, count=2))
    (case, _) = cases(suite="spread", minor=36, seed=1, count=2)
    assert raised.value.__notes__ == [f"while answering {case['id']}"]


@pytest.mark.parametrize("suite", SUITES)
def test_a_case_is_the_same_wherever_the_drawing_starts(suite: str) -> None:
    drawn = list(cases(suite=suite, minor=36, seed=5, count=6))
    assert list(cases(suite=suite, minor=36, seed=5, first=4, count=2)) == drawn[4:]


@pytest.mark.e2e
@pytest.mark.parametrize("suite", SUITES)
def test_fresh_cases_are_answered_as_kube_scheduler_does(suite: str, pytestconfig: pytest.Config) -> None:
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("needs kube-scheduler itself: make e2e")
    found = outcome(Chunk(oracle("1.36"), suite, minor=36, seed=20261, first=0, count=250))
    assert (found.compared, found.differing) == (250, [])
