"""Providers set up in a running application: what counts at once, what is stored, and what a failure says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import keyring.errors
import pytest

from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import SecretStoreUnavailable, UserError
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.services import events
from bibgenie_desktop.services.configuring.provider_test import (
    AddressChecked,
    Asked,
    Failed,
    KeyFound,
    ModelsListed,
    Passed,
    WindowFound,
    WordCame,
)
from bibgenie_desktop.settings.secrets import SecretStore
from tests.providers.mapped_server import mapped
from tests.scripted_server import ScriptedServer, error, html, text
from tests.services.desk import ask

KEY = "sk-secret-0815-abcdefgh"


class Ring:
    """A keyring in memory."""

    def __init__(self, *, locked: bool = False) -> None:
        self.kept: dict[str, str] = {}
        self.locked = locked

    def get_password(self, service_name: str, username: str) -> str | None:
        self._open()
        return self.kept.get(username)

    def set_password(self, service_name: str, username: str, password: str) -> None:
        self._open()
        self.kept[username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        self._open()
        del self.kept[username]

    def _open(self) -> None:
        if self.locked:
            raise keyring.errors.InitError("Prompt dismissed")


@asynccontextmanager
async def application(
    folder: Path, ring: Ring | None = None, environment: dict[str, str] | None = None
) -> AsyncIterator[Application]:
    app = Application(Options(data_dir=folder / "data", home=folder / "home", environment=environment or {}))
    if ring is not None:
        app.secrets = SecretStore(environment or {}, keyring=lambda: ring)
    await app.open()
    try:
        yield app
    finally:
        await app.close()


def lab(server: ScriptedServer, *models: ModelEntry) -> ProviderEntry:
    return ProviderEntry("lab", "openai-chat", server.base_url, models)


async def tried(app: Application, entry: ProviderEntry, key: str | None = None, model: str = "") -> list[Any]:
    return [event async for event in app.providers.test(entry, key, model)]


async def failure(app: Application, entry: ProviderEntry, key: str | None = None) -> Failed:
    last = (await tried(app, entry, key))[-1]
    assert isinstance(last, Failed)
    assert KEY not in f"{last.title} {last.advice}"
    return last


async def test_test_goes_from_the_address_to_the_first_streamed_word(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("Hel", "lo!"))
        async with application(tmp_path) as app:
            typed = replace(lab(server), base_url=f"127.0.0.1:{server.port}/v1/chat/completions/")
            steps = await tried(app, typed, KEY)
        assert [type(s) for s in steps] == [
            AddressChecked, KeyFound, ModelsListed, WindowFound, Asked, WordCame, WordCame, Passed,
        ]  # fmt: skip
        address, key, listed, window, asked = steps[:5]
        assert address.base_url == server.base_url
        assert key.place == "typed"
        assert [m.id for m in listed.models] == ["scripted"]
        assert (window.model, window.window, window.source) == ("scripted", 8_192, "assumed")
        assert asked.url == f"{server.base_url}/chat/completions"
        assert "".join(s.text for s in steps[5:7]) == "Hello!"
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert server.bodies[0]["max_tokens"] == 256
    assert KEY not in repr(steps)


@pytest.mark.parametrize(
    ("reply", "step", "words"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), "word", "does not accept the key"),
        (error(404, "no such model", code="model_not_found"), "word", "does not know this model"),
        (error(402, "no credit"), "word", "no credit left"),
        (html(), "word", "is not a model provider"),
        (text(), "word", "answered without a word"),
    ],
)
async def test_each_failure_of_a_test_is_a_sentence(
    tmp_path: Path, reply: Any, step: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    with ScriptedServer() as server:
        server.script(reply)
        async with application(tmp_path) as app:
            failed = await failure(app, lab(server), KEY)
    assert failed.step == step
    assert words in failed.title
    assert failed.advice
    assert KEY not in caplog.text


async def test_refused_key_is_told_before_a_word_is_asked_for(tmp_path: Path) -> None:
    with mapped({"/v1/models": (401, {"error": {"message": f"bad key {KEY}"}})}) as server:
        async with application(tmp_path) as app:
            failed = await failure(app, ProviderEntry("lab", "openai-chat", f"{server.root}/v1"), KEY)
    assert (failed.step, failed.title) == ("models", "“lab” does not accept the key.")


async def test_server_without_a_list_is_asked_for_the_model_that_was_named(tmp_path: Path) -> None:
    with mapped({}) as server:
        entry = ProviderEntry("lab", "openai-chat", f"{server.root}/v1")
        async with application(tmp_path) as app:
            assert (await failure(app, entry)).title == "No model is known to try."
            steps = await tried(app, entry, model="mine")
    assert steps[2].note.startswith("This server gives no list")
    assert steps[4].model == "mine"
    assert steps[-1].step == "word"


@pytest.mark.parametrize(
    ("entry", "step", "words"),
    [
        (ProviderEntry("lab", "openai-chat", "not an address"), "address", "is not a web address"),
        (ProviderEntry("lab", "openai-chat", "http://127.0.0.1:9/v1"), "models", "Nothing answers"),
        (ProviderEntry("lab", "openai-chat", "http://10.0.0.1/v1"), "models", "without encryption"),
    ],
)
async def test_address_that_cannot_be_used_is_a_sentence(
    tmp_path: Path, entry: ProviderEntry, step: str, words: str
) -> None:
    async with application(tmp_path) as app:
        failed = await failure(app, entry, KEY)
    assert (failed.step, words in failed.title) == (step, True)


async def test_locked_keyring_ends_the_test_of_a_service_before_anything_is_sent(tmp_path: Path) -> None:
    cloud = ProviderEntry("cloud", "openai-chat", "https://llm.example/v1")
    async with application(tmp_path, Ring(locked=True)) as app:
        failed = await failure(app, cloud)
        state = await app.providers.key_state("cloud")
    assert (failed.step, failed.title) == ("key", "The system's keyring could not be opened.")
    assert (state.place, state.title) == (None, failed.title)


async def test_abandoned_test_ends_its_request(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text(*["word "] * 500).slow(0.01))
        async with application(tmp_path) as app, aclosing(app.providers.test(lab(server))) as steps:
            async for step in steps:
                if isinstance(step, WordCame):
                    break
        server.wait_aborted()


async def test_added_provider_answers_at_once_and_removed_one_is_gone_at_once(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("Here.", usage=(20, 2)))
        async with application(tmp_path, Ring()) as app:
            chat = await app.workspace.chat((await app.workspace.new_session()).id)
            seen: list[Any] = []
            chat.subscribe(seen.append)
            typed = replace(lab(server, ModelEntry("scripted", 50_000)), base_url=server.root_url)
            assert await app.providers.put(typed) == ()
            await app.providers.save_key("lab", KEY)
            assert [type(e) for e in seen] == [events.ContextChanged]
            assert app.workspace.profiles()[0].ref == "lab/scripted"
            assert app.config.load().providers == (replace(typed, base_url=server.base_url),)
            await chat.choose_model("lab/scripted")
            await chat.send(ask("Are you there?"))
            assert chat.path[-1].parts[-1].text == "Here."  # type: ignore[union-attr]
            assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
            assert (await chat.plan(Draft())).limits.window == 50_000
            assert await app.providers.remove("lab") == ""
            assert [p.provider for p in app.workspace.profiles()] == ["builtin", "builtin"]
            with pytest.raises(UserError, match="not set up"):
                await chat.plan(ask("x"))
            assert app.providers.providers() == ()
            assert (await app.providers.key_state("lab")).place is None


async def test_window_that_a_server_says_counts_at_once_and_after_a_restart(tmp_path: Path) -> None:
    listed = {"data": [{"id": "smol", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8_192}}]}
    props = {"default_generation_settings": {"n_ctx": 4_096}, "chat_template_caps": {"supports_tools": False}}
    with mapped({"/v1/models": listed, "/props": props}) as server:
        entry = ProviderEntry("lab", "openai-chat", f"{server.root}/v1", (ModelEntry("smol"),))

        def known(app: Application, ref: str = "lab/smol") -> tuple[int, str, bool]:
            profile = app.workspace.models.profile(ref)
            return profile.window, profile.window_source, profile.tools

        async with application(tmp_path) as app:
            await app.providers.put(entry)
            assert known(app) == (8_192, "assumed", True)
            steps = await tried(app, entry)
            assert WindowFound("smol", 4_096, "learned", 8_192) in steps
            assert known(app) == (4_096, "learned", False)
        async with application(tmp_path) as app:
            assert known(app) == (4_096, "learned", False)
            await app.providers.set_models("lab", (ModelEntry("smol", 3_000, tools=True),))
            assert known(app) == (3_000, "user", True)
            await app.providers.set_models("lab", (ModelEntry("smol"),))
            server.paths["/props"] = props | {"default_generation_settings": {"n_ctx": 8_192}}
            await tried(app, entry)
            assert known(app) == (8_192, "learned", False)


async def test_list_seen_before_the_provider_was_stored_counts_once_it_is(tmp_path: Path) -> None:
    listed = {"data": [{"id": "big", "context_length": 64_000}, {"id": "other", "context_length": 32_000}]}
    with mapped({"/v1/models": listed}) as server:
        entry = ProviderEntry("lab", "openai-chat", f"{server.root}/v1")
        async with application(tmp_path) as app:
            await tried(app, entry)
            assert [m.id for m in app.providers.offered(entry)] == ["big", "other"]
            await app.providers.put(replace(entry, models=(ModelEntry("big"),)))
            profile = app.workspace.models.profile("lab/big")
            assert (profile.window, profile.window_source) == (64_000, "provider")


async def test_without_a_keyring_the_key_can_be_kept_until_the_end(tmp_path: Path) -> None:
    async with application(tmp_path) as app:
        with pytest.raises(SecretStoreUnavailable, match="only until you quit"):
            await app.providers.save_key("lab", KEY)
        app.providers.keep_key_for_session("lab", KEY)
        assert (await app.providers.key_state("lab")).place == "session"
        await app.providers.forget_key("lab")
        assert (await app.providers.key_state("lab")).place is None


async def test_key_of_the_environment_is_used_and_said_to_remain(tmp_path: Path) -> None:
    environment = {"BIBGENIE_LAB_API_KEY": KEY}
    with ScriptedServer() as server:
        async with application(tmp_path, environment=environment) as app:
            await app.providers.put(lab(server))
            state = await app.providers.key_state("lab")
            assert (state.place, state.variable) == ("environment", "BIBGENIE_LAB_API_KEY")
            assert "BIBGENIE_LAB_API_KEY still holds" in await app.providers.remove("lab")


async def test_bad_entry_changes_nothing(tmp_path: Path) -> None:
    async with application(tmp_path) as app:
        for entry in (
            ProviderEntry("lab", "openai-chat", "no address"),
            ProviderEntry("builtin", "openai-chat", "https://x.example/v1"),
            ProviderEntry("la b", "openai-chat", "https://x.example/v1"),
            ProviderEntry("lab", "openai-chat", "https://x.example/v1", (ModelEntry("m", 1_000),)),
        ):
            with pytest.raises(UserError):
                await app.providers.put(entry)
        assert app.providers.providers() == ()
        assert not app.data.config.exists()


async def test_presets_are_addresses_as_they_are_used_under_ids_that_are_free(tmp_path: Path) -> None:
    async with application(tmp_path) as app:
        setup = app.providers
        assert len(setup.presets) == 12
        assert setup.catalogue_day >= "2026-05-21"
        for preset in setup.presets[:-1]:
            entry = setup.new_entry(preset.id)
            assert (entry.id, entry.kind, entry.base_url) == (preset.id, preset.kind, preset.base_url)
            await setup.put(entry)
            assert setup.new_entry(preset.id).id == f"{preset.id}-2"
            assert preset.key == "optional" or (preset.key_page and setup.offered(entry))
        assert [p.base_url for p in setup.providers()] == [p.base_url for p in setup.presets[:-1]]


async def test_hosted_models_are_known_before_anybody_is_asked(tmp_path: Path) -> None:
    async with application(tmp_path) as app:
        entry = app.providers.new_entry("anthropic")
        await app.providers.put(replace(entry, models=(ModelEntry("claude-haiku-4-5-20251001"),)))
        profile = app.workspace.profiles()[0]
        assert (profile.window, profile.window_source, profile.max_output) == (200_000, "catalogue", 64_000)
        assert profile.prices is not None
        assert (profile.vision, profile.label, profile.replays_reasoning) == (
            True,
            "Claude Haiku 4.5",
            "turn",
        )


async def test_default_model_is_that_of_new_sessions_at_once(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with application(tmp_path) as app:
            await app.providers.put(lab(server, ModelEntry("scripted")))
            await app.providers.set_default("lab/scripted")
            assert (await app.workspace.new_session()).model == "lab/scripted"
            assert app.providers.default_model() == "lab/scripted"
            await app.providers.remove("lab")
            assert (await app.workspace.new_session()).model == "builtin/assistant"
