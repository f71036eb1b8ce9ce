"""Pictures in the window: pasted, dropped, chosen, removed, kept over a restart, sent, shown, opened."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QWidget

from bibgenie_desktop.domain.estimate import PER_IMAGE
from bibgenie_desktop.domain.parts import Draft, ImagePart
from bibgenie_desktop.gui.conversation.tool_line import ToolLine
from bibgenie_desktop.gui.docks.context.request import RequestDialog
from bibgenie_desktop.gui.pictures.chip import PictureChip
from bibgenie_desktop.gui.pictures.dialog import PictureDialog
from bibgenie_desktop.gui.pictures.frame import PictureFrame
from bibgenie_desktop.gui.presenters import pictures
from bibgenie_desktop.services.export import gather, write
from bibgenie_desktop.services.images import MOST_ATTACHED
from bibgenie_desktop.services.tools.view_page import ViewPage
from bibgenie_desktop.storage.store import open_reader
from tests.gui.bench import Bench, bench
from tests.gui.test_pictures import coded, drawing, photo
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import SMALL
from tests.zotero.helpers import SAMPLE, opened_library, sample_copy

PNG = coded(drawing(), "PNG")


def png(colour: str) -> bytes:
    image = QImage(40, 30, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    return coded(image, "PNG")


def paste(on: Bench, data: bytes = PNG) -> None:
    source = QMimeData()
    source.setData("image/png", data)
    on.window.composer.edit.insertFromMimeData(source)


def drop(on: Bench, *paths: Path) -> None:
    source = QMimeData()
    source.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    on.window.composer.edit.take_dropped(source)


def chips(on: Bench) -> list[PictureChip]:
    return [c for c in on.window.composer.findChildren(PictureChip) if c.isVisible()]


def frames(on: Bench) -> list[PictureFrame]:
    found = on.window.conversation.findChildren(PictureFrame)
    return [f for f in found if f.isVisible()]


def attached(on: Bench) -> list[str]:
    return [view.text for view in on.window.composer.attachments]


def pictures_sent(server: ScriptedServer, index: int = -1) -> list[bytes]:
    content = server.bodies[index]["messages"][-1]["content"]
    urls = [p["image_url"]["url"] for p in content if isinstance(p, dict) and p["type"] == "image_url"]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


def red(data: bytes) -> bool:
    image = QImage()
    image.loadFromData(data)
    return image.pixelColor(100, 80) == QColor("red")


async def occupancy(on: Bench) -> int:
    chat = on.desk.chats.chat
    assert chat is not None
    return (await chat.plan(on.desk.chats.drafts.now)).occupancy.tokens


async def test_pasted_picture_is_counted_kept_over_a_restart_sent_and_shown(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, vision=True) as on:
            before = await occupancy(on)
            paste(on)
            await on.until(lambda: chips(on))
            assert attached(on) == ["Pasted picture 1"]
            assert "640 × 480" in chips(on)[0].accessibleName()
            assert await occupancy(on) - before >= PER_IMAGE
            on.write("What is it?")
        server.script(text("A plot."))
        async with bench(tmp_path, server, vision=True) as on:
            await on.until(lambda: chips(on))
            assert on.text == "What is it?"
            on.enter()
            await on.until(lambda: on.answers and on.answers[-1].text == "A plot.")
            await on.until_idle()
            assert attached(on) == []
            assert [red(data) for data in pictures_sent(server)] == [True]
            (view,) = on.asked[-1].attachments
            assert (view.text, view.width, view.height) == ("Pasted picture 1", 640, 480)
            await on.until(lambda: frames(on))
            shown = frames(on)[0]
            thumbnails = on.desk.chats.pictures.thumbnails
            await on.until(lambda: thumbnails.knows(shown.key))
            grabbed = shown.grab().toImage()
            assert grabbed.pixelColor(grabbed.width() // 4, grabbed.height() // 4) == QColor("red")
            assert await on.clipped() == []
            shown.opened.emit(shown.key, "Pasted picture 1")
            await on.until(lambda: on.window.findChildren(PictureDialog))
            dialog = on.window.findChild(PictureDialog)
            assert "640 × 480 pixels" in " ".join(label.text() for label in dialog.findChildren(QLabel))
            dialog.reject()


async def test_removed_picture_is_neither_sent_nor_kept(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("Which one?"))
        async with bench(tmp_path, server, vision=True) as on:
            paste(on)
            await on.until(lambda: len(chips(on)) == 1)
            paste(on, png("blue"))
            await on.until(lambda: len(chips(on)) == 2)
            assert attached(on) == ["Pasted picture 1", "Pasted picture 2"]
            chips(on)[0].removed.emit(chips(on)[0].key)
            await on.until(lambda: len(chips(on)) == 1)
            await on.ask_and_wait("What is it?")
            (sent,) = pictures_sent(server)
            image = QImage()
            image.loadFromData(sent)
            assert image.pixelColor(3, 3) == QColor("blue")


async def test_same_picture_is_attached_once(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, vision=True) as on:
            paste(on)
            await on.until(lambda: chips(on))
            paste(on)
            await asyncio.sleep(0.3)
            assert len(chips(on)) == 1


async def test_dropped_files_are_taken_or_told_what_to_do(qapp: QApplication, tmp_path: Path) -> None:
    files = {
        "plot.png": PNG,
        "photo.jpg": coded(photo(2_000, 1_000), "JPEG"),
        "paper.pdf": b"%PDF-1.7",
        "sketch.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        "broken.png": PNG[:100],
    }
    folder = tmp_path / "files"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with ScriptedServer() as server:
        async with bench(tmp_path, server, vision=True) as on:
            drop(on, *(folder / name for name in ("plot.png", "photo.jpg", "paper.pdf")))
            await on.until(lambda: len(chips(on)) == 2)
            assert attached(on) == ["plot.png", "photo.jpg"]
            await on.until(lambda: on.toast)
            assert "“paper.pdf”" in on.toast
            assert "Add it to Zotero" in on.toast
            for name, words in (
                ("sketch.svg", "Save it as PNG"),
                ("broken.png", "damaged"),
                ("none.png", "no longer there"),
            ):
                drop(on, folder / name)
                await on.until(lambda words=words: words in on.toast)
            assert attached(on) == ["plot.png", "photo.jpg"]


async def test_clip_opens_a_dialog_whose_files_are_attached(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    path.write_bytes(PNG)
    with ScriptedServer() as server:
        async with bench(tmp_path, server, vision=True) as on:
            button = on.button("attachButton")
            button.click()
            await on.until(lambda: on.window.findChildren(QFileDialog))
            dialog = on.window.findChildren(QFileDialog)[0]
            assert any("*.png" in name for name in dialog.nameFilters())
            dialog.filesSelected.emit([str(path)])
            dialog.reject()
            await on.until(lambda: chips(on))
            assert attached(on) == ["plot.png"]


async def test_nothing_is_sent_while_a_picture_is_still_being_read(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, read = threading.Event(), pictures._read

    def slow(offered: pictures.Offered) -> object:
        go_on.wait(10)
        return read(offered)

    monkeypatch.setattr(pictures, "_read", slow)
    with ScriptedServer() as server:
        server.script(text("Hello."), text("A plot."))
        async with bench(tmp_path, server, vision=True) as on:
            await on.ask_and_wait("Hi")
            on.write("What is it?")
            paste(on)
            await on.until(lambda: on.window.composer.reason_against_sending())
            on.enter()
            assert "still being read" in on.toast
            assert len(server.requests) == 1
            first = on.desk.chats.front
            on.hands.click(on.button("newSession"))
            await on.until(lambda: on.desk.chats.front is not first)
            assert on.window.composer.reason_against_sending() == "Nothing to send yet"
            go_on.set()
            await on.until(lambda: not on.desk.chats.pictures._reading)
            assert attached(on) == []
            assert first is not None
            await asyncio.sleep(0.05)
            on.window.sidebar.list.session_chosen.emit(first.id)
            await on.until(lambda: on.desk.chats.front is first and chips(on))
            assert on.text == "What is it?"
            on.enter()
            await on.until(lambda: on.answers and on.answers[-1].text == "A plot.")
            assert len(pictures_sent(server)) == 1


async def test_model_that_does_not_see_is_named_and_gets_a_note(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("I cannot see."), text("A plot."))
        async with bench(tmp_path, server, small=100_000, vision=True) as on:
            chat = on.desk.chats.chat
            assert chat is not None
            note = on.window.composer.findChild(QWidget, "attachedNote")
            paste(on)
            await on.until(lambda: chips(on))
            assert not note.isVisible()
            await chat.choose_model(f"test/{SMALL}")
            await on.until(note.isVisible)
            assert note.text().startswith("small is not known to see pictures")  # type: ignore[attr-defined]
            await on.ask_and_wait("What is it?")
            content = server.bodies[0]["messages"][-1]["content"]
            assert content == (
                "[image: Pasted picture 1, 640 × 480 pixels, not shown to this model]\n\nWhat is it?"
            )
            assert not note.isVisible()
            assert on.asked[-1].attachments[0].width == 640
            await chat.choose_model("test/scripted")
            await on.ask_and_wait("And now?")
            assert [m["role"] for m in server.bodies[1]["messages"]][1] == "user"
            assert server.bodies[1]["messages"][1]["content"][0]["type"] == "image_url"


async def test_edit_brings_the_pictures_back(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("A plot."), text("Red."))
        async with bench(tmp_path, server, vision=True) as on:
            paste(on)
            await on.until(lambda: chips(on))
            await on.ask_and_wait("What is it?")
            await on.menu(on.asked[-1].id, "editAction")
            await on.until(lambda: on.window.composer.is_editing)
            assert attached(on) == ["Pasted picture 1"]
            on.write(" Its colour?")
            on.enter()
            await on.until(lambda: on.answers and on.answers[-1].text == "Red.")
            assert len(pictures_sent(server)) == 1


async def test_message_takes_a_limited_number_of_pictures(qapp: QApplication, tmp_path: Path) -> None:
    many = [ImagePart(f"{n:064}", f"{n}.png", "image/png", 20, 20) for n in range(MOST_ATTACHED + 2)]
    with ScriptedServer() as server:
        async with bench(tmp_path, server, vision=True) as on:
            on.desk.front.writing.attach(many)
            assert len(attached(on)) == MOST_ATTACHED
            assert f"at most {MOST_ATTACHED} pictures" in on.toast


async def test_attached_annotation_that_marks_a_picture_brings_it(qapp: QApplication, tmp_path: Path) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        db.execute(
            "UPDATE itemAnnotations SET type = 3, position = ? WHERE itemID = "
            "(SELECT MIN(itemID) FROM itemAnnotations WHERE type = 1)",
            ('{"pageIndex":0,"rects":[[72,300,272,400]]}',),
        )
    library = opened_library(data_dir, tmp_path / "private")
    await library.ensure_loaded()
    try:
        with ScriptedServer() as server:
            async with bench(tmp_path / "data", server, vision=True) as on:
                on.desk.workspace.use_library(library)
                room = on.desk.workspace.room
                assert room is not None
                marks = library.contents.annotations.values()
                figure = next(m for m in marks if m.type == "image")
                passage = next(m for m in marks if m.type == "highlight")
                found = await room.attaching.by_ids([figure.id, passage.id])
                on.desk.front.writing.attach(found.parts)
                await on.until(lambda: chips(on))
                assert len(on.window.composer.attachments) == 3
                part = on.desk.chats.drafts.now.attached[-1]
                assert isinstance(part, ImagePart)
                assert part.width / part.height == pytest.approx(212 / 112, rel=0.02)
    finally:
        await library.close()


async def test_picture_that_is_gone_is_shown_as_missing_and_the_window_lives(
    qapp: QApplication, tmp_path: Path
) -> None:
    lost = ImagePart("ab" * 32, "lost.png", "image/png", 640, 480)
    with ScriptedServer() as server:
        server.script(text("None."))
        async with bench(tmp_path, server, vision=True) as on:
            on.desk.front.writing.attach([lost])
            assert on.desk.chats.drafts.now == Draft("", (lost,))
            await on.ask_and_wait("What is it?")
            await on.until(lambda: frames(on))
            frames(on)[0].grab()
            await on.until(lambda: on.desk.chats.pictures.thumbnails.knows(lost.blob))
            frames(on)[0].opened.emit(lost.blob, "lost.png")
            await on.until(lambda: "no longer there" in on.toast)


async def test_page_that_a_model_looked_at_is_shown_with_its_step(qapp: QApplication, tmp_path: Path) -> None:
    library = opened_library(SAMPLE, tmp_path / "private")
    await library.ensure_loaded()
    files = library.contents.attachments.values()
    asked = {"attachment_id": next(a.id for a in files if a.stored.endswith("Hu - 2020.pdf")), "page": "219"}
    try:
        with ScriptedServer() as server:
            server.script(tool_calls(("view_page", asked)), text("It shows effects."))
            async with bench(tmp_path / "data", server, vision=True, tools=(ViewPage(library),)) as on:
                answer = await on.ask_and_wait("What is on page 219?")
                (step,) = answer.steps
                assert (step.text, step.result) == ("Looked at Hu et al. 2020, p. 219", "")
                assert answer.tool_summary.startswith("Looked at 1 page")
                line = on.window.conversation.findChild(ToolLine)
                if not line.is_open:
                    line.toggle()
                await on.until(lambda: frames(on))
                shown = frames(on)[0]
                shown.grab()
                await on.until(lambda: on.desk.chats.pictures.thumbnails.knows(shown.key))
                on.hands.click(shown)
                await on.until(lambda: on.window.findChildren(PictureDialog))
                on.window.findChild(PictureDialog).reject()
    finally:
        await library.close()


async def test_next_request_is_readable_beside_its_pictures(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, vision=True) as on:
            chat = on.desk.chats.chat
            assert chat is not None
            paste(on, coded(photo(1_500, 1_000), "PNG"))
            await on.until(lambda: chips(on))
            body = await on.desk.workspace.body(chat, on.desk.chats.drafts.now)
            assert len(str(body)) > 300_000
            for shown, said in ((body, True), (await on.desk.workspace.body(chat, Draft("x")), False)):
                dialog = RequestDialog(shown, on.window)
                words = " ".join(label.text() for label in dialog.findChildren(QLabel))
                assert ("beginning of its code" in words) is said
                assert len(dialog.text.toPlainText()) < 60_000
                assert ("kB of picture]" in dialog.text.toPlainText()) is said
                dialog.deleteLater()


async def test_dropped_export_comes_back_as_a_session_of_its_own(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("A plot."))
        async with bench(tmp_path, server, vision=True) as on:
            paste(on)
            await on.until(lambda: chips(on))
            await on.ask_and_wait("What is it?")
            first = on.desk.chats.front
            assert first is not None
            reader = open_reader(tmp_path / "bibgenie.sqlite")
            file = tmp_path / "talk.json"
            file.write_text(write(gather(reader, first.chat.session_id), "json"), encoding="utf-8")
            reader.close()
            drop(on, file)
            await on.until(lambda: on.desk.chats.front is not first)
            assert "was imported" in on.toast
            assert [r.text for r in on.asked] == ["What is it?"]
            assert on.asked[0].attachments == first.rows()[0].attachments  # type: ignore[union-attr]
            assert attached(on) == []
            file.write_text("{}", encoding="utf-8")
            drop(on, file)
            await on.until(lambda: "no exported conversation" in on.toast)


async def test_keys_and_real_drops_lead_to_the_same(qapp: QApplication, tmp_path: Path) -> None:
    """Ctrl+V with a picture in the clipboard; a file dropped on the text, and one on the frame around it."""
    paths = [tmp_path / f"{name}.png" for name in ("text", "frame")]
    for path, colour in zip(paths, ("blue", "green"), strict=True):
        path.write_bytes(png(colour))
    with ScriptedServer() as server:
        async with bench(tmp_path, server, vision=True) as on:
            composer = on.window.composer
            qapp.clipboard().setImage(drawing())
            QTest.keyClick(composer.edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
            await on.until(lambda: len(chips(on)) == 1)
            qapp.clipboard().clear()
            for count, (target, path) in enumerate(
                zip((composer.edit.viewport(), composer), paths, strict=True), 2
            ):
                source = QMimeData()
                source.setUrls([QUrl.fromLocalFile(str(path))])
                copy, left, none = (
                    Qt.DropAction.CopyAction,
                    Qt.MouseButton.LeftButton,
                    Qt.KeyboardModifier.NoModifier,
                )
                enter = QDragEnterEvent(QPoint(9, 9), copy, source, left, none)
                QApplication.sendEvent(target, enter)
                assert enter.isAccepted()
                QApplication.sendEvent(target, QDropEvent(QPointF(9, 9), copy, source, left, none))
                await on.until(lambda count=count: len(chips(on)) == count)
            assert attached(on) == ["Pasted picture 1", "text.png", "frame.png"]
            assert on.text == ""
