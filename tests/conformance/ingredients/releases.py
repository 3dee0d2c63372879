"""What releases decide differently, and the feature gates that make them."""

from tests.conformance.ingredients.draft import Draft, Object

_MERGED_SINCE = 34
_DECLARED = ("RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "GuaranteedQoSPodCPUResize")


def declared_features(draft: Draft, node: Object) -> None:
    """Let the kubelet say which features it has."""
    node["status"]["declaredFeatures"] = sorted(draft.dice.some(_DECLARED, least=1))


def needs_declared_feature(draft: Draft, pod: Object) -> None:
    """Use what a kubelet must have declared; the filter that asks for it is off by default in 1.35."""
    if draft.minor == 35:
        draft.gates["NodeDeclaredFeatures"] = draft.dice.chance(0.8)
    if draft.dice.chance(0.5):
        pod["spec"].update(hostNetwork=True, hostUsers=False)
        return
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
    pod["spec"]["containers"][0].update(restartPolicy="Never", restartPolicyRules=[rule])


def match_label_keys_gate(draft: Draft, _pod: Object) -> None:
    """Switch matchLabelKeys of spread constraints on or off; from 1.34 on the gate that merges them depends on it."""
    chosen = draft.dice.chance(0.4)
    draft.gates["MatchLabelKeysInPodTopologySpread"] = chosen
    if draft.minor >= _MERGED_SINCE:
        draft.gates["MatchLabelKeysInPodTopologySpreadSelectorMerge"] = chosen


def deferred_resize(draft: Draft, pod: Object) -> None:
    """Let the Pod wait on its node for a resize, and the node forbid the preemption a gate of 1.37 would allow.

    Where such a Pod fits, that release fails: VolumeBinding finds no state of its own when it comes to scores.
    """
    draft.gates["InPlacePodVerticalScalingSchedulerPreemption"] = True
    node = draft.dice.choice(draft.nodes)
    node["spec"]["podPreemptionPolicy"] = {"disableResizePreemption": ["example.com/autoscaler"]}
    pod["spec"]["nodeName"] = node["metadata"]["name"]
    condition = {"type": "PodResizePending", "status": "True", "reason": "Deferred"}
    pod["status"] = {"phase": "Running", "conditions": [condition]}


def image_volume(draft: Draft, pod: Object) -> None:
    """Mount an image, whose size counts for where it is pulled already."""
    volumes = pod["spec"].setdefault("volumes", [])
    reference = draft.dice.choice(("registry/db:v1", "registry/cache:latest"))
    volumes.append({"name": f"image-{len(volumes)}", "image": {"reference": reference}})
