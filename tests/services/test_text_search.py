"""Sessions are found by what their messages say, on every branch; what is purged is forgotten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.services.text_search import TextSearch
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.text_index import TextIndex, folded, piece
from tests.scripted_server import ScriptedServer, text
from tests.services.desk import Desk, ask, desk


async def found(d: Desk, words: str) -> dict[str, str]:
    return dict(await d.workspace.search.find(words))


async def test_every_message_of_every_branch_is_found(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(
            text("Spindles carry **declarative** memory."),
            text("Ripples too."),
            text("Something else."),
            text("Über Müdigkeit."),
        )
        async with desk(tmp_path, server) as d:
            one = await d.chat()
            await one.send(ask("What do spindles do?"))
            await one.send(ask("And hippocampal ripples?"))
            await one.retry(one.path[-1].id)  # the first answer leaves the branch
            two = await d.chat()
            await two.send(ask("睡眠は何のため"))
            assert set(await found(d, "declarative")) == {one.session_id}
            assert set(await found(d, "DECLARative memory")) == {one.session_id}
            assert set(await found(d, "spindles ripples")) == set()  # no message has both
            assert set(await found(d, "Ripples too")) == {one.session_id}  # left behind, and still there
            assert set(await found(d, "mudigkeit")) == {two.session_id}
            assert set(await found(d, "睡眠")) == {two.session_id}  # shorter than the index knows
            assert set(await found(d, "何のため")) == {two.session_id}
            assert await found(d, "") == {}
            assert await found(d, '" OR ("') == {}
            assert "declarative" in (await found(d, "declarative"))[one.session_id]


async def test_a_fork_is_found_by_what_it_shares(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Later words."))
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            await chat.send(ask("Common ground?"))
            fork = await chat.fork(chat.path[-1].id)
            await chat.send(ask("Only here"))
            assert set(await found(d, "common ground")) == {chat.session_id, fork.id}
            assert set(await found(d, "later words")) == {chat.session_id}


async def test_what_is_purged_is_gone_from_the_file_as_well(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."))
        async with desk(tmp_path, server) as d:
            kept, gone = await d.chat(), await d.chat()
            await kept.send(ask("unforgettable"))
            await gone.send(ask("abracadabra"))
            assert set(await found(d, "abracadabra")) == {gone.session_id}
            await d.workspace.trash(gone.session_id)
            await d.store.run(Store.empty_trash)
            assert await found(d, "abracadabra") == {}
            assert set(await found(d, "unforgettable")) == {kept.session_id}
            for file in (tmp_path / "index").iterdir():
                assert os.name == "nt" or not file.stat().st_mode & 0o077
                assert b"abracadabra" not in file.read_bytes()


async def test_the_index_is_made_anew_where_it_cannot_be_read(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            await chat.send(ask("a needle"))
            path = tmp_path / "other" / "messages.sqlite"
            path.parent.mkdir()
            path.write_bytes(b"this is no database at all" * 200)
            search = TextSearch(d.store, path)
            try:
                assert set(await search.find("needle")) == {chat.session_id}
            finally:
                await search.close()


async def test_without_a_file_nothing_is_found_and_nothing_fails(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            search = TextSearch(d.store, None)
            assert dict(await search.find("anything")) == {}
            await search.close()


def test_ten_thousand_messages_are_searched_at_once(tmp_path: Path) -> None:
    index = TextIndex(tmp_path / "messages.sqlite")
    try:
        said = ((MessageId(f"m{n:05}"), f"message {n} about sleep and memory") for n in range(10_000))
        index.add(said)
        assert [i for i, _ in index.find("message 4711", 10)] == ["m04711"]
        assert len(index.find("sleep", 300)) == 300
        assert index.find("sleep", 1)[0][0] == "m09999"
    finally:
        index.close()


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("short", ["sho"], "short"),
        ("a " * 100 + "needle" + " b" * 100, ["needle"], "needle"),
        ("ﬁ" * 300 + " needle", ["needle"], "needle"),
    ],
)
def test_a_piece_holds_what_was_found(said: str, words: list[str], shown: str) -> None:
    found_piece = piece(said, words)
    assert shown in found_piece
    assert len(found_piece) < 110
    assert folded("ＡＢＣ Müller") == "abc muller"
