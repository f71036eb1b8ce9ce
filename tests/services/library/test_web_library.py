"""The library on zotero.org in the real application: testing a key, fetching, choosing, the next start."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bibgenie_desktop.cli.library import inspect_library
from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.errors import SecretStoreUnavailable, UserError
from bibgenie_desktop.services.library.web_library import SyncProgress
from bibgenie_desktop.settings.secrets import SecretStore
from tests.services.configuring.test_provider_setup import Ring
from tests.zotero.helpers import SAMPLE
from tests.zotero.online.web_bench import many
from tests.zotero.online.web_json import USER, web_libraries
from tests.zotero.online.web_server import KEY, Gate, WebServer, until


def options(folder: Path, address: str) -> Options:
    return Options(data_dir=folder / "data", home=folder / "home", environment={}, zotero_org=address)


async def opened(folder: Path, address: str, ring: Ring | None = None) -> Application:
    application = Application(options(folder, address))
    application.secrets = SecretStore({}, keyring=lambda: ring or Ring())
    await application.open()
    return application


async def test_a_key_is_tested_and_its_library_fetched_chosen_and_there_at_the_next_start(
    tmp_path: Path,
) -> None:
    ring = Ring()
    with WebServer(web_libraries(SAMPLE)) as org:
        app = await opened(tmp_path, org.address, ring)
        assert (await app.web.key_state()).place is None
        found = await app.web.look(KEY)
        assert (found.user_id, found.name, found.items, found.groups) == (
            USER,
            "reader",
            30,
            ("Journal club",),
        )
        assert app.library is None
        await app.web.save_key(KEY)
        steps: list[SyncProgress] = []
        await app.web.fetch("", found.user_id, steps.append)
        await asyncio.sleep(0)
        assert {s.phase for s in steps} == {"account", "fetching", "storing"}
        assert app.workspace.library_status is not None
        assert app.workspace.library_status.kind == "web"
        config = app.data.config.read_text("utf-8")
        assert f'data_dir = "web:{USER}"' in config
        assert KEY not in config
        await app.close()
        asked = len(org.requests)
        app = await opened(tmp_path, org.address, ring)
        await app.load_library()
        assert app.library is not None
        assert len(app.library.items) == 31
        assert len(org.requests) == asked
        await app.workspace.refresh_library()
        assert len(org.requests) > asked
        await app.close()
    for path in (tmp_path / "data").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


async def test_nothing_is_asked_before_a_key_is_tested(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        app = await opened(tmp_path, org.address)
        await app.load_library()
        await app.web.key_state()
        with pytest.raises(UserError, match="no key yet"):
            await app.web.look("")
        await app.close()
        assert org.requests == []


async def test_a_cancelled_fetch_ends_at_once_changes_nothing_and_goes_on_later(tmp_path: Path) -> None:
    with WebServer(many(430)) as org:
        app = await opened(tmp_path, org.address)
        gate = org.gate = Gate("/items", after=3)
        task = asyncio.ensure_future(app.web.fetch(KEY, USER, lambda _: None))
        assert await asyncio.to_thread(gate.reached.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert app.library is None
        assert app.preferences.zotero_dir == ""
        gate.open()
        org.requests.clear()
        await app.web.fetch(KEY, USER, lambda _: None)
        starts = [int(r.query["start"]) for r in org.requests if r.query.get("sort")]
        assert starts[0] >= 200
        assert app.library is not None
        assert len(app.library.items) == 430
        await app.close()


async def test_a_test_of_a_key_that_is_stopped_does_not_wait_for_the_answer(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        app = await opened(tmp_path, org.address)
        org.slow = 30
        task = asyncio.ensure_future(app.web.look(KEY))
        await asyncio.to_thread(until, lambda: org.requests)
        task.cancel()
        async with asyncio.timeout(5):
            with pytest.raises(asyncio.CancelledError):
                await task
            await app.close()
        assert len(org.requests) == 1


async def test_a_failed_fetch_keeps_the_library_in_use(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        app = await opened(tmp_path, org.address)
        await app.choose_library(None)
        with pytest.raises(UserError, match="does not know this key"):
            await app.web.fetch("wrong", USER, lambda _: None)
        assert app.workspace.library_status is not None
        assert app.workspace.library_status.data_dir.name == "sample-library"
        assert app.preferences.zotero_dir == "sample"
        await app.close()


async def test_a_key_that_no_keyring_takes_can_be_kept_for_this_run(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        ring = Ring()
        ring.locked = True
        app = await opened(tmp_path, org.address, ring)
        with pytest.raises(SecretStoreUnavailable):
            await app.web.save_key(KEY)
        app.web.keep_key_for_session(KEY)
        assert (await app.web.key_state()).place == "session"
        assert (await app.web.look("")).items == 3
        await app.close()


def test_the_command_line_reads_what_was_fetched_without_a_network(tmp_path: Path) -> None:
    async def fetch(address: str) -> None:
        app = await opened(tmp_path, address)
        await app.web.fetch(KEY, USER, lambda _: None)
        await app.close()

    with WebServer(web_libraries(SAMPLE)) as org:
        asyncio.run(fetch(org.address))
        asked = len(org.requests)
        told = inspect_library(options(tmp_path, org.address), tmp_path / "private")
        assert len(org.requests) == asked
    assert (told["profile"], told["chosen"], told["schema_version"]) == ("zotero.org", True, 0)
    assert [(lib["id"], lib["items"]) for lib in told["libraries"]] == [("u", 30), ("g4000001", 1)]
    assert KEY not in json.dumps(told)
