"""Schedules of CronJobs, and time zones as far as their form goes.

Source: github.com/robfig/cron parser.go ParseStandard (v3.0.1); pkg/apis/batch/validation/validation.go
validateScheduleFormat, validateTimeZone (v1.33 to v1.37).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.validation.field_errors import Errors, invalid, required

_DESCRIPTORS = frozenset(("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"))
_EVERY = "@every "
_ZONE_PART = re.compile(r"(?!-|\.{1,2}$)[A-Za-z.\-_0-9+]{1,14}", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MAX_INT64 = 2**63 - 1
_EITHER = 2


class _Bounds(msgspec.Struct, frozen=True):
    least: int
    most: int
    names: Mapping[str, int] = {}


_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS = (
    _Bounds(0, 59),
    _Bounds(0, 23),
    _Bounds(1, 31),
    _Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Bounds(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)


def schedule_errors(path: str, schedule: str, *, lives: bool = False) -> Errors:
    """Yield the errors of when a CronJob runs.

    A CronJob that lives may have a zone in its schedule from before that was refused.

    Source: pkg/apis/batch/validation/validation.go validateCronJobSpec (v1.36).
    """
    if not schedule:
        yield required(path)
        return
    # A zone in front is taken off, and refused for itself.
    zoned = schedule.startswith(("TZ=", "CRON_TZ="))
    try:
        _parse(schedule.partition(" ")[2].strip() if zoned else schedule)
    except ValueError as error:
        yield invalid(path, quoted(schedule), str(error))
    if "TZ" in schedule and not lives:
        yield invalid(path, quoted(schedule), "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")


def time_zone_errors(path: str, zone: str) -> Errors:
    """Yield the errors of a time zone; whether there is one of the name, only the API server's machine knows."""
    if not zone:
        yield invalid(path, quoted(zone), "timeZone must be nil or non-empty string")
    elif not all(map(_ZONE_PART.fullmatch, zone.split("/"))):
        yield invalid(path, quoted(zone), f"unknown time zone {zone}")
    elif zone.lower() == "local":
        told = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield invalid(path, quoted(zone), told)


def _parse(schedule: str) -> None:
    """Read a schedule.

    Raises:
        ValueError: it is none, in the words of the parser.
    """
    if schedule.startswith("@"):
        # differs: how long an interval is, is not read.
        if schedule not in _DESCRIPTORS and not schedule.startswith(_EVERY):
            raise ValueError(f"unrecognized descriptor: {schedule}")
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        found = f"[{' '.join(fields)}]"
        raise ValueError(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: {found}")
    for field, bounds in zip(fields, _FIELDS, strict=True):
        for expression in filter(None, field.split(",")):
            _parse_range(expression, bounds)


def _parse_range(expression: str, bounds: _Bounds) -> None:
    """Read one entry of a field: ``5``, ``1-5``, ``*/15``.

    Raises:
        ValueError: it is none.
    """
    span, *steps = expression.split("/")
    start, end = _ends(expression, span.split("-"), bounds)
    if steps[1:]:
        raise ValueError(f"too many slashes: {expression}")
    step = _number(steps[0]) if steps else 1
    # Five with a step means from five on.
    end = bounds.most if steps and "-" not in span else end
    if start < bounds.least:
        raise ValueError(f"beginning of range ({start}) below minimum ({bounds.least}): {expression}")
    if end > bounds.most:
        raise ValueError(f"end of range ({end}) above maximum ({bounds.most}): {expression}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {expression}")
    if not step:
        raise ValueError(f"step of range should be a positive number: {expression}")


def _ends(expression: str, span: list[str], bounds: _Bounds) -> tuple[int, int]:
    """Return where a range begins and ends.

    Raises:
        ValueError: it is none.
    """
    if span[0] in {"*", "?"}:
        return bounds.least, bounds.most
    ends = [bounds.names[each.lower()] if each.lower() in bounds.names else _number(each) for each in span[:_EITHER]]
    if span[_EITHER:]:
        raise ValueError(f"too many hyphens: {expression}")
    return ends[0], ends[-1]


def _number(text: str) -> int:
    """Return the number that stands there.

    Raises:
        ValueError: none does, or one below zero.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    number = int(text[:30])
    if abs(number) > _MAX_INT64:
        raise ValueError(f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: value out of range")
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number
