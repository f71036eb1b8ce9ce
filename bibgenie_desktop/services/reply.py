"""An answer under way, in memory: its parts as they arrive, the usage of each request, its longest length."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.messages import PendingReply
from bibgenie_desktop.domain.parts import Part, ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers import base

MOST_TEXT: Final = 4_000_000
"""Characters of one answer, thoughts included: forty times what today's models can write at most."""
ENDLESS = "The answer did not come to an end and was stopped after 4 MB of text."


class Endless(UserError):
    """The model does not stop by itself."""


@dataclass
class Reply:
    """The answer under way: finished parts, and the text of the request that is streaming.

    Words that arrive wait in `_fresh` until somebody looks at `parts`: joining each would copy all before it.
    """

    pending: PendingReply
    usage: list[Usage] = field(default_factory=list)
    step: int = 0
    note: str = ""
    saved_at: int = 0
    _parts: list[Part] = field(default_factory=list)
    _fresh: list[str] = field(default_factory=list)
    _length: int = 0

    @property
    def parts(self) -> list[Part]:
        """All parts, whole."""
        last = self._parts[-1] if self._parts else None
        if self._fresh and isinstance(last, TextPart | ReasoningPart):
            self._parts[-1] = replace(last, text=last.text + "".join(self._fresh))
        self._fresh.clear()
        return self._parts

    @property
    def spoke(self) -> bool:
        """Whether the request that is ending brought words for the person."""
        return any(isinstance(p, TextPart) and p.step == self.step and p.text.strip() for p in self.parts)

    def add_text(self, text: str) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, TextPart) and last.step == self.step:
            self._fresh.append(text)
        else:
            self.parts.append(TextPart(text, self.step))
        self._grow(text)

    def add_reasoning(self, text: str) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, ReasoningPart) and last.step == self.step and last.opaque is None:
            self._fresh.append(text)
        else:
            self.parts.append(ReasoningPart(text, self.step))
        self._grow(text)

    def _grow(self, text: str) -> None:
        self._length += len(text)
        if self._length > MOST_TEXT:
            raise Endless(ENDLESS, "What had arrived is kept.")

    def close_reasoning(self, event: base.ReasoningClosed) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, ReasoningPart) and last.step == self.step and last.opaque is None:
            self.parts[-1] = replace(last, opaque=event.opaque)
        elif event.opaque:
            self.parts.append(ReasoningPart("", self.step, event.opaque))

    def call(self, event: base.ToolCalled) -> ToolPart:
        """A call that the model has made, not run yet."""
        opaque = dict(event.opaque or {})
        if event.malformed:
            opaque["malformed"] = event.malformed
        name = f"{self.pending.message_id}/{len(self.parts)}"
        return ToolPart(name, event.name, event.input, "pending", self.step, opaque=opaque or None)
