"""Why there is no summary, in words of its own: what a provider says of an answer does not fit one."""

from __future__ import annotations

from bibgenie_desktop.domain.errors import (
    BadAnswer,
    ContentFiltered,
    ContextOverflow,
    ProviderError,
    RateLimited,
    StreamCut,
    UserError,
)

UNCHANGED = "Nothing was changed."


class CompactionFailed(UserError):
    """No usable summary could be had; nothing was written."""


def of_summary(error: ProviderError) -> CompactionFailed:
    """A provider's failure while it wrote a summary. What had arrived of it is not kept."""
    match error:
        case ContextOverflow():
            figures = f" It allows {error.window:,} tokens." if error.window else ""
            return CompactionFailed(
                f"What is to be summarised is larger than this model's window.{figures}",
                f"{UNCHANGED} Compact again, or choose a model with a larger window.",
            )
        case StreamCut():
            return CompactionFailed("The summary broke off before its end.", f"{UNCHANGED} Compact again.")
        case ContentFiltered():
            return refused()
        case BadAnswer():
            return CompactionFailed(_without_end(error.title), f"{UNCHANGED} Compact again in a moment.")
        case RateLimited() if error.status == 413:
            return CompactionFailed(error.title, f"{UNCHANGED} Choose another model to compact with.")
        case _:
            return CompactionFailed(error.title, f"{UNCHANGED} {error.advice}".strip())


def refused() -> CompactionFailed:
    """To ask again for the same would be in vain."""
    return CompactionFailed(
        "The provider's content filter refused the summary.",
        f"{UNCHANGED} Choose another model to compact with.",
    )


def _without_end(title: str) -> str:
    return title.replace("The answer of", "The summary of")
