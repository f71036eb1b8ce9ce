"""Reading and changing `config.toml`: what people wrote into it, comments included, stays.

A file that cannot be read is never replaced; the error names the line.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import ParseError, TOMLKitError

from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.settings.preferences import (
    BadPreference,
    Preferences,
    Theme,
    read_preferences,
)


class ConfigFile:
    """Each change reads the file, changes what it must, checks the result and replaces the file in one
    step. `kept` gets a copy of every version that could be read; keys are in none of them."""

    def __init__(self, path: Path, kept: Path | None = None) -> None:
        self.path = path
        self._kept = kept

    def load(self) -> Preferences:
        """The preferences; the defaults where there is no file. Raises `UserError`."""
        document = self._parse()
        preferences = self._check(document)
        self._keep(tomlkit.dumps(document))
        return preferences

    def load_or_last_good(self) -> tuple[Preferences, UserError | None]:
        """What counts now, and why it is not what the file says."""
        try:
            return self.load(), None
        except UserError as error:
            return self.last_good(), error

    def last_good(self) -> Preferences:
        """The newest preferences that could be read; the defaults where there are none. Raises nothing."""
        if self._kept is None:
            return Preferences()
        try:
            return ConfigFile(self._kept).load()
        except UserError:
            return Preferences()

    def _keep(self, text: str) -> None:
        """Only a help for the day on which the file is wrong: where it cannot be written, nothing is said."""
        if self._kept is None:
            return
        with contextlib.suppress(OSError, UnicodeDecodeError, UserError):
            if not self._kept.is_file() or self._kept.read_text("utf-8") != text:
                _write(self._kept, text)

    def set_default_model(self, ref: str) -> Preferences:
        return self._set("defaults", {"model": ref})

    def set_zotero_dir(self, path: str) -> Preferences:
        return self._set("zotero", {"data_dir": path})

    def set_automatic_compaction(self, automatic: bool) -> Preferences:
        return self._set("compaction", {"automatic": automatic})

    def set_appearance(
        self, *, theme: Theme | None = None, text_scale: int | None = None, reading_font: str | None = None
    ) -> Preferences:
        """Change what is given; None leaves a value as it is."""
        wanted = {"theme": theme, "text_scale": text_scale, "reading_font": reading_font}
        return self._set("appearance", {name: value for name, value in wanted.items() if value is not None})

    def put_provider(self, entry: ProviderEntry) -> Preferences:
        """Add a provider, or change the one with this id in its place."""

        def change(document: tomlkit.TOMLDocument) -> None:
            tables = document.get("provider")
            if tables is None:
                tables = tomlkit.aot()
                document["provider"] = tables
            table = next((table for table in tables if table.get("id") == entry.id), None)
            if table is None:
                table = tomlkit.table()
                tables.append(table)
                table = tables[-1]
            values: dict[str, Any] = {"id": entry.id, "kind": entry.kind, "base_url": entry.base_url}
            for name in ("allow_plain_http", "proxy", "ca_file"):
                if (value := getattr(entry, name)) or name in table:
                    values[name] = value
            models = [_model_table(model) for model in entry.models]
            if models != tomlkit.item(table.get("models", [])).unwrap():
                values["models"] = _models_array(models)
            _update(table, values)

        return self._change(change)

    def remove_provider(self, id: str) -> Preferences:
        """Take a provider out; nothing happens if it is not there."""

        def change(document: tomlkit.TOMLDocument) -> None:
            tables = document.get("provider", [])
            for index in range(len(tables) - 1, -1, -1):
                if tables[index].get("id") == id:
                    del tables[index]
            if not tables:
                document.pop("provider", None)

        return self._change(change)

    def _set(self, section: str, values: dict[str, Any]) -> Preferences:
        def change(document: tomlkit.TOMLDocument) -> None:
            if section not in document:
                document[section] = tomlkit.table()
            _update(document[section], values)

        return self._change(change)

    def _change(self, change: Callable[[tomlkit.TOMLDocument], None]) -> Preferences:
        document = self._parse()
        self._check(document)
        before = tomlkit.dumps(document)
        change(document)
        text = _spaced(before, tomlkit.dumps(document))
        preferences = self._check(tomlkit.parse(text))
        _write(self.path, text)
        self._keep(text)
        return preferences

    def _parse(self) -> tomlkit.TOMLDocument:
        try:
            text = self.path.read_text("utf-8-sig")
        except FileNotFoundError:
            return tomlkit.document()
        except UnicodeDecodeError as error:
            raise self._unusable("is not a text in UTF-8") from error
        except OSError as error:
            raise self._unusable(f"cannot be read ({error.strerror or error})") from error
        try:
            return tomlkit.parse(text)
        except ParseError as error:
            raise self._unusable(f"has a mistake in line {error.line}, column {error.col}") from error
        except TOMLKitError as error:
            raise self._unusable(f"has a mistake: {error}") from error

    def _check(self, document: tomlkit.TOMLDocument) -> Preferences:
        try:
            return read_preferences(document.unwrap())
        except BadPreference as error:
            raise self._unusable(f"has a wrong value. {error.title}", f" {error.advice}") from error

    def _unusable(self, fault: str, advice: str = "") -> UserError:
        end = "" if fault.endswith(".") else "."
        return UserError(f"The settings file {self.path} {fault}{end}", f"It was left as it is.{advice}")


def _update(table: Any, values: dict[str, Any]) -> None:
    """Set what differs, so that comments beside equal values stay."""
    for name, value in values.items():
        if name not in table or table[name] != value:
            table[name] = value


def _spaced(before: str, text: str) -> str:
    """A blank line before a table that is new, and nothing else changed."""
    old, lines = before.splitlines(), text.splitlines(keepends=True)
    for place in range(len(lines) - 1, 0, -1):
        head, above = lines[place].strip(), lines[place - 1].strip()
        if head.startswith("[") and above and not above.startswith("#") and _grew(head, old, lines):
            lines.insert(place, "\n")
            spaced = "".join(lines)
            return spaced if tomlkit.parse(spaced).unwrap() == tomlkit.parse(text).unwrap() else text
    return text


def _grew(head: str, old: list[str], lines: list[str]) -> bool:
    """Whether a line, a table's head, stands there once more often than before."""
    return sum(line.strip() == head for line in lines) > sum(line.strip() == head for line in old)


def _model_table(model: ModelEntry) -> dict[str, Any]:
    values: dict[str, Any] = {"id": model.id}
    for name in ("context_window", "max_output", "vision", "tools", "reasoning"):
        if (value := getattr(model, name)) is not None:
            values[name] = value
    if model.name:
        values["name"] = model.name
    if model.replays_reasoning is not None:
        values["replays_reasoning"] = model.replays_reasoning
    return values


def _models_array(models: list[dict[str, Any]]) -> Any:
    array = tomlkit.array()
    for model in models:
        table = tomlkit.inline_table()
        table.update(model)
        array.append(table)
    return array.multiline(bool(models))


def _write(path: Path, text: str) -> None:
    """Replace the file in one step; it is the person's alone."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise UserError(
            f"The settings cannot be saved in {path.parent}: {error.strerror or error}."
        ) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path.resolve() if path.is_symlink() else path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(f"The settings cannot be saved to {path}: {error.strerror or error}.") from error
