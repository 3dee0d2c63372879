"""What every report of the contract has: the contract of the renderers, of ``-o json`` and of the JSON Schema.

Names on the wire are camelCase. The contract only grows: a field is never renamed or given another meaning.
"""

from __future__ import annotations

from typing import Literal

import msgspec

API_VERSION = "spread.kubectl.dev/v1alpha1"


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The base of everything that is reported."""


class Metadata(Report, frozen=True, kw_only=True):
    """What was asked and how it was read.

    Attributes:
        version: of this program.
        server: the API server's URL; empty for files.
        kube_version: the release whose rules were applied, such as ``v1.36``.
        kube_version_from: ``flag``, ``server``, ``nodes`` (the newest kubelet: at least that) or ``default``.
        source: the context, or the files.
        resource_versions: list → version it was read at; empty for files.
        as_of: the last time that the Pods tell of (RFC 3339): the answer is no older; empty where they tell none.
    """

    version: str
    server: str = ""
    kube_version: str
    kube_version_from: Literal["flag", "server", "nodes", "default"]
    source: str = ""
    resource_versions: dict[str, str] = {}
    as_of: str = ""


class Incomplete(Report, frozen=True, kw_only=True):
    """Something that was not read or is not modelled, and what that means for the answer."""

    what: str
    why: str
    consequence: str
