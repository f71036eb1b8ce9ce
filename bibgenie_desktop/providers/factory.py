"""Makes the provider of a kind named in the settings. Each dialect enters here once."""

from __future__ import annotations

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.net import Http
from bibgenie_desktop.providers.addresses import chat_base_url
from bibgenie_desktop.providers.http_provider import HttpProvider, KeySource
from bibgenie_desktop.providers.openai_chat import ChatCodec, dialect_of


def http_provider(
    kind: str, id: str, base_url: str, key: KeySource, http: Http, *, allow_plain_http: bool = False
) -> HttpProvider:
    """A provider of `kind` under `id`; raises `UserError` for a kind or an address that cannot be used."""
    if kind != "openai-chat":
        raise UserError(
            f"The provider “{id}” is of the kind “{kind}”, which this version cannot use.",
            "Most services also offer an OpenAI-compatible address: use that with the kind “openai-chat”.",
        )
    address = chat_base_url(base_url)
    return HttpProvider(
        id, address, key, http, ChatCodec(dialect_of(address)), allow_plain_http=allow_plain_http
    )
