"""The parameters of a StorageClass."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubectl_spread.apiserver.validation.volumes import (
    LARGEST_PARAMETERS_BYTES,
    MOST_PARAMETERS,
    parameter_errors,
)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, []),
        ({"type": "ssd", "": "x"}, ['parameters: Invalid value: "": field can not be empty.']),
        ({str(n): "" for n in range(MOST_PARAMETERS)}, []),
        ({str(n): "" for n in range(MOST_PARAMETERS + 1)}, ["parameters: Too long: may not be more than 512 bytes"]),
        ({"a": "b" * (LARGEST_PARAMETERS_BYTES - 1)}, []),
        ({"a": "b" * LARGEST_PARAMETERS_BYTES}, ["parameters: Too long: may not be more than 262144 bytes"]),
    ],
    ids=["none", "unnamed", "many", "too many", "large", "too large"],
)
def test_what_is_wrong_with_them(parameters: Mapping[str, str], said: list[str]) -> None:
    assert [str(error) for error in parameter_errors(parameters)] == said
