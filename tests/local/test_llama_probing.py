"""Setting up a real llama.cpp server: its list, the window it really loaded, a streamed word."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry
from bibgenie_desktop.services.configuring.provider_test import ModelsListed, Passed, WindowFound, WordCame
from tests.local.helpers import LlamaServer

pytestmark = [pytest.mark.local, pytest.mark.patience(120)]


async def test_a_real_server_passes_the_test_and_its_window_counts_at_once(
    llama: LlamaServer, tmp_path: Path
) -> None:
    app = Application(Options(data_dir=tmp_path / "data", home=tmp_path, environment={}))
    await app.open()
    try:
        bare = app.providers.new_entry("llama-cpp")
        entry = ProviderEntry(bare.id, bare.kind, llama.base_url.removesuffix("/v1"))
        steps = [step async for step in app.providers.test(entry)]
        (listed,) = [step for step in steps if isinstance(step, ModelsListed)]
        (model,) = listed.models
        assert (model.window, model.trained, model.loaded, model.vision) == (2_048, 8_192, True, False)
        assert WindowFound(model.id, 2_048, "learned", 8_192) in steps
        assert "".join(step.text for step in steps if isinstance(step, WordCame)).strip()
        assert isinstance(steps[-1], Passed)
        await app.providers.put(ProviderEntry(entry.id, entry.kind, entry.base_url, (ModelEntry(model.id),)))
        profile = app.workspace.profiles()[0]
        assert (profile.window, profile.window_source) == (2_048, "learned")
        assert profile.prices is not None
        assert profile.prices.free
    finally:
        await app.close()
