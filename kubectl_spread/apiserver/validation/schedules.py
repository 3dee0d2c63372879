"""Schedules of CronJobs, and time zones as far as their form goes.

Source: github.com/robfig/cron parser.go ParseStandard (v3.0.1); pkg/apis/batch/validation/validation.go
validateCronJobSpec, validateScheduleFormat, validateTimeZone (v1.33 to v1.37).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.validation.field_errors import Errors, invalid, required

_DESCRIPTORS = frozenset(("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"))
_EVERY = "@every "
_ZONE_PART = re.compile(r"(?!-|\.{1,2}$)[A-Za-z.\-_0-9+]{1,14}", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MAX_INT64 = 2**63 - 1
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: Sequence[tuple[int, int, Sequence[str]]] = (
    (0, 59, ()),
    (0, 23, ()),
    (1, 31, ()),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
"""Minute, hour, day, month, weekday: (minimum, maximum, names of the values)."""


def schedule_errors(path: str, schedule: str, *, exists: bool = False) -> Errors:
    """Yield the errors of a CronJob's schedule.

    A CronJob that exists may have a time zone in its schedule, from before that was refused.
    """
    if not schedule:
        yield required(path)
        return
    zoned = schedule.startswith(("TZ=", "CRON_TZ="))
    try:
        _parse(schedule.partition(" ")[2].strip() if zoned else schedule)
    except ValueError as error:
        yield invalid(path, quoted(schedule), str(error))
    if "TZ" in schedule and not exists:
        yield invalid(path, quoted(schedule), "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")


def time_zone_errors(path: str, zone: str) -> Errors:
    """Yield the errors of a time zone's form; only the API server's machine knows which zones exist."""
    if not zone:
        yield invalid(path, quoted(zone), "timeZone must be nil or non-empty string")
    elif not all(map(_ZONE_PART.fullmatch, zone.split("/"))):
        yield invalid(path, quoted(zone), f"unknown time zone {zone}")
    elif zone.lower() == "local":
        detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield invalid(path, quoted(zone), detail)


def _parse(schedule: str) -> None:
    if schedule.startswith("@"):
        # differs: the duration of @every is not parsed.
        if schedule not in _DESCRIPTORS and not schedule.startswith(_EVERY):
            raise ValueError(f"unrecognized descriptor: {schedule}")
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        found = f"[{' '.join(fields)}]"
        raise ValueError(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: {found}")
    for field, (least, most, names) in zip(fields, _FIELDS, strict=True):
        for expression in filter(None, field.split(",")):
            _parse_range(expression, least, most, names)


def _parse_range(expression: str, least: int, most: int, names: Sequence[str]) -> None:
    span, *steps = expression.split("/")
    first, *others = span.split("-")
    if first in {"*", "?"}:
        start, end = least, most
    else:
        by_name = {name: str(number) for number, name in enumerate(names, least)}
        ends = [_parse_number(by_name.get(each.lower(), each)) for each in (first, *others[:1])]
        start, end = ends[0], ends[-1]
        if others[1:]:
            raise ValueError(f"too many hyphens: {expression}")
    if steps[1:]:
        raise ValueError(f"too many slashes: {expression}")
    step = _parse_number(steps[0]) if steps else 1
    # ``5/10`` means from 5 to the end.
    end = most if steps and not others else end
    if start < least:
        raise ValueError(f"beginning of range ({start}) below minimum ({least}): {expression}")
    if end > most:
        raise ValueError(f"end of range ({end}) above maximum ({most}): {expression}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {expression}")
    if not step:
        raise ValueError(f"step of range should be a positive number: {expression}")


def _parse_number(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    number = int(text[:30])
    if abs(number) > _MAX_INT64:
        raise ValueError(f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: value out of range")
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number
