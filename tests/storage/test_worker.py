"""The async face: one thread, in order, and a cancelled await that stops nothing."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import StaleBranch, StoreUnavailable
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker
from tests.storage.helpers import MODEL, Counting, count, opened


def worker_on(path: Path) -> StoreWorker:
    source = Counting()
    return StoreWorker(path, source.clock, source.ids)


async def test_calls_run_in_order_on_one_thread_that_is_not_ours(path: Path) -> None:
    worker = worker_on(path)
    await worker.open()
    try:
        threads: list[int] = []
        done: list[int] = []

        def note(store: Store, n: int) -> int:
            threads.append(threading.get_ident())
            done.append(n)
            return n

        assert await asyncio.gather(*(worker.run(note, n) for n in range(20))) == list(range(20))
        assert done == list(range(20))
        assert len(set(threads)) == 1
        assert threading.get_ident() not in threads
    finally:
        await worker.close()


async def test_methods_of_the_store_are_awaited(path: Path) -> None:
    worker = worker_on(path)
    await worker.open()
    try:
        session = await worker.run(Store.create_session, "S", MODEL)
        sent, asked, _ = await worker.run(
            Store.send, session.id, session.head, (TextPart("q"),), MessageId("reply"), MODEL
        )
        with pytest.raises(StaleBranch):
            await worker.run(
                Store.send, session.id, session.head, (TextPart("q"),), MessageId("other"), MODEL
            )
        assert (await worker.run(Store.open_branch, sent.id)).path == (asked,)
    finally:
        await worker.close()


async def test_a_cancelled_await_does_not_stop_the_job_nor_take_it_from_the_queue(path: Path) -> None:
    worker = worker_on(path)
    await worker.open()
    try:
        session = await worker.run(Store.create_session, "S", MODEL)
        held, entered = threading.Event(), threading.Event()

        def hold(store: Store) -> None:
            entered.set()
            assert held.wait(30)

        holding = asyncio.ensure_future(worker.run(hold))
        await asyncio.to_thread(entered.wait, 30)
        sending = asyncio.ensure_future(
            worker.run(Store.send, session.id, session.head, (TextPart("q"),), MessageId("r"), MODEL)
        )
        failing = asyncio.ensure_future(worker.run(Store.session, MODEL))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        for task in (sending, failing, holding):
            task.cancel()
        for task in (sending, failing, holding):
            with pytest.raises(asyncio.CancelledError):
                await task
        held.set()
        assert (await worker.run(Store.session, session.id)).branch_revision == 1
    finally:
        await worker.close()


async def test_closing_waits_for_what_was_started(path: Path) -> None:
    worker = worker_on(path)
    await worker.open()
    session = await worker.run(Store.create_session, "S", MODEL)
    sending = asyncio.ensure_future(
        worker.run(Store.send, session.id, session.head, (TextPart("q"),), MessageId("r"), MODEL)
    )
    await asyncio.sleep(0)
    await worker.close()
    await worker.close()
    await sending
    assert count(path, "message") == 1
    with pytest.raises(StoreUnavailable, match="not open"):
        await worker.run(Store.sessions)
    with opened(path, start=5000) as store:
        assert len(store.recover()) == 1


async def test_a_worker_that_cannot_open_can_be_closed(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database " * 500)  # noqa: ASYNC240
    worker = worker_on(path)
    with pytest.raises(StoreUnavailable):
        await worker.open()
    with pytest.raises(StoreUnavailable, match="not open"):
        await worker.run(Store.sessions)
    await worker.close()
