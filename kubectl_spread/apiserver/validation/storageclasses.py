"""What the API server refuses of the parameters of a StorageClass; its other fields are not modelled.

Source: pkg/apis/storage/validation/validation.go validateParameters (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.validation.field_errors import FieldError, invalid, too_long

MOST_PARAMETERS = 512
LARGEST_PARAMETERS_BYTES = 256 * 1024
"""Of all their names and values."""


def parameter_errors(parameters: Mapping[str, object]) -> Iterator[FieldError]:
    """Yield what is wrong with the parameters, by name."""
    if len(parameters) > MOST_PARAMETERS:
        yield too_long("parameters", MOST_PARAMETERS)
        return
    if "" in parameters:
        yield invalid("parameters", quoted(""), "field can not be empty.")
    size = sum(len(text.encode()) for pair in parameters.items() for text in pair if isinstance(text, str))
    if size > LARGEST_PARAMETERS_BYTES:
        yield too_long("parameters", LARGEST_PARAMETERS_BYTES)
