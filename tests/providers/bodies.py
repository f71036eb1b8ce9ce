"""Bodies of streamed answers in each dialect, written as a server would send them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

SIGNATURE = "EqQBCkYIARgCKkA+9vvWwdN/NkNi=="
ENCRYPTED = "gAAAAABoyXusnBzv6TRLFFsi09D2XC4A5Jod6AOAtsnxA4Vdp6sHIAr4B0UwlKw="


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def sse(*events: Mapping[str, Any], named: bool = False, end: str = "\n\n") -> bytes:
    """Events of a stream; `named`: with an `event:` line each, and the stray blanks of Anthropic."""
    lines = (
        f"event: {event['type']}\ndata: {written(event)}   {end}" if named else f"data: {written(event)}{end}"
        for event in events
    )
    return "".join(lines).encode()


def lines(*objects: Mapping[str, Any], end: str = "\n") -> bytes:
    return "".join(f"{written(one)}{end}" for one in objects).encode()


# Chat Completions


def chat(*deltas: Mapping[str, Any], finish: str = "stop", usage: Mapping[str, Any] | None = None) -> bytes:
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage is not None:
        chunks.append({"choices": [], "usage": usage})
    return b": PROCESSING\n\n" + sse(*chunks) + b"data: [DONE]\n\n"


# OpenAI Responses


def response_item(index: int, item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of one output item."""
    kind = item["type"]
    events: list[dict[str, Any]] = []
    begun = dict(item)
    if kind == "function_call":
        begun["arguments"] = ""
        half = len(item["arguments"]) // 2
        for piece in (item["arguments"][:half], item["arguments"][half:]):
            events.append(
                {"type": "response.function_call_arguments.delta", "output_index": index, "delta": piece}
            )
        whole = {"type": "response.function_call_arguments.done", "output_index": index}
        events.append({**whole, "arguments": item["arguments"]})
    elif kind == "message":
        text = item["content"][0]["text"]
        begun["content"] = []
        for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
            events.append({"type": "response.output_text.delta", "output_index": index, "delta": piece})
        events.append({"type": "response.output_text.done", "output_index": index, "text": text})
    elif kind == "reasoning":
        for number, summary in enumerate(item.get("summary", ())):
            part = {"output_index": index, "summary_index": number}
            events.append({"type": "response.reasoning_summary_part.added", **part})
            events.append({"type": "response.reasoning_summary_text.delta", **part, "delta": summary["text"]})
    added = {"type": "response.output_item.added", "output_index": index, "item": begun}
    return [added, *events, {"type": "response.output_item.done", "output_index": index, "item": item}]


def response_text(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": content}


def response_call(name: str, arguments: Mapping[str, Any], number: int = 1) -> dict[str, Any]:
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name}
    return {**call, "arguments": written(arguments), "status": "completed"}


def response_reasoning(text: str = "", number: int = 1) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": ENCRYPTED}


def responses(
    *items: Mapping[str, Any], usage: Mapping[str, Any] | None = None, status: str = "completed", **last: Any
) -> bytes:
    begun = {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}
    done = {"id": "resp_1", "status": status, "output": list(items), "usage": usage, **last}
    middle = [event for index, item in enumerate(items) for event in response_item(index, item)]
    return sse(begun, *middle, {"type": f"response.{status}", "response": done}, named=True)


# Anthropic Messages


def block(index: int, content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of one content block."""
    deltas: list[dict[str, Any]] = []
    begun = dict(content)
    match content["type"]:
        case "text":
            begun["text"] = ""
            text = content["text"]
            pieces = (text[: len(text) // 2], text[len(text) // 2 :])
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
        case "thinking":
            begun |= {"thinking": "", "signature": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": content["thinking"]},
                {"type": "signature_delta", "signature": content["signature"]},
            ]
        case "tool_use":
            begun["input"] = {}
            arguments = written(content["input"]) if content["input"] else ""
            pieces = ("", arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def thinking(text: str, signature: str = SIGNATURE) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": signature}


def redacted(data: str = ENCRYPTED) -> dict[str, Any]:
    return {"type": "redacted_thinking", "data": data}


def use(name: str, given: Mapping[str, Any], number: int = 1) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


def anthropic(
    *blocks: Mapping[str, Any],
    stop: str = "end_turn",
    first: Mapping[str, Any] | None = None,
    last: Mapping[str, Any] | None = None,
) -> bytes:
    start = {"type": "message_start", "message": {"id": "msg_1", "content": [], "usage": dict(first or {})}}
    delta = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": dict(last or {})}
    middle: Iterable[dict[str, Any]] = (e for n, b in enumerate(blocks) for e in block(n, b))
    return sse(start, {"type": "ping"}, *middle, delta, {"type": "message_stop"}, named=True)


# Gemini


def gemini(
    *parts: Mapping[str, Any],
    finish: str = "STOP",
    usage: Mapping[str, Any] | None = None,
    end: str = "\r\n\r\n",
) -> bytes:
    figures = {} if usage is None else {"usageMetadata": usage}
    chunks: list[dict[str, Any]] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}], **figures}
        for part in parts
    ]
    last = {"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": finish}
    return sse(*chunks, {"candidates": [last], **figures}, end=end)


# Ollama


def ollama(
    *messages: Mapping[str, Any],
    reason: str = "stop",
    given: int | None = None,
    made: int = 0,
    end: str = "\n",
) -> bytes:
    figures = {} if given is None else {"prompt_eval_count": given, "eval_count": made}
    pieces = ({"model": "m", "message": {"role": "assistant", **one}, "done": False} for one in messages)
    last = {
        "model": "m",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": reason,
    }
    return lines(*pieces, {**last, **figures}, end=end)


def ollama_call(name: str, arguments: Any) -> dict[str, Any]:
    return {"content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}


# One answer that has everything, in every dialect

GIVEN = {"query": "soil \u2028 ü中"}
ODD = "é\u2028中\u0085😀"
FULL: dict[str, bytes] = {
    "openai-chat": chat(
        {"role": "assistant", "content": None},
        {"reasoning_content": "hm "},
        {"reasoning_content": "so"},
        {"content": ODD},
        {"content": " more"},
        {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "search_items", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": written(GIVEN)[:9]}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": written(GIVEN)[9:]}}]},
        finish="tool_calls",
        usage={"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
    ),
    "openai-responses": responses(
        response_reasoning("hm so"),
        response_text(f"{ODD} more"),
        response_call("search_items", GIVEN),
        usage={"input_tokens": 20, "output_tokens": 5, "total_tokens": 25},
    ),
    "anthropic": anthropic(
        thinking("hm so"),
        said(f"{ODD} more"),
        use("search_items", GIVEN),
        stop="tool_use",
        first={"input_tokens": 4, "cache_read_input_tokens": 9, "output_tokens": 1},
        last={"input_tokens": 5, "cache_creation_input_tokens": 6, "output_tokens": 5},
    ),
    "gemini": gemini(
        {"text": "hm so", "thought": True},
        {"text": ODD},
        {"text": " more"},
        {"functionCall": {"name": "search_items", "args": GIVEN}, "thoughtSignature": SIGNATURE},
        usage={
            "promptTokenCount": 20,
            "candidatesTokenCount": 3,
            "thoughtsTokenCount": 2,
            "totalTokenCount": 25,
        },
    ),
    "ollama": ollama(
        {"content": "", "thinking": "hm so"},
        {"content": ODD},
        {"content": " more"},
        ollama_call("search_items", GIVEN),
        given=20,
        made=5,
    ),
}
