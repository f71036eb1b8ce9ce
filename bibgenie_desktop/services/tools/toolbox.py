"""The tools that models are offered now. Another library brings other tools; open conversations follow."""

from __future__ import annotations

from collections.abc import Iterable

from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.base import Tool


class Toolbox:
    """Ordered from the last to go to the first to go when a window is small."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = {t.spec.name: t for t in tools}

    def replace(self, tools: Iterable[Tool]) -> None:
        self._tools = {t.spec.name: t for t in tools}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(t.spec for t in self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)
