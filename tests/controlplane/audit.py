"""Who asked an API server for what, from its audit log."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from kubectl_spread.objects.kinds import KINDS
from tests.controlplane.api import Object

_READS = {"get", "list", "watch"}
_TRIES = {"create", "patch"}  # What is asked as a dry run only
_ABOUT_THE_SERVER = re.compile(r"/version|/apis/[^/]+(/[^/]+)?")
"""Its version, and the kinds of one API group: for custom resources."""


class Asked(NamedTuple):
    """What a request asks for, and who sends it."""

    agent: str  # The program and its version, as the User-Agent begins
    verb: str
    resource: str  # The plural, with the subresource if there is one; the path where no object is meant
    dry_run: bool  # Whether nothing is to be stored


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


def not_read(asked: Counter[Asked]) -> Sequence[Asked]:
    """Return what the program has asked for beside reads of what it knows, and dry runs: secrets too."""
    return [each for each in of_the_program(asked) if not _is_read(each)]


def _is_read(asked: Asked) -> bool:
    """Return whether a request reads a kind that the program knows or what the server is, or only tries something."""
    if asked.verb in _TRIES:
        return asked.dry_run
    if asked.verb not in _READS or asked.resource == "secrets":
        return False
    kinds = {kind.plural for kind in KINDS}
    return asked.resource in kinds or (asked.verb == "get" and bool(_ABOUT_THE_SERVER.fullmatch(asked.resource)))


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
