"""What is read of PriorityClasses and RuntimeClasses."""

from __future__ import annotations

from kubectl_spread.objects.core import Toleration
from kubectl_spread.objects.decoding import decode
from kubectl_spread.objects.policy import PriorityClass, RuntimeClass


def test_a_priority_class_may_be_the_default() -> None:
    high = decode(b'{"metadata": {"name": "high"}, "value": 10, "globalDefault": true}', PriorityClass)
    assert (high.metadata.name, high.value, high.global_default) == ("high", 10, True)
    assert high.preemption_policy == "PreemptLowerPriority"
    assert not PriorityClass().global_default


def test_a_runtime_class_says_where_it_runs_and_what_that_takes() -> None:
    found = decode(
        b'{"handler": "kata", "overhead": {"podFixed": {"cpu": "250m"}},'
        b' "scheduling": {"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata"}]}}',
        RuntimeClass,
    )
    assert found.overhead is not None
    assert found.overhead.pod_fixed == {"cpu": "250m"}
    assert found.scheduling is not None
    assert found.scheduling.node_selector == {"kata": "yes"}
    assert found.scheduling.tolerations == (Toleration(key="kata"),)
    assert RuntimeClass().overhead is None
