"""Who asked API servers for what, from their audit logs: also of the control planes that have ended meanwhile."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from tests.controlplane.api import Object


class Asked(NamedTuple):
    """What a request asks for, and who sends it."""

    agent: str
    """The program and its version, as the User-Agent begins."""
    verb: str
    resource: str
    """The plural, with the subresource if there is one; the path where no object is meant."""
    dry_run: bool
    """Whether nothing is to be stored."""


ENDED: Counter[Asked] = Counter()
"""What was asked of the control planes that this process has run to their end."""


def read_audit_log(path: Path) -> Sequence[Object]:
    """Return the recorded requests, oldest first; a line that is being written is left out."""
    complete, _, _ = path.read_text().rpartition("\n")
    return [json.loads(line) for line in complete.splitlines()]


def count_requests(path: Path) -> Counter[Asked]:
    """Return how often each thing was asked for; a watch is recorded when it begins and when it ends, and counts once.

    Args:
        path: the audit log; one that does not exist is that of a server which did not start.
    """
    records = read_audit_log(path) if path.exists() else ()
    requests = {record["auditID"]: record for record in records}
    return Counter(map(_asked, requests.values()))


def of_the_program(asked: Counter[Asked]) -> Counter[Asked]:
    """Return what was asked by the program that is tested."""
    return Counter({each: times for each, times in asked.items() if each.agent.startswith("kubectl-spread/")})


def _asked(record: Object) -> Asked:
    """Return what a recorded request asks for."""
    url = urlsplit(record["requestURI"])
    subject = record.get("objectRef", {})
    resource = "/".join(filter(None, (subject.get("resource"), subject.get("subresource"))))
    return Asked(
        agent=record.get("userAgent", "").partition(" ")[0],
        verb=record["verb"],
        resource=resource or url.path,
        dry_run=parse_qs(url.query).get("dryRun") == ["All"],
    )
