"""Text of PDF pages through the worker process, and every way in which a file can refuse."""

from __future__ import annotations

import asyncio
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.files import pdf_worker
from bibgenie_desktop.zotero.files.documents import Documents, PageText
from tests.zotero.helpers import SAMPLE, generated, manifest


@asynccontextmanager
async def documents(**options: Any) -> AsyncIterator[Documents]:
    opened = Documents(**options)
    try:
        yield opened
    finally:
        await opened.close()


def sample(name: str) -> Path:
    return next((SAMPLE / "storage").glob(f"*/{name}"))


async def refusal(work: Awaitable[object]) -> str:
    with pytest.raises(DocumentUnreadable) as caught:
        await work
    assert caught.value.advice
    return caught.value.title


async def test_pages_have_text_physical_index_and_printed_label() -> None:
    async with documents() as docs:
        path = sample("Hu - 2020.pdf")
        assert await docs.page_count(path) == 3
        pages = await docs.pages_text(path, 1, 1)
        assert [(p.index, p.label) for p in pages] == [(1, "219")]
        assert "benefit of cueing was small to moderate" in pages[0].text
        assert "\r" not in pages[0].text
        assert "Sample summary" in pages[0].text
        assert [p.label for p in await docs.pages_text(path, 0, 99)] == ["218", "219", "220"]
        assert (await docs.info(path)).labels == ("218", "219", "220")


async def test_each_unreadable_file_has_a_sentence_of_its_own(tmp_path: Path) -> None:
    broken, empty, page = tmp_path / "broken.pdf", tmp_path / "empty.pdf", sample("Hu - 2020.pdf")
    broken.write_bytes(page.read_bytes()[:300])
    empty.write_bytes(b"")
    async with documents() as docs:
        told = [
            await refusal(docs.pages_text(tmp_path / "none.pdf", 0, 0)),
            await refusal(docs.pages_text(broken, 0, 0)),
            await refusal(docs.pages_text(empty, 0, 0)),
            await refusal(docs.pages_text(sample("Jenkins - 1924.pdf"), 0, 1)),
            await refusal(docs.pages_text(page, 7, 9)),
        ]
        assert len(set(told)) == len(told)
        assert "not on this computer" in told[0]
        assert "damaged" in told[1]
        assert "empty" in told[2]
        assert "no text" in told[3]
        assert "no such page" in told[4]
        assert await docs.page_count(sample("Jenkins - 1924.pdf")) == 2
        assert len(await docs.pages_text(page, 0, 0)) == 1  # none of it stopped the reader


async def test_a_password_is_named(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "lib")
    (key,) = (
        a["key"]
        for m in manifest(data_dir)["items"].values()
        for a in m.get("attachments", [])
        if a["kind"].startswith("encrypted")
    )
    (path,) = (data_dir / "storage" / key).glob("*.pdf")
    async with documents() as docs:
        assert "password" in await refusal(docs.pages_text(path, 0, 0))


WORKER = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    name = os.path.basename(request["path"])
    if name.startswith("hang"):
        time.sleep(600)
    if name.startswith("die"):
        os._exit(11)
    if name.startswith("rubbish"):
        sys.stdout.write("half an answer")
        sys.stdout.flush()
        os._exit(0)
    if request["op"] == "info":
        answer = {"pages": 3, "labels": []}
    else:
        wanted = range(request["first"], request["last"] + 1)
        answer = {"texts": [[i, "", "page %d of process %d" % (i, os.getpid())] for i in wanted]}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def poisoned(tmp_path: Path) -> tuple[str, ...]:
    """A worker that hangs on some names and dies on others."""
    script = tmp_path / "worker.py"
    script.write_text(textwrap.dedent(WORKER))
    return (sys.executable, str(script))


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        (tmp_path / name).write_bytes(b"x")
        return tmp_path / name

    return make


