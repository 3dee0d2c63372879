"""A sample of what `make soak` compares: broken manifests, refused exactly where kubectl is under strict validation."""

import pytest

from tests.controlplane.client import Client
from tests.soak.manifests import manifests, outcomes

pytestmark = pytest.mark.e2e

_COUNT = 60


def test_broken_manifests_are_refused_where_kubectl_is_refused(client: Client) -> None:
    found = list(outcomes(list(manifests(_COUNT, seed=1)), client.kubectl))
    assert len(found) == _COUNT
    assert [each for each in found if bool(each.ours) != each.theirs] == []
    assert any(each.theirs for each in found)
    assert not all(each.theirs for each in found)
