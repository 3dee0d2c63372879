"""One control plane for the session, with Nodes that no test changes, and a namespace for each test."""

import itertools
from collections.abc import Iterator

import pytest

from tests.controlplane.binaries import Binaries, build_binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.controlplane.identity import User
from tests.e2e.manifests import ZONE, node

RIGHTLESS = User(name="rightless")  # A user to whom RBAC grants nothing

_NUMBERS = itertools.count(1)


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Leave the folder alone where none of its tests is wanted: to find them takes a third of what finding all does."""
    return True if config.option.markexpr == "not e2e" else None


@pytest.fixture(scope="session")
def binaries(pytestconfig: pytest.Config) -> Binaries:
    """The programs of the control plane; building them takes minutes, so it has to be asked for."""
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("needs the real control plane: make e2e")
    return build_binaries()


@pytest.fixture(scope="session")
def plane(binaries: Binaries) -> Iterator[ControlPlane]:
    """A whole control plane with one Node in zone a, two in b, one in c, and one cordoned without a zone."""
    with control_plane(Options(users=(RIGHTLESS,)), binaries=binaries) as running:
        zones = {"a1": "a", "b1": "b", "b2": "b", "c1": "c"}
        nodes = [node(name, labels={ZONE: zone}) for name, zone in zones.items()]
        running.client().create_nodes([*nodes, node("cordoned", unschedulable=True)])
        yield running


@pytest.fixture(scope="session")
def client(plane: ControlPlane) -> Client:
    """An administrator of the session's control plane."""
    return plane.client()


@pytest.fixture
def namespace(client: Client) -> str:
    """A new namespace, deleted with the control plane."""
    name = f"test-{next(_NUMBERS)}"
    client.create_namespaces([name])
    return name
