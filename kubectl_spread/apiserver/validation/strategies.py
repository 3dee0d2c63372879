"""Update strategies of Deployments, StatefulSets and DaemonSets, with the defaults that the API server fills in.

Source: pkg/apis/apps/validation/validation.go ValidateDeploymentStrategy, ValidateDaemonSetUpdateStrategy,
ValidateStatefulSetSpec, ValidatePositiveIntOrPercent, IsNotMoreThan100Percent, getIntOrPercentValue;
pkg/apis/apps/v1/defaults.go (v1.33 to v1.37).
"""

import re

from kubectl_spread.apimachinery import as_json
from kubectl_spread.apiserver.validation import field_errors
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


def strategy_errors(owner: Deployment | StatefulSet | DaemonSet, release: Release) -> field_errors.Errors:
    """Yield the errors of how the owner replaces its Pods once its template changes."""
    match owner:
        case StatefulSet():
            yield from _stateful_set_errors("spec.updateStrategy", owner.spec.update_strategy, release)
            return
        case Deployment():
            path, strategy, known = "spec.strategy", owner.spec.strategy, (RECREATE, ROLLING_UPDATE)
        case DaemonSet():
            path, strategy, known = "spec.updateStrategy", owner.spec.update_strategy, (ROLLING_UPDATE, ON_DELETE)
    rolling = strategy.rolling_update
    if strategy.type in {"", ROLLING_UPDATE}:
        rolling_errors = _deployment_errors if isinstance(owner, Deployment) else _daemon_set_errors
        yield from rolling_errors(f"{path}.rollingUpdate", rolling or RollingUpdate())
    elif strategy.type not in known:
        values = rolling and {"MaxUnavailable": rolling.max_unavailable or 0, "MaxSurge": rolling.max_surge or 0}
        yield field_errors.not_supported(path, {"Type": strategy.type, "RollingUpdate": values}, known)
    elif isinstance(owner, Deployment) and rolling is not None:
        yield field_errors.forbidden(f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")


def _stateful_set_errors(path: str, strategy: UpdateStrategy, release: Release) -> field_errors.Errors:
    rolling, has_unavailable = strategy.rolling_update, release.enables(MAX_UNAVAILABLE_STATEFUL_SET)
    unavailable = rolling.max_unavailable if rolling and has_unavailable else None
    values = rolling and {"Partition": rolling.partition, "MaxUnavailable": unavailable}
    known = [ROLLING_UPDATE, ON_DELETE, *((RECREATE,) if release.enables(STATEFUL_SET_RECREATE) else ())]
    if strategy.type not in {"", *known}:
        *others, last = map("'{}'".format, known)
        listed = f"{', '.join(others)}, or {last}" if others[1:] else f"{others[0]} or {last}"
        yield field_errors.invalid(path, as_json({"Type": strategy.type, "RollingUpdate": values}), f"must be {listed}")
    elif rolling is not None and strategy.type not in {"", ROLLING_UPDATE}:
        yield field_errors.invalid(
            f"{path}.rollingUpdate", as_json(values), "only allowed for updateStrategy 'RollingUpdate'"
        )
    elif rolling is not None:
        yield from field_errors.count_errors(f"{path}.rollingUpdate.partition", rolling.partition)
        if unavailable is not None:
            field = f"{path}.rollingUpdate.maxUnavailable"
            yield from _portion_errors(field, unavailable)
            if not _number(unavailable):
                yield field_errors.invalid(field, as_json(unavailable), "cannot be 0")
            yield from _more_than_all_errors(field, unavailable)


def _deployment_errors(path: str, rolling: RollingUpdate) -> field_errors.Errors:
    unavailable = "25%" if rolling.max_unavailable is None else rolling.max_unavailable
    surge = "25%" if rolling.max_surge is None else rolling.max_surge
    yield from _portion_errors(f"{path}.maxUnavailable", unavailable)
    yield from _portion_errors(f"{path}.maxSurge", surge)
    if not (_number(unavailable) or _number(surge)):
        yield field_errors.invalid(f"{path}.maxUnavailable", as_json(unavailable), "may not be 0 when `maxSurge` is 0")
    yield from _more_than_all_errors(f"{path}.maxUnavailable", unavailable)


def _daemon_set_errors(path: str, rolling: RollingUpdate) -> field_errors.Errors:
    unavailable = 1 if rolling.max_unavailable is None else rolling.max_unavailable
    surge = 0 if rolling.max_surge is None else rolling.max_surge
    for errors in (_portion_errors, _more_than_all_errors):
        yield from errors(f"{path}.maxUnavailable", unavailable)
        yield from errors(f"{path}.maxSurge", surge)
    if _number(unavailable) and _number(surge):
        yield field_errors.invalid(f"{path}.maxSurge", as_json(surge), "may not be set when maxUnavailable is non-zero")
    elif not (_number(unavailable) or _number(surge)):
        yield field_errors.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _portion_errors(path: str, portion: int | str) -> field_errors.Errors:
    if isinstance(portion, int):
        yield from field_errors.count_errors(path, portion)
    elif _percentage(portion) is None:
        yield field_errors.invalid(path, as_json(portion), _NO_PERCENT)


def _more_than_all_errors(path: str, portion: int | str) -> field_errors.Errors:
    if (_percentage(portion) or 0) > _ALL:
        yield field_errors.invalid(path, as_json(portion), "must not be greater than 100%")


def _percentage(portion: int | str) -> int | None:
    """Return the number before the percent sign, at most ten digits of it; None for what is no percentage."""
    if isinstance(portion, int) or not re.fullmatch(_PERCENT, portion):
        return None
    return int(portion.removesuffix("%").lstrip("0")[:10] or "0")


def _number(portion: int | str) -> int:
    """Return the number of Pods or the percentage; 0 for text that is neither."""
    if isinstance(portion, int):
        return portion
    # upstream: a number in quotes counts here, though it is refused as well.
    numeric = re.fullmatch("[+-]?[0-9]{1,18}", portion, re.ASCII) is not None
    return int(portion) if numeric else _percentage(portion) or 0
