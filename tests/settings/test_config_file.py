"""`config.toml`: what it says, how it is changed, and that no change ever loses it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.settings.config_file import ConfigFile
from bibgenie_desktop.settings.preferences import Preferences

FULL = """\
# my settings
[[provider]]   # the lab
id = "lab"
kind = "openai-chat"
base_url = "http://10.0.0.5:8000/v1"  # ask Ada for the port
allow_plain_http = true
models = [
    {id = "org/model:8b", context_window = 32_768, max_output = 4096, vision = true, tools = false},  # slow
    {id = "small"},
]

[[provider]]
id = "claude"
kind = "anthropic"

[defaults]
model = "lab/org/model:8b"

[zotero]
data_dir = "/home/ada/Zotero"

[compaction]
automatic = false

[appearance]
theme = "dark"
text_scale = 120
reading_font = "Georgia"

[mine]
note = "kept"
"""


def config(tmp_path: Path, text: str | None = None) -> ConfigFile:
    file = ConfigFile(tmp_path / "config.toml")
    if text is not None:
        file.path.write_text(text, "utf-8")
    return file


def test_no_file_means_the_defaults_and_makes_none(tmp_path: Path) -> None:
    assert config(tmp_path).load() == Preferences()
    assert list(tmp_path.iterdir()) == []
    assert Preferences().default_model == "builtin/assistant"
    assert Preferences().automatic_compaction


def test_whole_file_is_read(tmp_path: Path) -> None:
    assert config(tmp_path, FULL).load() == Preferences(
        providers=(
            ProviderEntry(
                "lab",
                "openai-chat",
                "http://10.0.0.5:8000/v1",
                (ModelEntry("org/model:8b", 32_768, 4_096, True, False), ModelEntry("small")),
                allow_plain_http=True,
            ),
            ProviderEntry("claude", "anthropic"),
        ),
        default_model="lab/org/model:8b",
        zotero_dir="/home/ada/Zotero",
        automatic_compaction=False,
        theme="dark",
        text_scale=120,
        reading_font="Georgia",
    )


def test_models_may_be_written_as_tables(tmp_path: Path) -> None:
    listed = '[[provider.models]]\nid="gemma3:12b"\n[[provider.models]]\nid="b"\n'
    text = f'[[provider]]\nid="a"\nkind="ollama"\n{listed}'
    (entry,) = config(tmp_path, text).load().providers
    assert [model.id for model in entry.models] == ["gemma3:12b", "b"]


def test_mark_of_windows_editors_does_not_matter(tmp_path: Path) -> None:
    file = config(tmp_path)
    file.path.write_bytes(b'\xef\xbb\xbf[defaults]\r\nmodel = "a/b"\r\n')
    assert file.load().default_model == "a/b"


Change = Callable[[ConfigFile], Preferences]
LAB = ProviderEntry(
    "lab",
    "openai-chat",
    "http://10.0.0.5:8000/v1",
    (ModelEntry("org/model:8b", 32_768, 4_096, True, False), ModelEntry("small")),
    allow_plain_http=True,
)


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (lambda f: f.set_default_model("claude/x"), 'model = "lab/org/model:8b"', 'model = "claude/x"'),
        (lambda f: f.set_zotero_dir("/z"), 'data_dir = "/home/ada/Zotero"', 'data_dir = "/z"'),
        (lambda f: f.set_automatic_compaction(True), "automatic = false", "automatic = true"),
        (lambda f: f.set_appearance(theme="light"), 'theme = "dark"', 'theme = "light"'),
        (lambda f: f.set_appearance(text_scale=80), "text_scale = 120", "text_scale = 80"),
        (lambda f: f.set_appearance(reading_font=""), 'reading_font = "Georgia"', 'reading_font = ""'),
        (lambda f: f.put_provider(LAB), "", ""),
    ],
)
def test_a_change_changes_its_line_and_nothing_else(
    tmp_path: Path, change: Change, old: str, new: str
) -> None:
    file = config(tmp_path, FULL)
    changed = change(file)
    assert file.path.read_text("utf-8") == FULL.replace(old, new)
    assert file.load() == changed


def test_provider_is_changed_in_its_place_with_its_comments(tmp_path: Path) -> None:
    file = config(tmp_path, FULL)
    entry = ProviderEntry("lab", "openai-chat", "https://lab/v1", (ModelEntry("new", 8_192),))
    assert file.put_provider(entry).providers[0] == entry
    text = file.path.read_text("utf-8")
    assert text.index("# the lab") < text.index('id = "lab"') < text.index('id = "claude"')
    assert "# ask Ada for the port" in text
    assert file.load().providers[1] == ProviderEntry("claude", "anthropic")


def test_first_and_further_providers_can_be_added(tmp_path: Path) -> None:
    file = config(tmp_path)
    one = ProviderEntry("one", "openai-chat", "https://one/v1", (ModelEntry("a/b:c", 4_096, name="Ä"),))
    two = ProviderEntry("two", "gemini")
    file.put_provider(one)
    assert file.put_provider(two).providers == (one, two)
    assert file.load().providers == (one, two)


def test_provider_can_be_removed(tmp_path: Path) -> None:
    file = config(tmp_path, FULL)
    file.remove_provider("nobody")
    assert file.path.read_text("utf-8") == FULL
    assert [p.id for p in file.remove_provider("lab").providers] == ["claude"]
    assert file.remove_provider("claude").providers == ()
    assert 'note = "kept"' in file.path.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[defaults]\nmodel = \n", "line 2"),
        ('[[provider]]\nid = "a"\nid = "b"\n', "mistake"),
        ("a = 1\n\n[x\n", "line 3"),
        ("\x00", "mistake"),
        ('[defaults]\nmodel = "gpt"\n', "provider/model"),
        ("[defaults]\nmodel = 3\n", "model has a wrong value"),
        ("defaults = 3\n", "not a section"),
        ("provider = 3\n", "not a list"),
        ('[[provider]]\nkind = "openai-chat"\n', "no. 1 has the id"),
        ('[[provider]]\nid = "builtin"\nkind = "gemini"\n', "builtin"),
        ('[[provider]]\nid = "a/b"\nkind = "gemini"\n', "a/b"),
        ('[[provider]]\nid = "a"\nkind = "gopher"\n', "gopher"),
        ('[[provider]]\nid = "a"\nkind = "openai-chat"\n', "no base_url"),
        (
            '[[provider]]\nid = "a"\nkind = "gemini"\n[[provider]]\nid = "a"\nkind = "gemini"\n',
            "Two providers",
        ),
        ('[[provider]]\nid = "a"\nkind = "gemini"\nmodels = ["x"]\n', "models is not a list"),
        ('[[provider]]\nid = "a"\nkind = "gemini"\nmodels = [{}]\n', "without an id"),
        (
            '[[provider]]\nid = "a"\nkind = "gemini"\nmodels = [{id = "x", context_window = 1024}]\n',
            "too small",
        ),
        (
            '[[provider]]\nid = "a"\nkind = "gemini"\nmodels = [{id = "x", max_output = 0}]\n',
            "max_output is 0",
        ),
        ('[[provider]]\nid = "a"\nkind = "gemini"\nmodels = [{id = "x", vision = "yes"}]\n', "true or false"),
        ("[appearance]\ntext_scale = 300\n", "80 to 200"),
        ("[zotero]\nweb_files_mb = 0\n", "more than 0"),
        ("[appearance]\ntext_scale = true\n", "whole number"),
        ('[appearance]\ntheme = "pink"\n', "pink"),
    ],
)
def test_broken_file_is_named_and_never_replaced(tmp_path: Path, text: str, said: str) -> None:
    file = config(tmp_path, text)
    with pytest.raises(UserError, match=r"config\.toml") as caught:
        file.load()
    assert said in str(caught.value)
    with pytest.raises(UserError):
        file.set_automatic_compaction(False)
    assert file.path.read_text("utf-8") == text
    assert [p.name for p in tmp_path.iterdir()] == ["config.toml"]


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    file = config(tmp_path)
    file.path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="UTF-8"):
        file.load()


def test_change_that_would_break_the_file_is_not_written(tmp_path: Path) -> None:
    file = config(tmp_path, FULL)
    with pytest.raises(UserError, match="80 to 200"):
        file.set_appearance(text_scale=500)
    assert file.path.read_text("utf-8") == FULL


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX files")
def test_written_file_is_private(tmp_path: Path) -> None:
    file = config(tmp_path / "new" / "folder")
    file.set_zotero_dir("/z")
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
def test_link_to_a_file_elsewhere_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "bibgenie.toml"
    real.write_text(FULL)
    file = config(tmp_path)
    file.path.symlink_to(real)
    file.set_automatic_compaction(True)
    assert file.path.is_symlink()
    assert "automatic = true" in real.read_text()


def test_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="cannot be"):
        ConfigFile(tmp_path / "file" / "config.toml").set_zotero_dir("/z")


def test_way_to_a_provider_and_wish_for_reasoning_come_back(tmp_path: Path) -> None:
    file = config(tmp_path)
    entry = ProviderEntry(
        "lab",
        "anthropic",
        "https://llm.example/v1",
        (ModelEntry("m", reasoning=True, replays_reasoning="none"), ModelEntry("n", reasoning=False)),
        proxy="http://proxy.example:8080",
        ca_file="~/authority.pem",
    )
    assert file.put_provider(entry).providers == (entry,)
    assert file.load().providers == (entry,)
    plain = ProviderEntry("lab", "anthropic", "https://llm.example/v1", proxy="direct")
    assert file.put_provider(plain).providers == (plain,)


@pytest.mark.parametrize("proxy", ["proxy.example:8080", "ftp://x", "http://a b", "http://", "http://h/path"])
def test_proxy_that_is_no_address_is_refused(tmp_path: Path, proxy: str) -> None:
    file = config(tmp_path)
    with pytest.raises(UserError, match="proxy that is no address"):
        file.put_provider(ProviderEntry("lab", "anthropic", proxy=proxy))
    assert not file.path.exists()
