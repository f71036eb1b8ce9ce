"""The builder of requests for those who only look at one."""

from __future__ import annotations

from bibgenie_desktop.services.estimates import CALIBRATION, Estimates
from bibgenie_desktop.services.planner import Planner, Prompts
from bibgenie_desktop.services.tools.read_result import ReadResult
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.services.tools.toolbox import Toolbox
from bibgenie_desktop.settings.resources import PROMPT_SIZES, prompt
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.zotero.service import ZoteroLibrary


def prompts() -> Prompts:
    return Prompts(
        system=tuple(prompt(f"system-{size}") for size in PROMPT_SIZES),
        summary_system=prompt("summary-system"),
        summary_request=prompt("summary-request"),
        summary_repair=prompt("summary-repair"),
    )


def planner_for(library: ZoteroLibrary | None, store: Store) -> Planner:
    """The builder of requests, for those who only want to look at one, with what was learned so far."""
    estimates = Estimates()
    estimates.take(store.model_facts(CALIBRATION))
    tools = library_tools(library) if library is not None else ()
    return Planner(prompts(), Toolbox(tools), ReadResult.spec, estimates)
