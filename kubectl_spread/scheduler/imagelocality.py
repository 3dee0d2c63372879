"""ImageLocality: prefers nodes that have the Pod's images, the more the larger they are.

Source: kube-scheduler imagelocality/image_locality.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import MAX_NODE_SCORE, Handle, NodeInfo
from kubectl_spread.scheduler.profile import Behaviour, Profile

NAME = "ImageLocality"
MEBIBYTE = 1024 * 1024
MIN_THRESHOLD = 23 * MEBIBYTE
MAX_CONTAINER_THRESHOLD = 1000 * MEBIBYTE


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> dict[str, int]:
    """Return feasible node's name → score (0..100); every Pod has it.

    Source: imagelocality/image_locality.go sumImageScores, scaledImageScore (v1.36).
    """
    containers = [container.image for container in (*pod.spec.init_containers, *pod.spec.containers)]
    mounted = [volume.image.reference for volume in pod.spec.volumes if volume.image is not None]
    images = [normalized_name(name) for name in _scored(containers, mounted, handle.profile)]
    spread = {image: _spread(image, handle) for image in images}
    wanted = [image for image in images if spread[image]]
    count = len(containers) + (len(mounted) if handle.profile.does(Behaviour.IMAGE_VOLUMES_IN_THRESHOLD) else 0)
    return {
        info.name: _priority(sum(int(info.image_sizes.get(image, 0) * spread[image]) for image in wanted), count)
        for info in nodes
    }


def _scored(containers: Sequence[str], mounted: Sequence[str], profile: Profile) -> Sequence[str]:
    """Return the images whose presence counts, in upstream's order."""
    return [*containers, *mounted] if profile.does(Behaviour.IMAGE_VOLUMES_SCORE) else containers


def _spread(image: str, handle: Handle) -> float:
    """Return which part of all nodes has the image (0..1): what everyone has is no reason to go anywhere."""
    having = sum(image in info.image_sizes for info in handle.node_infos.values())
    return having / len(handle.node_infos)


def _priority(image_bytes: int, image_count: int) -> int:
    """Return the score of that much of the images being there.

    Source: imagelocality/image_locality.go calculatePriority (v1.36).
    """
    highest = MAX_CONTAINER_THRESHOLD * image_count
    clamped = max(MIN_THRESHOLD, min(image_bytes, highest))
    return MAX_NODE_SCORE * (clamped - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)


def normalized_name(image: str) -> str:
    """Return the image's name with a tag, as nodes report it.

    Source: imagelocality/image_locality.go normalizedImageName (v1.36).
    """
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
