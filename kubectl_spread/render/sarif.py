"""``check`` as SARIF 2.1.0, which code scanning services take.

Source: docs.oasis-open.org/sarif/sarif/v2.1.0.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TypeAlias
from urllib.parse import quote

import msgspec

from kubectl_spread.contract.check import CheckReport
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.render.annotations import Annotation, annotations_of
from kubectl_spread.render.cells import clean
from kubectl_spread.wording.reference import entries_named

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
FINGERPRINT = "kubectlSpread/v1"

Object: TypeAlias = dict[str, object]
CONSTRAINTS_PAGE = "https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/"


def to_sarif(report: CheckReport) -> str:
    """Return a log with one run: a result for each thing that is wrong, and the rules that they are about."""
    found = tuple(annotations_of(report))
    rules = tuple(dict.fromkeys(annotation.rule for annotation in found))
    driver = {
        "name": "kubectl-spread",
        "semanticVersion": report.metadata.version,
        "informationUri": CONSTRAINTS_PAGE,
        "rules": [_rule(rule) for rule in rules],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(_results(found, rules))}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


def _rule(name: str) -> Object:
    explained = entries_named(name)[-1]
    summary, meaning = explained.summary, explained.meaning
    return {
        "id": name,
        "shortDescription": {"text": f"{summary[0].upper()}{summary[1:]}."},
        "fullDescription": {"text": meaning},
        "help": {"text": f"{meaning} {explained.action}"},
        "helpUri": explained.link,
    }


def _results(found: Iterable[Annotation], rules: Sequence[str]) -> Iterator[Object]:
    """Yield the results; the same thing twice in one place keeps two fingerprints."""
    seen = Counter[str]()
    for annotation in found:
        # What stays the same while lines move and numbers change.
        identity = f"{annotation.rule}\n{annotation.file}\n{annotation.subject}\n{annotation.path}"
        seen[identity] += 1
        fingerprint = hashlib.sha256(f"{identity}\n{seen[identity]}".encode("utf-8", "surrogatepass")).hexdigest()
        yield {
            "ruleId": annotation.rule,
            "ruleIndex": rules.index(annotation.rule),
            "level": LEVELS[annotation.severity],
            "message": {"text": annotation.message},
            "locations": [_location(annotation)],
            "partialFingerprints": {FINGERPRINT: fingerprint},
        }


def _location(annotation: Annotation) -> Object:
    name = f"{annotation.subject}: {annotation.path}" if annotation.path else annotation.subject
    location: Object = {"logicalLocations": [{"fullyQualifiedName": clean(name), "kind": "object"}]}
    if annotation.file:
        path = PurePath(annotation.file)
        uri = path.as_uri() if path.is_absolute() else quote(path.as_posix().encode("utf-8", "surrogatepass"))
        place: Object = {"artifactLocation": {"uri": uri}}
        if annotation.line:
            place["region"] = {"startLine": annotation.line}
        location["physicalLocation"] = place
    return location
