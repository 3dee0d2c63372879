"""ImageLocality: prefers nodes that have the Pod's images; larger images count more.

Source: kube-scheduler imagelocality/image_locality.go (v1.36).
"""

from collections import Counter
from collections.abc import Sequence

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import MAX_NODE_SCORE, Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "ImageLocality"
MEBIBYTE = 1024 * 1024
MIN_THRESHOLD = 23 * MEBIBYTE
MAX_CONTAINER_THRESHOLD = 1000 * MEBIBYTE


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> dict[str, int]:
    """Return feasible node's name → score (0..100); no Pod is skipped.

    Source: imagelocality/image_locality.go sumImageScores, scaledImageScore, calculatePriority (v1.36).
    """
    containers = [container.image for container in (*pod.spec.init_containers, *pod.spec.containers)]
    mounted = [volume.image.reference for volume in pod.spec.volumes if volume.image is not None]
    counted = [*containers, *mounted] if handle.profile.does(Behaviour.IMAGE_VOLUMES_SCORE) else containers
    # bytes of the image x the share of all nodes that have it, summed over the Pod's images. Without the share, an
    # image that few nodes have would attract all its Pods to them.
    image_bytes: Counter[str] = Counter()
    for image in counted:
        # Nodes report the name with a tag. A colon before the last slash is a registry's port, not a tag.
        tagged = image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
        sizes = handle.index.image_bytes(tagged)
        share = len(sizes) / len(handle.node_infos)
        image_bytes.update({node: int(size * share) for node, size in sizes.items()})
    count = len(containers) + (len(mounted) if handle.profile.does(Behaviour.IMAGE_VOLUMES_IN_THRESHOLD) else 0)
    # 100 x (bytes - 23 MiB) / (1000 MiB x images - 23 MiB), with the bytes between both thresholds.
    highest = MAX_CONTAINER_THRESHOLD * count
    scores = {
        node: MAX_NODE_SCORE * (max(MIN_THRESHOLD, min(total, highest)) - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)
        for node, total in image_bytes.items()
    }
    return {info.name: scores.get(info.name, 0) for info in nodes}
