"""What kubectl and this plugin say of a Pod is read from the place where they say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.comparison.tools import Answer, Question, Tool, at_hand_everywhere

GET = "NAME READY STATUS RESTARTS AGE\nweb-2   0/1   Running   0   1s\nweb-1   0/1   {}   0   1s\n"
GET_PODS, DESCRIBE, SPREAD = at_hand_everywhere()


def _question(*, pending: bool = True, scheduler_config: Path | None = None) -> Question:
    """Return what is asked about web-1."""
    manifest = Path("pod.json")
    return Question(
        namespace="shop", pod="web-1", pending=pending, manifest=manifest, scheduler_config=scheduler_config
    )


@pytest.mark.parametrize("tool", at_hand_everywhere(), ids=lambda tool: tool.name)
@pytest.mark.parametrize("pending", [True, False])
@pytest.mark.parametrize("text", ["", "error: no such Pod"])
def test_a_tool_that_fails_says_nothing(tool: Tool, text: str, *, pending: bool) -> None:
    assert tool.says_pending(_question(pending=pending), Answer(text, 1)) is None


def test_kubectl_get_says_it_in_the_row_of_the_pod() -> None:
    said = [GET_PODS.says_pending(_question(), Answer(GET.format(status), 0)) for status in ("Pending", "Running")]
    assert said == [True, False]


def test_kubectl_describe_says_it_as_the_node() -> None:
    said = [DESCRIBE.says_pending(_question(), Answer(f"Node:   {node}\n", 0)) for node in ("<none>", "n1/10.0.0.1")]
    assert said == [True, False]


def test_this_plugin_says_it_in_the_first_line() -> None:
    said = SPREAD.says_pending(_question(), Answer("shop/web-1 is Pending. Zone c has the fewest Pods\n", 1))
    statuses = [
        SPREAD.says_pending(_question(pending=False), Answer(f"shop/deployment/web: {status}\n", 0))
        for status in ("Blocked: min pinned", "OK", "NoEffect: ghost")
    ]
    assert (said, statuses) == (True, [True, False, False])


def test_this_plugin_is_given_the_configuration_where_it_decides() -> None:
    config = Path("config.yaml")
    assert [*SPREAD.command(_question(scheduler_config=config))][-2:] == ["--scheduler-config", "config.yaml"]
    assert "--scheduler-config" not in SPREAD.command(_question())
