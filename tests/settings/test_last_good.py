"""A settings file that went wrong: the application starts with what was good last and leaves it alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.settings.config_file import ConfigFile
from bibgenie_desktop.settings.preferences import Preferences

GOOD = """\
[[provider]]
id = "lab"
kind = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
models = [{id = "m"}]

[defaults]
model = "lab/m"

[compaction]
automatic = false
"""


def application(folder: Path) -> Application:
    return Application(Options(data_dir=folder / "data", home=folder / "home", environment={}))


async def opened(folder: Path) -> Application:
    app = application(folder)
    await app.open()
    return app


@pytest.mark.parametrize(
    ("bad", "names"),
    [
        (GOOD + "[defaults\n", "line 12"),
        (GOOD.replace('kind = "openai-chat"', 'kind = "telepathy"'), "telepathy"),
        ("\x00", "config.toml"),
    ],
)
async def test_a_wrong_file_starts_with_the_last_good_values_and_stays_as_it_is(
    tmp_path: Path, bad: str, names: str
) -> None:
    path = tmp_path / "data" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(GOOD)
    await (await opened(tmp_path)).close()
    path.write_text(bad)
    app = await opened(tmp_path)
    try:
        assert app.config_fault is not None
        assert str(path) in app.config_fault.title
        assert names in app.config_fault.text
        assert app.workspace.models.default == "lab/m"
        assert not app.preferences.automatic_compaction
        for change in (
            lambda: app.set_automatic_compaction(True),
            lambda: app.config.set_default_model("lab/m"),
        ):
            with pytest.raises(UserError):
                change()
        with pytest.raises(UserError):
            await app.choose_library(None)
        assert app.library is None
        assert path.read_text() == bad
        with pytest.raises(UserError):
            await app.read_config()
        path.write_text(GOOD.replace("automatic = false", "automatic = true"))
        await app.read_config()
        assert app.config_fault is None
        assert app.preferences.automatic_compaction
    finally:
        await app.close()


async def test_without_good_values_the_defaults_count(tmp_path: Path) -> None:
    path = tmp_path / "data" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[")
    app = await opened(tmp_path)
    try:
        assert app.config_fault is not None
        assert app.workspace.models.default.startswith("builtin/")
        assert path.read_text() == "["
    finally:
        await app.close()


def test_every_change_is_kept_as_good(tmp_path: Path) -> None:
    config = ConfigFile(tmp_path / "config.toml", tmp_path / "kept.toml")
    config.set_default_model("lab/m")
    (tmp_path / "config.toml").write_text("no = ")
    assert config.last_good().default_model == "lab/m"
    (tmp_path / "kept.toml").write_text("nor this = ")
    assert config.last_good() == Preferences()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[defaults]\nmodel = "lab/m"\n'),
        ("a = 1\n", 'a = 1\n\n[defaults]\nmodel = "lab/m"\n'),
        ('[[provider]]\nid = "x"\nkind = "anthropic"\n', None),
        ("[zotero]\ndata_dir = '/z'\n\n", "[zotero]\ndata_dir = '/z'\n\n[defaults]\nmodel = \"lab/m\"\n"),
    ],
)
def test_a_new_table_stands_apart_from_what_was_there(tmp_path: Path, before: str, after: str | None) -> None:
    path = tmp_path / "config.toml"
    path.write_text(before)
    ConfigFile(path).set_default_model("lab/m")
    text = path.read_text()
    assert text == (after if after is not None else f'{before}\n[defaults]\nmodel = "lab/m"\n')
    ConfigFile(path).set_zotero_dir("/other")
    assert "\n\n[zotero]" in path.read_text() or "[zotero]" in before
