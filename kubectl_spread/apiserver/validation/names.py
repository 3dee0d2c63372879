"""Errors of names, label keys and label values: messages as the API server words them, none for a good one.

Source: apimachinery pkg/apis/meta/v1/validation/validation.go (v1.36).
"""

from __future__ import annotations

from kubectl_spread.apimachinery import (
    dns_label_faults,
    dns_subdomain_faults,
    label_key_faults,
    label_value_faults,
    quoted,
)
from kubectl_spread.apiserver.validation.field_errors import Errors, invalid


def label_key_errors(path: str, text: str) -> Errors:
    """Yield the errors of a label key."""
    return (invalid(path, quoted(text), fault) for fault in label_key_faults(text))


def label_value_errors(path: str, text: str) -> Errors:
    """Yield the errors of a label value."""
    return (invalid(path, quoted(text), fault) for fault in label_value_faults(text))


def dns_label_errors(path: str, text: str) -> Errors:
    """Yield the errors of a DNS label."""
    return (invalid(path, quoted(text), fault) for fault in dns_label_faults(text))


def dns_subdomain_errors(path: str, text: str) -> Errors:
    """Yield the errors of a DNS subdomain."""
    return (invalid(path, quoted(text), fault) for fault in dns_subdomain_faults(text))
