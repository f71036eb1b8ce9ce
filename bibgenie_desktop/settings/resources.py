"""Where the files that ship with the application lie: prompts and the sample library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROMPT_SIZES = ("full", "medium", "small")


def resources_dir() -> Path:
    """Inside an installed package, beside the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent / "resources"


def sample_library() -> Path:
    """The Zotero data directory of the bundled sample library; only ever read."""
    return resources_dir() / "sample-library"


def catalogue() -> Mapping[str, Any]:
    """What is known of common models."""
    found = json.loads((resources_dir() / "catalogue.json").read_text(encoding="utf-8"))
    return dict(found)


def prompt(name: str) -> str:
    """A written text of `resources/prompts`."""
    return (resources_dir() / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
