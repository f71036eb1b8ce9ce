"""Lists of models as servers give them out: which window counts, and what each failure says."""

from __future__ import annotations

import json
import threading
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.entries import KnownModel, ProviderEntry, ProviderKind
from bibgenie_desktop.domain.errors import AuthError, ProviderError
from bibgenie_desktop.domain.prices import Prices
from bibgenie_desktop.net.client import Http
from bibgenie_desktop.providers import model_lists
from bibgenie_desktop.providers.probing import Prober
from tests.providers.mapped_server import Mapped, mapped

KEY = "sk-secret-0815-abcdefgh"


async def probe(
    server: Mapped,
    kind: ProviderKind = "openai-chat",
    path: str = "/v1",
    key: str = "",
    seconds: float = 20.0,
) -> dict[str, KnownModel]:
    http = Http()
    try:
        found = await Prober(http, seconds).models(ProviderEntry("lab", kind), server.root + path, key)
    finally:
        await http.aclose()
    return {model.id: model for model in found}


async def failure(
    answer: Any, kind: ProviderKind = "openai-chat", path: str = "/v1/models", seconds: float = 20.0
) -> ProviderError:
    with mapped({path: answer}) as server, pytest.raises(ProviderError) as caught:
        await probe(server, kind, key=KEY, seconds=seconds)
    return caught.value


OPENROUTER = {
    "data": [
        {
            "id": "anthropic/claude-sonnet-4.6",
            "name": "Anthropic: Claude Sonnet 4.6",
            "context_length": 1_000_000,
            "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
            "top_provider": {"context_length": 200_000, "max_completion_tokens": 64_000},
            "supported_parameters": ["tools", "reasoning"],
        },
        {"id": "x/paints", "architecture": {"output_modalities": ["image"]}},
        {
            "id": "openrouter/auto",
            "context_length": 2_000_000,
            "pricing": {"prompt": "-1", "completion": "-1"},
        },
    ]
}


async def test_router_says_windows_abilities_and_prices() -> None:
    with mapped({"/api/v1/models": OPENROUTER}) as server:
        found = await probe(server, path="/api/v1", key=KEY)
        assert [headers["authorization"] for _, _, headers in server.seen] == [f"Bearer {KEY}"]
    assert found["anthropic/claude-sonnet-4.6"] == KnownModel(
        "anthropic/claude-sonnet-4.6", "Anthropic: Claude Sonnet 4.6", 200_000, 64_000, True, True, True,
        prices=Prices(3, 15, 0.3),
    )  # fmt: skip
    assert list(found) == ["anthropic/claude-sonnet-4.6", "openrouter/auto"]
    assert found["openrouter/auto"].prices is None


async def test_plain_list_offers_only_models_one_can_talk_to() -> None:
    names = [
        "gpt-5",
        "text-embedding-3-small",
        "whisper-1",
        "dall-e-3",
        "gpt-4o-realtime-preview",
        "tts-1",
        "o3",
    ]
    with mapped({"/v1/models": {"data": [{"id": name} for name in names]}}) as server:
        found = await probe(server)
        assert list(found) == ["gpt-5", "o3"]
        assert found["o3"] == KnownModel("o3", loaded=False)


async def test_mistral_groq_and_vllm_say_their_windows() -> None:
    listed = [
        {
            "id": "mistral-x",
            "max_context_length": 131_072,
            "capabilities": {"function_calling": True, "vision": False},
        },
        {"id": "embedder", "capabilities": {"completion_chat": False}},
        {"id": "groq-x", "context_window": 131_072, "max_completion_tokens": 32_768},
        {"id": "vllm-x", "max_model_len": 16_384},
    ]  # fmt: skip
    with mapped({"/v1/models": {"data": listed}}) as server:
        found = await probe(server)
    assert list(found) == ["mistral-x", "groq-x", "vllm-x"]
    assert (found["mistral-x"].window, found["mistral-x"].tools, found["mistral-x"].vision) == (
        131_072,
        True,
        False,
    )
    assert (found["groq-x"].window, found["groq-x"].max_output) == (131_072, 32_768)
    assert (found["vllm-x"].window, found["vllm-x"].loaded) == (16_384, True)


