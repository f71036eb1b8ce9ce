"""A picture from outside becomes one that every provider takes, or is refused in a sentence."""

from __future__ import annotations

import random
import struct
import zlib

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.components import box, column
from bibgenie_desktop.gui.composer import Composer
from bibgenie_desktop.gui.conversation.rows import AttachmentView
from bibgenie_desktop.gui.pictures.chip import PictureChip
from bibgenie_desktop.gui.pictures.dialog import PictureDialog
from bibgenie_desktop.gui.pictures.frame import PictureFrame
from bibgenie_desktop.gui.pictures.reading import picture_of
from bibgenie_desktop.gui.pictures.thumbnails import MOST_BYTES as MOST_CACHED
from bibgenie_desktop.gui.pictures.thumbnails import Thumbnails, small
from bibgenie_desktop.services.images import LONGEST_EDGE, MOST_BYTES, PictureRefused
from tests.gui.fit import clipped_texts
from tests.harness import Soak


def drawing(width: int = 640, height: int = 480) -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    painter.fillRect(width // 8, height // 8, width // 4, height // 4, QColor("red"))
    painter.drawLine(0, height // 2, width, height // 2)
    painter.end()
    return image


def photo(width: int, height: int) -> QImage:
    noise = QImage(random.Random(1).randbytes(200 * 150 * 4), 200, 150, QImage.Format.Format_RGB32).copy()
    return noise.scaled(width, height, mode=Qt.TransformationMode.SmoothTransformation)


def coded(image: QImage, form: str) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, form)  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def decoded(data: bytes) -> QImage:
    image = QImage()
    assert image.loadFromData(QByteArray(data))
    return image


def refusal(source: bytes | QImage) -> str:
    with pytest.raises(PictureRefused) as caught:
        picture_of(source, "x")
    return caught.value.text


def with_orientation(jpeg: bytes, value: int) -> bytes:
    """With a camera's note of how it was held, and where."""
    tiff = b"MM\x00*\x00\x00\x00\x08\x00\x01" + struct.pack(">HHIHH", 0x0112, 3, 1, value, 0) + b"\0\0\0\0"
    body = b"Exif\0\0" + tiff + b"GPS 52.5 N 13.4 E"
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def gif(colours: list[tuple[int, int, int]]) -> bytes:
    """Frames of one colour each, 16 pixels square."""
    head = b"GIF89a" + struct.pack("<HHBBB", 16, 16, 0xF7, 0, 0)
    table = b"".join(bytes(c) for c in colours) + bytes(3 * (256 - len(colours)))
    frames = b""
    for index in range(len(colours)):
        # One clear code before every pixel keeps all codes at nine bits.
        codes = [c for _ in range(256) for c in (256, index)] + [257]
        bits = sum(code << (9 * at) for at, code in enumerate(codes))
        packed = bits.to_bytes((9 * len(codes) + 7) // 8, "little")
        blocks = b"".join(
            bytes([len(packed[i : i + 255])]) + packed[i : i + 255] for i in range(0, len(packed), 255)
        )
        frames += (
            b"\x21\xf9\x04\x00\x0a\x00\x00\x00"
            + b","
            + struct.pack("<HHHHB", 0, 0, 16, 16, 0)
            + b"\x08"
            + blocks
            + b"\x00"
        )
    return head + table + frames + b";"


def test_drawing_is_kept_as_it_is_and_a_photo_is_made_small() -> None:
    taken = picture_of(coded(drawing(), "PNG"), "plot.png")
    assert (taken.mime, taken.width, taken.height, taken.name) == ("image/png", 640, 480, "plot.png")
    assert decoded(taken.data).pixelColor(100, 80) == QColor("red")
    taken = picture_of(coded(photo(3_000, 2_000), "JPEG"), "photo.jpg")
    assert (taken.mime, taken.width, taken.height) == ("image/jpeg", LONGEST_EDGE, 1_045)
    assert len(taken.data) <= MOST_BYTES


@pytest.mark.parametrize("form", ["PNG", "JPEG", "BMP", "WEBP", "TIFF"])
def test_common_formats_are_taken_alike(form: str) -> None:
    taken = picture_of(coded(drawing(2_000, 500), form), "a")
    assert (taken.width, taken.height) == (LONGEST_EDGE, 392)
    assert decoded(taken.data).size().width() == LONGEST_EDGE
    colour = decoded(taken.data).pixelColor(300, 80)
    assert colour.red() > 200
    assert colour.green() < 80


def test_same_picture_gives_the_same_bytes() -> None:
    data = coded(photo(1_700, 900), "PNG")
    assert picture_of(data, "a").data == picture_of(data, "b").data


def test_photo_stands_as_the_camera_was_held_and_tells_nothing_else() -> None:
    data = with_orientation(coded(drawing(400, 200), "JPEG"), 6)
    assert b"GPS" in data
    taken = picture_of(data, "a")
    assert (taken.width, taken.height) == (200, 400)
    assert decoded(taken.data).pixelColor(145, 100).green() < 80  # the red field, a quarter turn on
    assert b"GPS" not in taken.data
    named = drawing()
    named.setText("Comment", "taken at home")
    taken = picture_of(coded(named, "PNG"), "a")
    assert b"taken at home" not in taken.data
    assert b"tEXt" not in taken.data


def test_moving_picture_is_its_first_frame() -> None:
    taken = picture_of(gif([(255, 0, 0), (0, 255, 0)]), "a.gif")
    assert decoded(taken.data).pixelColor(8, 8) == QColor("red")


def test_what_is_transparent_becomes_white() -> None:
    clear = QImage(64, 64, QImage.Format.Format_ARGB32)
    clear.fill(Qt.GlobalColor.transparent)
    assert decoded(picture_of(clear, "a").data).pixelColor(5, 5) == QColor("white")
    assert decoded(picture_of(coded(clear, "PNG"), "a").data).pixelColor(5, 5) == QColor("white")


def png_of_size(width: int, height: int) -> bytes:
    """A bomb: a few bytes that claim to be a giant picture."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(100_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.no_qt_log
def test_each_picture_that_cannot_be_taken_is_refused_in_its_own_words() -> None:
    told = [
        refusal(png_of_size(60_000, 60_000)),
        refusal(png_of_size(8_000, 5_001)),
        refusal(drawing(4_000, 10)),
        refusal(b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
        refusal(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"),
        refusal(b"%PDF-1.7"),
        refusal(b""),
        refusal(coded(drawing(), "PNG")[:200]),
        refusal(QImage()),
    ]
    assert "60,000 × 60,000 pixels; at most 40 million" in told[0]
    assert "8,000 × 5,001 pixels; at most 40 million" in told[1]
    assert "too narrow" in told[2]
    assert "Save it as PNG" in told[3]
    assert "Save it as JPEG" in told[4]
    assert "PNG, JPEG, GIF, WebP, BMP and TIFF can be" in told[5]
    assert "empty" in told[6]
    assert "damaged" in told[7]
    assert len(set(told)) == len(told)


@pytest.mark.no_qt_log
@pytest.mark.patience(300)
def test_damaged_pictures_are_taken_or_refused_but_never_break_anything(soak: Soak) -> None:
    whole = [coded(drawing(120, 90), f) for f in ("PNG", "JPEG", "BMP", "WEBP", "TIFF")]
    whole += [gif([(255, 0, 0), (0, 0, 255)]), with_orientation(coded(photo(160, 90), "JPEG"), 8)]
    taken = 0
    for seed in soak.seeds(200, 20_000):
        rng = random.Random(seed)
        data = bytearray(rng.choice(whole))
        for _ in range(rng.choice((1, 1, 3, 30))):
            match rng.randrange(4):
                case 0:
                    data[rng.randrange(len(data))] = rng.randrange(256)
                case 1:
                    del data[rng.randrange(len(data)) :]
                case 2:
                    at = rng.randrange(len(data))
                    data[at:at] = rng.randbytes(rng.choice((1, 4, 200)))
                case 3:
                    at = rng.randrange(max(1, len(data) - 4))
                    data[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0"))
            data = data or bytearray(b"x")
        try:
            picture = picture_of(bytes(data), "x")
        except PictureRefused:
            continue
        taken += 1
        assert min(picture.width, picture.height) >= 8, seed
        assert max(picture.width, picture.height) <= LONGEST_EDGE, seed
        assert len(picture.data) <= MOST_BYTES, seed
        assert decoded(picture.data).width() == picture.width, seed
    assert taken > 0


# Widgets


VIEW = AttachmentView("figure with a name that is long.png", "image", "k1", "", 640, 480)


def filled() -> Thumbnails:
    known = Thumbnails()
    known.put("k1", drawing())
    return known


def test_thumbnails_are_asked_for_once_and_kept_within_a_limit() -> None:
    known, wanted, ready = Thumbnails(), [], []
    known.wanted.connect(wanted.append)
    known.ready.connect(ready.append)
    assert known.get("a") is None
    assert known.get("a") is None
    assert wanted == ["a"]
    known.put("a", drawing(300, 200))
    assert ready == ["a"]
    found = known.get("a")
    assert found is not None
    assert found.width() == 300
    for number in range(12):
        known.put(str(number), QImage(2_000, 1_000, QImage.Format.Format_RGB32))
    assert not known.knows("a")
    assert sum(known.knows(str(n)) for n in range(12)) == MOST_CACHED // 8_000_000
    assert small(coded(drawing(2_000, 1_000), "PNG"), 100).width() == 100
    assert small(b"nonsense").isNull()


def test_frame_has_its_shape_before_the_picture_is_there(qtbot: QtBot) -> None:
    known = Thumbnails()
    frame = PictureFrame(VIEW, known)
    qtbot.addWidget(frame)
    frame.show()
    before = frame.size()
    assert before.width() / before.height() == pytest.approx(4 / 3, rel=0.05)
    frame.grab()
    known.put("k1", drawing())
    assert frame.size() == before
    shown = frame.grab().toImage()
    assert any(shown.pixelColor(x, shown.height() // 4) == QColor("red") for x in range(shown.width()))
    opened: list[tuple[str, str]] = []
    frame.opened.connect(lambda key, name: opened.append((key, name)))
    qtbot.mouseClick(frame, Qt.MouseButton.LeftButton)
    qtbot.keyClick(frame, Qt.Key.Key_Space)
    assert opened == [("k1", VIEW.text)] * 2


def test_chip_is_removed_and_opened_by_keyboard(qtbot: QtBot) -> None:
    chip = PictureChip(VIEW, filled())
    qtbot.addWidget(chip)
    chip.show()
    removed, opened = [], []
    chip.removed.connect(removed.append)
    chip.opened.connect(lambda key, name: opened.append(key))
    qtbot.keyClick(chip, Qt.Key.Key_Return)
    qtbot.keyClick(chip, Qt.Key.Key_Delete)
    chip.findChild(QToolButton, "removePicture").click()
    assert (removed, opened) == (["k1", "k1"], ["k1"])
    assert "640 × 480" in chip.accessibleName()


def test_keyboard_goes_on_to_the_next_chip_and_then_to_the_text(qtbot: QtBot) -> None:
    composer = Composer()
    holder = box(column(None, composer))
    qtbot.addWidget(holder)
    composer.set_thumbnails(filled())
    holder.resize(700, 400)
    holder.show()
    views = [AttachmentView(f"{n}.png", "image", f"k{n}", "", 64, 48) for n in range(3)]
    composer.set_attachments(views)
    chips = composer.findChildren(PictureChip)
    chips[1].setFocus()
    composer.set_attachments([views[0], views[2]])
    focus = holder.focusWidget()
    assert isinstance(focus, PictureChip)
    assert focus.key == "k2"
    composer.set_attachments([views[0]])
    focus = holder.focusWidget()
    assert isinstance(focus, PictureChip)
    assert focus.key == "k0"
    composer.set_attachments([])
    assert holder.focusWidget() is composer.edit


def test_picture_opens_large_and_fits_the_window(qtbot: QtBot) -> None:
    window = box(column(None))
    qtbot.addWidget(window)
    window.resize(800, 600)
    window.show()
    dialog = PictureDialog("figure.png", drawing(1_500, 1_200), window)
    dialog.open()
    assert dialog.width() <= 800
    assert dialog.height() <= 600
    canvas = dialog._canvas
    qtbot.waitUntil(lambda: canvas.width() > 100)
    fitted = canvas.width()
    assert fitted < 800
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton)
    assert canvas.width() == round(1_500 / dialog.devicePixelRatioF())
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton)
    assert canvas.width() == fitted
    dialog.reject()


@pytest.mark.parametrize("scale", [0.8, 1.0, 2.0])
def test_no_word_of_a_chip_is_cut(qtbot: QtBot, light_theme: theme.Theme, scale: float) -> None:
    light_theme.set_scale(scale)
    composer = Composer()
    holder = box(column(None, composer))
    qtbot.addWidget(holder)
    composer.set_thumbnails(filled())
    composer.set_attachments([VIEW, AttachmentView("Hu et al. 2020", key="u-HUTM2020")])
    composer.set_note("Built-in assistant does not see pictures: it is told their names and sizes.")
    holder.resize(700, 600)
    holder.show()
    qtbot.wait(10)
    assert clipped_texts(holder) == []
