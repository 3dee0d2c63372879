"""What we say of Pods without a Node, and what the scheduler then does with them: the two sides of every comparison."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

from tests.controlplane.api import Object
from tests.controlplane.client import Client, is_decided, scheduled_condition
from tests.controlplane.waiting import wait_for
from tests.e2e.situations import NAME

_DECIDED_S = 60.0
_POST_FILTER = re.compile(r" (no new claims to deallocate, )?preemption: .*")
"""What the PostFilter plugins DynamicResources and DefaultPreemption add to the message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What the scheduler did: the Node it bound the Pod to, or None and its message."""

    node_name: str | None
    message: str


def why_pending(client: Client, *arguments: str, config: Path | None = None) -> CompletedProcess[str]:
    """Return how the command ended."""
    configured = ("--scheduler-config", str(config)) if config else ()
    return client.kubectl.run("spread", "why-pending", *arguments, *configured, "-o", "json")


def said_of_all(client: Client, *, config: Path | None = None) -> Mapping[str, Object]:
    """Return namespace → our report on the Pod in it that is asked about, where it has no Node."""
    ended = why_pending(client, "-A", config=config)
    assert (ended.returncode, ended.stderr) == (1, "")
    return {item["namespace"]: item for item in json.loads(ended.stdout)["items"] if item["name"] == NAME}


def decisions_of_all(client: Client) -> Mapping[str, Decision]:
    """Return namespace → what the scheduler decided, once it has decided everything."""

    def all_decided() -> list[Object] | None:
        asked = [made for made in client.pods() if made["metadata"]["name"] == NAME]
        return asked if all(map(is_decided, asked)) else None

    asked = wait_for(all_decided, what="the scheduler's decisions", timeout_s=_DECIDED_S)
    return {made["metadata"]["namespace"]: _decision(made) for made in asked}


def _decision(asked: Object) -> Decision:
    """Return what became of a Pod; the message without what preemption adds to it."""
    condition = scheduled_condition(asked)
    assert condition is not None
    message = _POST_FILTER.sub("", condition.get("message", ""))
    return Decision(node_name=asked["spec"].get("nodeName"), message=message)
