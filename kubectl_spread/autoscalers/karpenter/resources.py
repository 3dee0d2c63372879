"""What Pods request, and whether it fits.

Source: karpenter pkg/utils/resources/resources.go (v1.14.1).
"""

from collections.abc import Iterable, Mapping

from kubectl_spread.autoscalers.karpenter.releases import COUNTS_RESIZES, PROVED
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.scheduler.resource import PODS, pod_requests, total


def requests_for_pods(pods: Iterable[Pod], profile: Profile, release: tuple[int, ...] = PROVED) -> dict[str, int]:
    """Return what the Pods request together (amounts); each also takes one of ``pods``."""
    counted, resizing = tuple(pods), release >= COUNTS_RESIZES
    return {**total(pod_requests(pod, profile, assigned=resizing) for pod in counted), PODS: len(counted)}


def fits(requests: Mapping[str, int], available: Mapping[str, int]) -> bool:
    """Whether the requests (amounts) fit into what is available; nothing does where any amount is negative."""
    if any(amount < 0 for amount in available.values()):
        return False
    return all(amount <= available.get(name, 0) for name, amount in requests.items())
