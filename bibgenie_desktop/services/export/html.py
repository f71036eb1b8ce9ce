"""The active path as one self-contained HTML file: no script, nothing loaded, text escaped, links checked."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from bibgenie_desktop.domain.citations import MARKER
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Session, UserMessage
from bibgenie_desktop.domain.parts import ImagePart, Part, ReasoningPart, ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.topology import Placeholder
from bibgenie_desktop.services.export import wording
from bibgenie_desktop.services.export.proposals import Fate
from bibgenie_desktop.services.export.sources import Source, sources_of
from bibgenie_desktop.zotero.notes.whole_words import keep_words, tokens_of

LINKS: Final = frozenset({"http", "https", "mailto", "zotero"})
PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

STYLE: Final = """
:root { color-scheme: light dark; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.55 Georgia, serif; }
h1, h2, .who, .step, .checkpoint, .note, .sources { font-family: system-ui, sans-serif; }
article { margin: 1.5rem 0; }
.user { border-left: 3px solid #5b7f95; padding-left: 1rem; }
.who { font-weight: 600; font-size: .85rem; } .who time { font-weight: 400; opacity: .7; }
.step, .note { font-size: .85rem; opacity: .8; margin: .25rem 0; overflow-wrap: anywhere; }
.checkpoint { border: 1px solid #8887; border-radius: 6px; padding: .5rem 1rem; font-size: .9rem; }
.damaged { border: 1px solid #b33; border-radius: 6px; padding: .5rem 1rem; }
.cite { font-size: .85em; } pre { overflow-x: auto; padding: .75rem; background: #8882; border-radius: 6px; }
table { border-collapse: collapse; } th, td { border: 1px solid #8887; padding: .25rem .6rem; }
img { max-width: 100%; } blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid #8887; }
"""


def export_html(
    session: Session,
    path: Sequence[Message | Placeholder],
    pictures: Mapping[str, bytes] | None = None,
    damage: str = "",
    fates: Mapping[str, Fate] | None = None,
) -> str:
    """`pictures`: bytes by content hash; a picture that is not among them is named instead of shown."""
    sources = sources_of(path)
    page = _Page(pictures or {}, sources, fates or {})
    title = escape(wording.title_of(session))
    body = [f"<h1>{title}</h1>"]
    if damage:
        body.append(
            f'<p class="damaged"><strong>This conversation is damaged.</strong> {escape(damage)} '
            "What can be read follows.</p>"
        )
    body += [page.message(message) for message in path]
    if path and isinstance(path[-1], UserMessage):
        body.append(f'<p class="note">{escape(wording.NO_ANSWER_YET)}</p>')
    if sources:
        body.append('<section class="sources"><h2>Sources</h2><ol>')
        body += [_source(source) for source in sources]
        body.append("</ol></section>")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


class _Page:
    """Renders messages; knows which citations lead to an entry of the list of sources."""

    def __init__(
        self, pictures: Mapping[str, bytes], sources: Sequence[Source], fates: Mapping[str, Fate]
    ) -> None:
        self._fates = fates
        self._pictures = pictures
        self._titles = {source.id: source.title for source in sources}
        self._markdown = _markdown()

    def message(self, message: Message | Placeholder) -> str:
        match message:
            case UserMessage():
                return self._article("user", "You", message.created_at, self._parts(message.parts))
            case AssistantMessage():
                inner = [*self._parts(message.parts)]
                if note := wording.status_of(message):
                    inner.append(f'<p class="note">{escape(note)}</p>')
                who = message.model or "Answer"
                return self._article("answer", who, message.created_at, inner)
            case Checkpoint():
                line = escape(wording.checkpoint_line(message))
                return (
                    f'<aside class="checkpoint"><p><strong>{line}</strong></p>'
                    f"<p>{escape(wording.from_here(message))}</p><details><summary>The summary</summary>"
                    f"{self._rendered(message.summary)}</details></aside>"
                )
            case Placeholder():
                return (
                    f'<p class="damaged"><strong>A message cannot be shown.</strong> '
                    f"{escape(message.reason)}</p>"
                )

    def _article(self, kind: str, who: str, created_at: int, inner: Sequence[str] | Iterator[str]) -> str:
        time = escape(wording.time_of(created_at))
        heading = f'<p class="who">{escape(who)} <time>{time}</time></p>'
        return "\n".join((f'<article class="{kind}">{heading}', *inner, "</article>"))

    def _parts(self, parts: tuple[Part, ...]) -> Iterator[str]:
        for part in parts:
            match part:
                case TextPart():
                    yield self._rendered(part.text)
                case ToolPart():
                    call = f"{escape(part.name)} <code>{escape(wording.tool_input(part))}</code>"
                    outcome = wording.tool_outcome(part, self._fates.get(part.id))
                    yield f'<p class="step">{call} → {escape(outcome)}</p>'
                    yield from map(self._picture, part.images)
                case ImagePart():
                    yield self._picture(part)
                case ResourcePart():
                    yield f'<p class="step">attached: {escape(wording.attachment_line(part))}</p>'
                case ReasoningPart():
                    continue

    def _picture(self, part: ImagePart) -> str:
        data = self._pictures.get(part.blob)
        name = escape(wording.one_line(part.name))
        if data is None or part.mime not in PICTURES:
            return f'<p class="step">{escape(wording.image_line(part))}</p>'
        encoded = base64.b64encode(data).decode("ascii")
        return f'<p><img alt="{name}" src="data:{part.mime};base64,{encoded}"></p>'

    def _rendered(self, text: str) -> str:
        env = {"titles": self._titles}
        parser = self._markdown
        return str(parser.renderer.render(tokens_of(parser, text, env), parser.options, env))


class _Renderer(RendererHTML):
    """Knows one more kind of token; `titles` of the environment has the sources of the list by their ids."""

    def citation(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        marker, full_id = tokens[idx].content, str(tokens[idx].meta["id"])
        titles: Mapping[str, str] = env["titles"]
        if full_id not in titles:
            return f'<cite class="cite">{escape(marker)}</cite>'
        return f'<a class="cite" href="#{full_id}" title="{escape(titles[full_id])}">{escape(marker)}</a>'


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    keep_words(markdown.enable(["table", "strikethrough"]))
    markdown.disable("image")  # a picture from elsewhere would be loaded
    markdown.inline.ruler.before("link", "citation", _citation_rule)
    markdown.validateLink = _link_allowed  # type: ignore[method-assign]
    return markdown


def _citation_rule(state: StateInline, silent: bool) -> bool:
    """Citation markers are taken out before brackets can mean a link."""
    match = MARKER.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.content, token.meta = match[0], {"id": match["id"]}
    state.pos = match.end()
    return True


def _link_allowed(url: str) -> bool:
    try:
        return urlsplit(url.strip()).scheme.lower() in LINKS
    except ValueError:
        return False


def _source(source: Source) -> str:
    pages = f", p. {', '.join(map(str, source.pages))}" if source.pages else ""
    title = escape(source.title or source.id)
    link = f' <a href="{escape(source.link)}">open in Zotero</a>' if source.link else ""
    return f'<li id="{source.id}">{title}{pages} <code>{source.id}</code>{link}</li>'
