"""Update strategies of Deployments, StatefulSets and DaemonSets, with the defaults that the API server puts in.

Source: pkg/apis/apps/validation/validation.go ValidateDeploymentStrategy, ValidateDaemonSetUpdateStrategy,
ValidateStatefulSetSpec; pkg/apis/apps/v1/defaults.go (v1.33 to v1.37).
"""

from __future__ import annotations

import re

from kubectl_spread.apimachinery import as_json
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    count_errors,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubectl_spread.objects.workloads import (
    ON_DELETE,
    RECREATE,
    ROLLING_UPDATE,
    DaemonSet,
    Deployment,
    RollingUpdate,
    StatefulSet,
    UpdateStrategy,
)
from kubectl_spread.release import MAX_UNAVAILABLE_STATEFUL_SET, STATEFUL_SET_RECREATE, Release

_PERCENT = "[0-9]+%"
_NO_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%'"
    f" (e.g. '1%',  or '93%', regex used for validation is '{_PERCENT}')"
)
_ALL = 100


def strategy_errors(owner: Deployment | StatefulSet | DaemonSet, release: Release) -> Errors:
    """Yield the errors of how the owner's Pods are replaced once its template changes."""
    if isinstance(owner, StatefulSet):
        yield from _of_stateful_set(owner.spec.update_strategy, release)
        return
    of_deployment = isinstance(owner, Deployment)
    path = "spec.strategy" if of_deployment else "spec.updateStrategy"
    strategy = owner.spec.strategy if isinstance(owner, Deployment) else owner.spec.update_strategy
    known = (RECREATE, ROLLING_UPDATE) if of_deployment else (ROLLING_UPDATE, ON_DELETE)
    rolling_errors = _deployment_rolling_errors if of_deployment else _daemon_set_rolling_errors
    if strategy.type in {"", ROLLING_UPDATE}:
        yield from rolling_errors(f"{path}.rollingUpdate", strategy.rolling_update or RollingUpdate())
    elif strategy.type not in known:
        yield not_supported(path, _surging(strategy), known)
    elif of_deployment and strategy.rolling_update is not None:
        yield forbidden(f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")


def _of_stateful_set(strategy: UpdateStrategy, release: Release) -> Errors:
    path, rolling = "spec.updateStrategy", strategy.rolling_update
    known = [ROLLING_UPDATE, ON_DELETE, *((RECREATE,) if release.enables(STATEFUL_SET_RECREATE) else ())]
    if strategy.type in {"", ROLLING_UPDATE}:
        if rolling is not None:
            yield from _stateful_set_rolling_errors(f"{path}.rollingUpdate", rolling, release)
    elif strategy.type not in known:
        *others, last = map("'{}'".format, known)
        listed = f"{', '.join(others)}, or {last}" if others[1:] else f"{others[0]} or {last}"
        value = as_json({"Type": strategy.type, "RollingUpdate": _partitioned(rolling, release)})
        yield invalid(path, value, f"must be {listed}")
    elif rolling is not None:
        value = as_json(_partitioned(rolling, release))
        yield invalid(f"{path}.rollingUpdate", value, "only allowed for updateStrategy 'RollingUpdate'")


def _deployment_rolling_errors(path: str, rolling: RollingUpdate) -> Errors:
    unavailable = "25%" if rolling.max_unavailable is None else rolling.max_unavailable
    surge = "25%" if rolling.max_surge is None else rolling.max_surge
    yield from _portion_errors(f"{path}.maxUnavailable", unavailable)
    yield from _portion_errors(f"{path}.maxSurge", surge)
    if not (_number(unavailable) or _number(surge)):
        yield invalid(f"{path}.maxUnavailable", as_json(unavailable), "may not be 0 when `maxSurge` is 0")
    yield from _whole_errors(f"{path}.maxUnavailable", unavailable)


def _daemon_set_rolling_errors(path: str, rolling: RollingUpdate) -> Errors:
    unavailable = 1 if rolling.max_unavailable is None else rolling.max_unavailable
    surge = 0 if rolling.max_surge is None else rolling.max_surge
    both = ((f"{path}.maxUnavailable", unavailable), (f"{path}.maxSurge", surge))
    for field, portion in both:
        yield from _portion_errors(field, portion)
    for field, portion in both:
        yield from _whole_errors(field, portion)
    if _number(unavailable) and _number(surge):
        yield invalid(f"{path}.maxSurge", as_json(surge), "may not be set when maxUnavailable is non-zero")
    elif not (_number(unavailable) or _number(surge)):
        yield required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _stateful_set_rolling_errors(path: str, rolling: RollingUpdate, release: Release) -> Errors:
    yield from count_errors(f"{path}.partition", rolling.partition)
    unavailable, field = rolling.max_unavailable, f"{path}.maxUnavailable"
    if unavailable is None or not release.enables(MAX_UNAVAILABLE_STATEFUL_SET):
        return
    yield from _portion_errors(field, unavailable)
    if not _number(unavailable):
        yield invalid(field, as_json(unavailable), "cannot be 0")
    yield from _whole_errors(field, unavailable)


def _portion_errors(path: str, portion: int | str) -> Errors:
    """Yield the error of what is neither a number of Pods nor a percentage.

    Source: validation.go ValidatePositiveIntOrPercent.
    """
    if isinstance(portion, int):
        yield from count_errors(path, portion)
    elif _percentage(portion) is None:
        yield invalid(path, as_json(portion), _NO_PERCENT)


def _whole_errors(path: str, portion: int | str) -> Errors:
    """Yield the error of more than all Pods.

    Source: validation.go IsNotMoreThan100Percent.
    """
    if (_percentage(portion) or 0) > _ALL:
        yield invalid(path, as_json(portion), "must not be greater than 100%")


def _percentage(portion: int | str) -> int | None:
    """Return the number before the sign; None for what is no percentage; the first ten digits say enough."""
    if isinstance(portion, int) or not re.fullmatch(_PERCENT, portion):
        return None
    return int(portion.removesuffix("%").lstrip("0")[:10] or "0")


def _number(portion: int | str) -> int:
    """Return the number of Pods or the percentage; 0 for text that is neither.

    Source: validation.go getIntOrPercentValue; apimachinery pkg/util/intstr/intstr.go IntValue.
    """
    if isinstance(portion, int):
        return portion
    percentage = _percentage(portion)
    # upstream: a number in quotes counts here, though it is refused as well.
    numeric = re.fullmatch("[+-]?[0-9]{1,18}", portion, re.ASCII) is not None
    return int(portion) if numeric else percentage or 0


def _surging(strategy: UpdateStrategy) -> dict[str, object]:
    """Return the strategy of a Deployment or a DaemonSet as it stands in a message: under Go's own names."""
    rolling = strategy.rolling_update
    values = rolling and {"MaxUnavailable": rolling.max_unavailable or 0, "MaxSurge": rolling.max_surge or 0}
    return {"Type": strategy.type, "RollingUpdate": values}


def _partitioned(rolling: RollingUpdate | None, release: Release) -> dict[str, object] | None:
    if rolling is None:
        return None
    unavailable = rolling.max_unavailable if release.enables(MAX_UNAVAILABLE_STATEFUL_SET) else None
    return {"Partition": rolling.partition, "MaxUnavailable": unavailable}
