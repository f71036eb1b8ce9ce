"""`inspect projection`: the exact next request of a session, made by the same functions that send it."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from bibgenie_desktop.cli.output import say
from bibgenie_desktop.compose.libraries import chosen_library, open_library
from bibgenie_desktop.compose.models import models_to_look_at
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.compose.requests import planner_for
from bibgenie_desktop.domain.errors import LibraryUnavailable, UserError
from bibgenie_desktop.domain.messages import PendingReply, Session
from bibgenie_desktop.domain.parts import Part, ToolPart
from bibgenie_desktop.domain.topology import DamagedBranch
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.services.images import pictures_of
from bibgenie_desktop.services.planner import Plan, Planner, blobs_of, request_of
from bibgenie_desktop.settings.config_file import ConfigFile
from bibgenie_desktop.settings.preferences import Preferences
from bibgenie_desktop.storage.store import Store


def projection(
    store: Store, session: Session, options: Options, private: FilePath, model: str
) -> dict[str, Any]:
    """With the stored draft; within a turn, its next step. Raises `UserError`: damaged, model not set up."""
    preferences = ConfigFile(options.data.config).load()
    models = models_to_look_at(preferences, store)
    opened = store.open_branch(session.id)
    if isinstance(opened.path, DamagedBranch):
        raise UserError("This conversation is damaged, so nothing can be sent in it.", opened.path.reason)
    planner = _planner(options, preferences, private, store)
    pending = opened.pending
    if pending is None:
        profile = models.profile(model or opened.session.model)
        plan = planner.plan(opened.path, store.draft(session.id), profile)
    else:
        profile = models.profile(model or pending.model)
        asked = opened.path if opened.session.leaf_id == pending.parent_id else None
        path = asked if asked is not None else store.path_to(pending.parent_id)
        parts, usage = finished_steps(pending)
        plan = planner.next_step(path, pending.message_id, parts, usage, profile)
    body = models.provider(profile).encode(request_of(plan, pictures_of(store, blobs_of(plan))))
    return _report(plan, body)


def _planner(options: Options, preferences: Preferences, private: FilePath, store: Store) -> Planner:
    """With the tools of the library that the window would use; it need not be read for that."""
    try:
        candidate = chosen_library(options, preferences)
    except LibraryUnavailable as error:
        say(f"{error.text} The request is shown without tools.")
        candidate = None
    return planner_for(open_library(candidate, private) if candidate is not None else None, store)


def finished_steps(pending: PendingReply) -> tuple[tuple[Part, ...], tuple[Usage, ...]]:
    """What the next request carries of an answer under way.

    A step goes back to the model once each of its calls has a result; words still arriving do not.
    """
    steps = sorted({part.step for part in pending.parts})
    finished = {step for step in steps if _finished(tuple(p for p in pending.parts if p.step == step))}
    return (
        tuple(part for part in pending.parts if part.step in finished),
        tuple(one for one in pending.usage if one.step in finished),
    )


def _finished(parts: tuple[Part, ...]) -> bool:
    calls = [part for part in parts if isinstance(part, ToolPart)]
    return bool(calls) and all(call.state != "pending" for call in calls)


def _report(plan: Plan, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": plan.profile.ref,
        "window": plan.limits.window,
        "window_source": plan.limits.window_source,
        "fixed": plan.fixed.tokens,
        "occupancy": plan.occupancy.tokens,
        "occupancy_source": plan.occupancy.source,
        "safe_limit": plan.limits.safe_limit,
        "trigger": plan.limits.trigger,
        "messages": [
            {"id": message.id, "kind": message.kind, "tokens": tokens}
            for message, tokens in zip(plan.projection.messages, plan.tokens, strict=True)
        ],
        "body": body,
    }