@pytest.mark.parametrize("name", ["hang.pdf", "die.pdf", "rubbish.pdf"])
async def test_a_poisoned_file_costs_one_error_and_the_next_question_is_answered(
    poisoned: tuple[str, ...], file: Callable[[str], Path], name: str
) -> None:
    async with documents(command=poisoned, time_limit=0.5) as docs:
        first = (await docs.pages_text(file("good.pdf"), 0, 0))[0].text
        title = await refusal(docs.pages_text(file(name), 0, 0))
        assert ("took too long" if name.startswith("hang") else "stopped on this file") in title
        second = (await docs.pages_text(file("good2.pdf"), 0, 0))[0].text
        assert first.split()[-1] != second.split()[-1]  # another process answers


async def test_questions_queue_behind_a_hanging_one_without_losing_their_own_time(
    poisoned: tuple[str, ...], file: Callable[[str], Path]
) -> None:
    async with documents(command=poisoned, time_limit=0.5) as docs:
        hanging = asyncio.ensure_future(refusal(docs.pages_text(file("hang.pdf"), 0, 0)))
        await asyncio.sleep(0.05)
        pages = await docs.pages_text(file("good.pdf"), 0, 1)
        assert [p.index for p in pages] == [0, 1]
        assert "took too long" in await hanging


async def test_cancelling_a_reader_frees_the_worker_at_once(
    poisoned: tuple[str, ...], file: Callable[[str], Path]
) -> None:
    async with documents(command=poisoned, time_limit=30) as docs:
        hanging = asyncio.ensure_future(docs.pages_text(file("hang.pdf"), 0, 0))
        await asyncio.sleep(0.2)
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        started = time.monotonic()
        await docs.pages_text(file("good.pdf"), 0, 0)
        assert time.monotonic() - started < 10


async def test_closing_while_a_file_hangs_does_not_wait_for_it(
    poisoned: tuple[str, ...], file: Callable[[str], Path]
) -> None:
    docs = Documents(poisoned, 30)
    hanging = asyncio.ensure_future(refusal(docs.pages_text(file("hang.pdf"), 0, 0)))
    await asyncio.sleep(0.2)
    started = time.monotonic()
    await docs.close()
    assert time.monotonic() - started < 10
    assert await hanging


async def test_a_worker_that_cannot_be_started_is_an_error(file: Callable[[str], Path]) -> None:
    async with documents(command=("/nowhere/at/all",)) as docs:
        assert "cannot be started" in await refusal(docs.pages_text(file("good.pdf"), 0, 0))


async def test_known_pages_are_not_read_twice_but_a_replaced_file_is(tmp_path: Path) -> None:
    path = tmp_path / "p.pdf"
    path.write_bytes(sample("Hu - 2020.pdf").read_bytes())
    async with documents() as docs:
        first = await docs.pages_text(path, 0, 2)
        assert docs._process is not None
        docs._process.kill()  # nothing answers now but what is remembered
        docs._process.wait()
        assert await docs.pages_text(path, 0, 2) == first
        path.write_bytes(sample("Yoo - 2007.pdf").read_bytes())
        assert [p.label for p in await docs.pages_text(path, 0, 9)] == ["385", "386"]


def test_text_comes_out_clean() -> None:
    raw = "ﬁrst eﬃcient\r\nconsoli\x02\r\ndation \ufffe\ud800 x\x00y\rend"
    assert pdf_worker.clean(raw) == "first efficient\nconsoli-\ndation \ufffd xy\nend"


def test_a_long_document_is_answered_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_worker, "REPLY_LIMIT", 700)
    reader = pdf_worker.Reader()
    request = {"op": "text", "path": str(sample("Hu - 2020.pdf")), "first": 0, "last": 2}
    assert [t[0] for t in reader.answer(request)["texts"]] == [0]
    reader.close()


async def test_pages_of_several_answers_are_joined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "small.py"
    script.write_text(
        "import sys\nfrom bibgenie_desktop.zotero.files import pdf_worker\n"
        "pdf_worker.REPLY_LIMIT = 10\nsys.exit(pdf_worker.main())\n"
    )
    async with documents(command=(sys.executable, str(script))) as docs:
        pages = await docs.pages_text(sample("Hu - 2020.pdf"), 0, 2)
        assert [p.index for p in pages] == [0, 1, 2]
        assert all(isinstance(p, PageText) and p.text for p in pages)
