"""Errors of names, label keys, label values and ports: messages as the API server words them, none for a good one.

Source: apimachinery pkg/apis/meta/v1/validation/validation.go, pkg/util/validation/validation.go (v1.36).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubectl_spread import apimachinery
from kubectl_spread.apiserver.validation.field_errors import Errors, invalid

_MAX_PORT = 65535
_MAX_PORT_NAME = 15


def label_key_errors(path: str, text: str) -> Errors:
    """Yield the errors of a label key."""
    return (invalid(path, apimachinery.quoted(text), fault) for fault in apimachinery.label_key_faults(text))


def label_value_errors(path: str, text: str) -> Errors:
    """Yield the errors of a label value."""
    return (invalid(path, apimachinery.quoted(text), fault) for fault in apimachinery.label_value_faults(text))


def dns_label_errors(path: str, text: str) -> Errors:
    """Yield the errors of a DNS label."""
    return (invalid(path, apimachinery.quoted(text), fault) for fault in apimachinery.dns_label_faults(text))


def dns_subdomain_errors(path: str, text: str) -> Errors:
    """Yield the errors of a DNS subdomain."""
    return (invalid(path, apimachinery.quoted(text), fault) for fault in apimachinery.dns_subdomain_faults(text))


def port_number_errors(path: str, number: int) -> Errors:
    """Yield the error of a number that no port has."""
    if not 1 <= number <= _MAX_PORT:
        yield invalid(path, number, f"must be between 1 and {_MAX_PORT}, inclusive")


def port_name_faults(name: str) -> Iterator[str]:
    """Yield what is wrong with the name of a port.

    Source: apimachinery pkg/util/validation/validation.go IsValidPortName (v1.36).
    """
    if len(name) > _MAX_PORT_NAME:
        yield f"must be no more than {_MAX_PORT_NAME} characters"
    if not re.fullmatch("[-a-z0-9]+", name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name.startswith("-") or name.endswith("-"):
        yield "must not begin or end with a hyphen"
