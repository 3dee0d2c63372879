"""The JSON Schema of the reports, made from their types; the file that ships is what this prints.

After a change of the contract: ``python -m kubectl_spread.render.schema > kubectl_spread/schema/report.v1alpha1.json``.
"""

from __future__ import annotations

import sys

import msgspec

from kubectl_spread.contract.check import CheckReport
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.contract.skew import SkewReport

REPORTS = (SkewReport, PendingReport, CheckReport, SimulateReport, RebalanceReport)
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> str:
    """Return the schema as JSON, with a newline at the end."""
    alternatives, definitions = msgspec.json.schema_components(REPORTS, ref_template="#/$defs/{name}")
    document = {
        "$schema": DIALECT,
        "title": "What kubectl spread reports",
        "anyOf": list(alternatives),
        "$defs": definitions,
    }
    return msgspec.json.format(msgspec.json.encode(document, order="deterministic"), indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema())
