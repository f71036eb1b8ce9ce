"""Money and the prompt cache in words: what was spent, what is not known of it, what an action would lose."""

from __future__ import annotations

from collections.abc import Callable

from bibgenie_desktop.gui.docks.context.values import CostView
from bibgenie_desktop.gui.tr import percent, plural, thousands, tr
from bibgenie_desktop.services.spending.costs import Cost, SessionCost, money
from bibgenie_desktop.services.spending.prompt_cache import Cached, WarmCache


def cost_view(cost: SessionCost, cached: Cached | None, label: Callable[[str], str]) -> CostView | None:
    """A session's cost as the dock shows it; None before the first request. `label` names a model."""
    spent = cost.tree
    if not spent.requests:
        return None
    return CostView(
        title=cost_title(spent),
        kinds=_kinds(spent),
        models=tuple((label(model), _model_words(each)) for model, each in cost.models),
        notes=_notes(cost),
        cache=cached_words(cached),
    )


def cost_title(spent: Cost) -> str:
    """One sentence; it never says less than is known, and never more."""
    if spent.unpriced == spent.requests:
        return tr("What this session cost is not known")
    if not spent.dollars:
        return tr("This session cost nothing")
    if spent.unpriced:
        return tr("This session cost at least {0}").format(money(spent.dollars))
    words = tr("This session cost {0}") if spent.exact else tr("This session cost about {0}")
    return words.format(money(spent.dollars))


def answer_words(cost: Cost) -> str:
    """What an answer cost, for its last line; empty where nobody pays or nobody knows."""
    if not cost.dollars or cost.unpriced:
        return ""
    return money(cost.dollars) if cost.exact else tr("about {0}").format(money(cost.dollars))


def _kinds(spent: Cost) -> tuple[tuple[str, str], ...]:
    kinds = (
        (tr("Input, read anew"), spent.plain_tokens),
        (tr("Input from the cache"), spent.cached_tokens),
        (tr("Written to the cache"), spent.written_tokens),
        (tr("Output"), spent.output_tokens),
        (tr("of it reasoning"), spent.reasoning_tokens),
    )
    requests = (tr("Requests"), thousands(spent.requests))
    return (requests, *((name, thousands(tokens, 1)) for name, tokens in kinds if tokens))


def _model_words(cost: Cost) -> str:
    requests = plural(cost.requests, tr("{0} request"), tr("{0} requests"))
    if cost.free == cost.requests:
        return tr("{0} · no price").format(requests)
    if cost.unpriced == cost.requests:
        return tr("{0} · price not known").format(requests)
    return f"{requests} · {money(cost.dollars)}"


def _notes(cost: SessionCost) -> tuple[str, ...]:
    spent, notes = cost.tree, []
    if cost.branch.requests != spent.requests and cost.branch.dollars and not spent.unpriced:
        notes.append(
            tr("With all branches and forks; this branch alone {0}.").format(money(cost.branch.dollars))
        )
    elif cost.branch.requests != spent.requests:
        notes.append(tr("With all branches and forks."))
    if 0 < spent.unpriced < spent.requests:
        one, many = tr("{0} request has no known price."), tr("{0} requests have no known price.")
        notes.append(plural(spent.unpriced, one, many))
    if spent.estimated:
        one = tr("The tokens of {0} request are our own estimate.")
        many = tr("The tokens of {0} requests are our own estimate.")
        notes.append(plural(spent.estimated, one, many))
    if cost.summaries:
        one, many = tr("{0} summary is not counted."), tr("{0} summaries are not counted.")
        notes.append(plural(cost.summaries, one, many))
    return tuple(notes)


def cached_words(cached: Cached | None) -> str:
    """How the last request met the provider's cache; empty where nothing came from one."""
    if cached is None or not cached.tokens:
        return ""
    said = tr("Last request: {0} from the provider's cache").format(percent(cached.share))
    if cached.saved is not None and cached.saved >= 0.0001:
        return tr("{0}, which saved {1}.").format(said, money(cached.saved))
    return f"{said}."


def compact_warning(warm: WarmCache | None, now: int, tokens: int | None = None) -> str:
    """What Compact leaves behind: `tokens` are those that the request after it still holds."""
    if warm is None or not warm.worth(now, tokens):
        return ""
    loss = money(warm.loss(tokens))
    if tokens is None:
        return tr("The provider's cache is warm: what stays is read anew once, for at most {0}.").format(loss)
    return tr("The provider's cache is warm: what stays is read anew once, for about {0}.").format(loss)


def model_warning(warm: WarmCache | None, now: int) -> str:
    """What choosing another model or provider leaves behind."""
    if warm is None or not warm.worth(now):
        return ""
    return tr("{0} tokens are in this model's cache. Another one reads them anew: about {1} more.").format(
        thousands(warm.tokens), money(warm.loss())
    )


def edit_warning(warm: WarmCache | None, now: int, tokens: int) -> str:
    """What an edit of an earlier message may cost: `tokens` stand before it."""
    if warm is None or not warm.worth(now, tokens):
        return ""
    return tr(
        "The provider's cache holds a longer conversation: what comes before may cost up to {0}."
    ).format(money(warm.loss(tokens)))


def branch_warning(warm: WarmCache | None, now: int, tokens: int) -> str:
    """What a request on another branch costs more: `tokens` of it are not in the cache."""
    if warm is None or not warm.worth(now, tokens):
        return ""
    return tr(
        "The provider's cache holds the other branch. The next request here costs about {0} more."
    ).format(money(warm.loss(tokens)))


def tools_warning(warm: WarmCache | None, now: int) -> str:
    """What another set of tools leaves behind: they stand before the conversation."""
    if warm is None or not warm.worth(now):
        return ""
    return tr("The tools are others now, so the provider's cache is of no use: about {0} more, once.").format(
        money(warm.loss())
    )
