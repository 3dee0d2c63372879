"""The control plane is of the release that was built; what it does all other tests see."""

import json

import pytest

from tests import gobuild
from tests.controlplane.binaries import KUBERNETES_RELEASE
from tests.controlplane.client import Client

pytestmark = pytest.mark.e2e


def test_server_and_kubectl_say_the_release_that_was_built(client: Client) -> None:
    versions = json.loads(client.kubectl("version", "-o", "json"))
    expected = f"v{gobuild.RELEASES[KUBERNETES_RELEASE]}"
    assert versions["serverVersion"]["gitVersion"] == expected
    assert versions["clientVersion"]["gitVersion"] == expected
