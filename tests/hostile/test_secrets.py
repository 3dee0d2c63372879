"""Secrets are never asked for, of ConfigMaps cluster-autoscaler's alone; what a file holds of them goes nowhere."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import msgspec
import pytest
from msgspec import inspect

from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands import read_sets
from kubectl_spread.objects.autoscaling import ConfigMap, ConfigMapData
from kubectl_spread.objects.core import ServiceAccount
from kubectl_spread.objects.kinds import BY_API, KINDS, Kind, named
from kubectl_spread.objects.workloads import ControllerRevision
from tests.hostile.poison import MANIFESTS, WAREHOUSE, Values, objects_in
from tests.hostile.test_poison import COMMANDS, FORMATS_FOR_PEOPLE
from tests.program import spread

WITHHELD = ("Secret", "TokenRequest", "CertificateSigningRequest")
SENTENCE = "correct horse battery staple"
HOLDING_SECRETS = frozenset(("data", "stringData", "binaryData", "env", "envFrom", "args", "command"))


def plans() -> Iterator[Read]:
    """Yield everything that any command may read."""
    for namespace in ("", "shop"):
        yield from read_sets.everything(namespace)
        yield from read_sets.everything(namespace, pending=True)
        yield from read_sets.spread_only(namespace)
    yield from read_sets.for_manifests(["shop", "other"])


def test_of_a_service_account_nothing_but_its_name_is_kept() -> None:
    """Whether it exists decides whether Pods can be made; which Secrets it names decides nothing here."""
    assert [field.name for field in msgspec.structs.fields(ServiceAccount)] == ["metadata"]


@pytest.mark.parametrize("name", WITHHELD)
def test_no_kind_holds_secrets(name: str) -> None:
    assert not any(kind == name for _, kind in BY_API)
    assert named(name) is None
    assert named(f"{name}s") is None


def test_no_plan_asks_for_another_kind() -> None:
    asked = {read.kind.name for read in plans()}
    assert asked <= {kind.name for kind in KINDS}
    assert asked.isdisjoint(WITHHELD)
    assert {"Node", "Pod"} < asked


def test_of_config_maps_one_is_asked_for_by_name_and_one_entry_is_kept() -> None:
    asked = {(read.namespace, read.name) for read in plans() if read.kind.name == "ConfigMap"}
    assert asked == {("kube-system", "cluster-autoscaler-status")}
    assert [field.name for field in msgspec.structs.fields(ConfigMapData)] == ["status"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_field_that_may_hold_a_secret_is_decoded(kind: Kind) -> None:
    named_data = kind.struct in {ConfigMap, ControllerRevision}  # of which one entry is kept, or the template
    found = set(fields_of(inspect.type_info(kind.struct))) - ({"data"} if named_data else set())
    assert found.isdisjoint(HOLDING_SECRETS)


def fields_of(described: inspect.Type) -> Iterator[str]:
    waiting, seen = [described], set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, inspect.StructType):
            if each.cls in seen:
                continue
            seen.add(each.cls)
            yield from (field.encode_name for field in each.fields)
            waiting += [field.type for field in each.fields]
        elif isinstance(each, inspect.UnionType):
            waiting += each.types
        elif isinstance(each, inspect.ListType | inspect.VarTupleType):
            waiting.append(each.item_type)
        elif isinstance(each, inspect.DictType):
            waiting.append(each.value_type)


@pytest.mark.parametrize(("report", "name"), FORMATS_FOR_PEOPLE, ids=str)
@pytest.mark.usefixtures("answers_kept")
def test_secrets_in_files_go_nowhere(report: str, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    encoded = base64.b64encode(SENTENCE.encode()).decode()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": encoded}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"password": SENTENCE}}
    items = [secret, config, *with_environment(objects_in(WAREHOUSE))]
    cluster = tmp_path_factory.getbasetemp() / "secrets.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    about = {"CheckReport": ("-f", MANIFESTS), "SimulateReport": ("--drain", "n02")}.get(report, ())
    ended = spread(*COMMANDS[report], *about, "--from", cluster, "-o", name, "-n", "warehouse")
    assert ended.stdout
    assert SENTENCE not in ended.stdout + ended.stderr
    assert encoded not in ended.stdout + ended.stderr


def with_environment(objects: list[Values]) -> Iterator[Values]:
    """Yield the objects, with a password in the environment of every container of a Pod."""
    secretive = {"env": [{"name": "PASSWORD", "value": SENTENCE}], "args": [f"--password={SENTENCE}"]}
    for each in json.loads(json.dumps(objects)):
        if each["kind"] == "Pod":
            for container in each["spec"]["containers"]:
                container.update(secretive)
        yield each