@pytest.mark.parametrize(("n_ctx", "window"), [(2_048, 2_048), (999_999, 8_192)])
async def test_llama_cpp_counts_the_window_it_loaded_not_the_trained_one(n_ctx: int, window: int) -> None:
    listed = {"data": [{"id": "smol", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8_192}}]}
    props = {
        "default_generation_settings": {"n_ctx": n_ctx},
        "modalities": {"vision": False},
        "chat_template_caps": {"supports_tools": True},
    }
    with mapped({"/v1/models": listed, "/props": props}) as server:
        found = await probe(server)
    assert found == {
        "smol": KnownModel("smol", window=window, vision=False, tools=True, trained=8_192, loaded=True)
    }


async def test_llama_cpp_that_hides_its_settings_says_no_window() -> None:
    listed = {"data": [{"id": "smol", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8_192}}]}
    with mapped({"/v1/models": listed}) as server:
        found = await probe(server)
    assert (found["smol"].window, found["smol"].trained) == (None, 8_192)


async def test_lm_studio_counts_only_what_is_loaded() -> None:
    plain = {"data": [{"id": "qwen"}, {"id": "gemma"}]}
    older = {
        "data": [
            {"id": "qwen", "type": "llm", "state": "loaded", "max_context_length": 32_768,
             "loaded_context_length": 4_096, "capabilities": ["tool_use"]},
            {"id": "gemma", "type": "vlm", "state": "not-loaded", "max_context_length": 131_072},
            {"id": "nomic", "type": "embeddings", "max_context_length": 2_048},
        ]
    }  # fmt: skip
    newer = {
        "models": [
            {"key": "qwen", "type": "llm", "display_name": "Qwen", "max_context_length": 32_768,
             "loaded_instances": [{"id": "qwen", "config": {"context_length": 8_192}}],
             "capabilities": {"vision": False, "trained_for_tool_use": True}},
        ]
    }  # fmt: skip
    with mapped({"/v1/models": plain, "/api/v0/models": older}) as server:
        found = await probe(server)
    assert found == {
        "qwen": KnownModel("qwen", window=4_096, vision=False, tools=True, trained=32_768, loaded=True),
        "gemma": KnownModel("gemma", vision=True, trained=131_072),
    }
    with mapped({"/v1/models": plain, "/api/v1/models": newer}) as server:
        found = await probe(server)
    assert found == {
        "qwen": KnownModel(
            "qwen", "Qwen", window=8_192, vision=False, tools=True, trained=32_768, loaded=True
        )
    }


def ollama(*, loaded: int | None = None, parameters: str = "") -> dict[str, Any]:
    show = {
        "capabilities": ["completion", "tools", "thinking"],
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960},
        "parameters": parameters,
    }
    running = [] if loaded is None else [{"name": "qwen3:8b", "context_length": loaded}]
    return {
        "/api/tags": {"models": [{"name": "qwen3:8b"}, {"name": "nomic-embed-text:latest"}]},
        "/api/ps": {"models": running},
        "/api/show": lambda body: show if body == {"model": "qwen3:8b"} else (404, {"error": "no model"}),
    }


@pytest.mark.parametrize(
    ("loaded", "parameters", "window", "is_loaded"),
    [
        (None, "", None, False),
        (None, 'stop "<|end|>"\nnum_ctx                        8192', 8_192, False),
        (16_384, "num_ctx 8192", 16_384, True),
        (65_536, "", 40_960, True),
    ],
)
async def test_ollama_counts_what_is_loaded_or_set_up_never_more_than_trained(
    loaded: int | None, parameters: str, window: int | None, is_loaded: bool
) -> None:
    with mapped(ollama(loaded=loaded, parameters=parameters)) as server:
        for path in ("", "/api", "/v1"):
            found = await probe(server, "ollama", path)
            assert found == {
                "qwen3:8b": KnownModel(
                    "qwen3:8b", window=window, vision=False, tools=True, reasoning=True, trained=40_960,
                    loaded=is_loaded,
                )
            }  # fmt: skip


