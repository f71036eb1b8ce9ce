"""Where the files that ship with the application lie: prompts and the sample library."""

from __future__ import annotations

from pathlib import Path

PROMPT_SIZES = ("full", "medium", "small")


def resources_dir() -> Path:
    """Inside an installed package, beside the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent / "resources"


def sample_library() -> Path:
    """The Zotero data directory of the bundled sample library; only ever read."""
    return resources_dir() / "sample-library"


def prompt(name: str) -> str:
    """A written text of `resources/prompts`."""
    return (resources_dir() / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
