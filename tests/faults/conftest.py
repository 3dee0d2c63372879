"""A server for each test, and the program that asks it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from tests.cluster.api_server import ApiServer, serving
from tests.faults.shop import WHY, Program, Shop


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with serving(Shop()) as running:
        yield running


@pytest.fixture
def program(server: ApiServer, tmp_path: Path) -> Program:
    return Program.for_server(server.url, tmp_path)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the answer of a server without faults."""
    with serving(Shop()) as running:
        ended = Program.for_server(running.url, tmp_path_factory.mktemp("whole")).run(*WHY)
    assert (ended.code, ended.stderr) == (1, "")
    return ended.stdout


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()