async def test_ollama_behind_its_openai_interface_is_recognised() -> None:
    paths = ollama(loaded=4_096) | {"/v1/models": {"data": [{"id": "qwen3:8b", "owned_by": "library"}]}}
    with mapped(paths) as server:
        assert (await probe(server))["qwen3:8b"].window == 4_096


async def test_anthropic_and_gemini_lists_are_read_with_their_own_key_headers() -> None:
    listed = {"id": "claude-x", "display_name": "Claude X", "max_input_tokens": 200_000, "max_tokens": 64_000}
    claude = {"data": [listed]}
    with mapped({"/v1/models": claude}) as server:
        for path in ("", "/v1"):
            found = await probe(server, "anthropic", path, KEY)
        assert server.seen[0][2]["x-api-key"] == KEY
        assert "authorization" not in server.seen[0][2]
        assert server.asked == ["/v1/models?limit=1000"] * 2
    assert found == {"claude-x": KnownModel("claude-x", "Claude X", 200_000, 64_000)}
    gemini = {
        "models": [
            {"name": "models/gemini-x", "displayName": "Gemini X", "inputTokenLimit": 1_048_576,
             "outputTokenLimit": 65_536, "supportedGenerationMethods": ["generateContent"], "thinking": True},
            {"name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"]},
        ]
    }  # fmt: skip
    with mapped({"/v1beta/models": gemini}) as server:
        found = await probe(server, "gemini", "/v1beta", KEY)
        assert server.seen[0][2]["x-goog-api-key"] == KEY
        assert KEY not in server.asked[0]
    assert found == {"gemini-x": KnownModel("gemini-x", "Gemini X", 1_048_576, 65_536, reasoning=True)}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), "does not accept the key"),
        ((404, {"error": "no"}), "does not know this model or address"),
        (b"<html><title>Sign in</title></html>", "is not a model provider"),
        (b"pong", "cannot be read"),
        ((503, {"error": {"message": "Loading model"}}), "busy or starting"),
    ],
)
async def test_each_failure_is_a_sentence_without_the_key(answer: Any, words: str) -> None:
    error = await failure(answer)
    assert words in error.title
    told = "".join(traceback.format_exception(error))
    assert KEY not in told.replace(f'"Incorrect API key provided: {KEY}"', "")


async def test_server_that_never_answers_is_given_up() -> None:
    released = threading.Event()
    timer = threading.Timer(0.5, released.set)
    timer.start()
    error = await failure(lambda body: (released.wait(30), {})[1], seconds=0.2)
    timer.join()
    assert "within 0.2 seconds" in error.title


async def test_key_with_characters_no_key_has_is_never_sent() -> None:
    with mapped({}) as server, pytest.raises(AuthError, match="characters"):
        await probe(server, key="sk-\n")
    assert server.seen == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["data", "models", "id", "name", "key", "pricing", "prompt", "completion", "capabilities", "meta",
             "context_length", "top_provider", "architecture", "input_modalities", "loaded_instances",
             "config", "model_info", "x.context_length", "parameters", "n_ctx_train",
             "default_generation_settings", "n_ctx", "supportedGenerationMethods", "type", "owned_by",
             "state", "model"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(payload=JSON)
def test_list_of_any_form_is_read_without_a_fault(payload: object) -> None:
    models = (
        *model_lists.openai_models(payload),
        *model_lists.anthropic_models(payload),
        *model_lists.gemini_models(payload),
        *model_lists.lm_studio(payload),
        model_lists.ollama_model("m", payload, None),
    )
    model_lists.llama_cpp(models, payload)
    model_lists.ollama_names(payload)
    model_lists.owners(payload)
    assert all(window > 0 for window in model_lists.ollama_loaded(payload).values())
    for model in models:
        assert model.id
        assert all(figure is None or figure > 0 for figure in (model.window, model.max_output, model.trained))
        json.dumps(model.name)
