"""The small parts show all of their words at every text size, and do what they say."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFocusEvent
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.components import (
    Banner,
    Chip,
    Dropdown,
    Elided,
    Flow,
    Menu,
    Meter,
    Popover,
    Ring,
    StackMeter,
    Tabs,
    ToastArea,
    box,
    column,
    fixed,
    gate,
    icon_button,
    key_cap,
    label,
    push,
    row,
)
from tests.gui.fit import LongTranslator, clipped_texts


def everything(width: int) -> QFrame:
    """One of each, in a frame of that width."""
    banner = Banner(
        "bad",
        "Draft too large by 12,400 tokens",
        "Compacting would free 9,800. Remove an attachment, shorten the text, or choose a larger model.",
        [push("Choose model…", dense=True), push("Show context", "quiet", dense=True)],
    )
    frame = box(
        column(
            banner,
            Flow(
                [Chip("Hu et al. 2020"), Chip("A very long title of a paper about sleep and memory", "book")]
            ),
            Flow([push("Save note", "primary"), push("Edit first…"), push("Decline", "quiet")]),
            row(
                Dropdown("Claude Sonnet 4.5", "spark"),
                None,
                Meter(0.4),
                Ring(0.4),
                label("36 %", "small", "2"),
            ),
            Tabs([("branches", "All"), ("fork", "Forks"), ("bookmark", "Marked")]),
            row(Elided("a line that is longer than what it gets " * 4), key_cap("Ctrl+N")),
            label("A text that wraps because it may be long, as texts of people are.", wrap=True),
            label("Waiting for you", badge="accent"),
            margins=(16, 16, 16, 16),
        ),
        surface="canvas",
    )
    frame.resize(width, 1200)
    return frame


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("width", [560, 900])
def test_nothing_is_clipped(qtbot: QtBot, light_theme: theme.Theme, scale: float, width: int) -> None:
    light_theme.set_scale(scale)
    frame = everything(width)
    qtbot.addWidget(frame)
    frame.show()
    assert clipped_texts(frame) == []


def test_nothing_is_clipped_in_a_longer_language(qtbot: QtBot, qapp: QApplication) -> None:
    translator = LongTranslator()
    QCoreApplication.installTranslator(translator)
    try:
        area = ToastArea()
        frame = box(column(area, None))
        frame.resize(520, 300)
        qtbot.addWidget(frame)
        frame.show()
        area.show_toast("Forked. You are in the new session.", action="Undo", on_action=area.clear)
        assert clipped_texts(frame) == []
    finally:
        QCoreApplication.removeTranslator(translator)


def test_flow_breaks_into_lines_when_the_room_is_short(qtbot: QtBot) -> None:
    flow = Flow([fixed(QWidget(), 100, 20) for _ in range(4)], 0)
    frame = box(flow)
    qtbot.addWidget(frame)
    unit = theme.px(100)
    assert flow.heightForWidth(unit * 4) == theme.px(20)
    assert flow.heightForWidth(unit * 2) == 2 * theme.px(20)


def test_elided_label_offers_the_whole_text(qtbot: QtBot) -> None:
    text = Elided("A title that will not fit into a label as narrow as this one")
    qtbot.addWidget(text)
    text.resize(80, 20)
    text.grab()
    assert text.toolTip() == text.text()
    text.resize(900, 20)
    text.grab()
    assert text.toolTip() == ""


def test_gated_button_says_why_and_gets_its_own_tip_back(qtbot: QtBot) -> None:
    button = icon_button("compact", "Compact")
    qtbot.addWidget(button)
    gate(button, "An answer is being written")
    assert not button.isEnabled()
    assert button.toolTip() == "An answer is being written"
    assert button.accessibleDescription() == "An answer is being written"
    gate(button, None)
    assert button.isEnabled()
    assert button.toolTip() == "Compact"


def test_disabled_menu_entry_says_why(qtbot: QtBot) -> None:
    menu = Menu()
    qtbot.addWidget(menu)
    action = menu.entry("Fork from here", reason="A checkpoint cannot be forked")
    assert not action.isEnabled()
    assert action.toolTip() == "A checkpoint cannot be forked"
    assert menu.toolTipsVisible()


def test_chip_reports_its_key_when_removed(qtbot: QtBot) -> None:
    chip = Chip("Hu et al. 2020", key="u-ABCD2345")
    qtbot.addWidget(chip)
    button = chip.findChild(type(icon_button("close", "x")))
    with qtbot.waitSignal(chip.removed) as caught:
        button.click()
    assert caught.args == ["u-ABCD2345"]


def test_meters_say_their_numbers(qtbot: QtBot) -> None:
    ring, stack = Ring(0.365), StackMeter()
    qtbot.addWidget(ring)
    qtbot.addWidget(stack)
    stack.set_values([1800, 3400, 6000, 145_600, 1100], reserve=32_000, trigger=151_000, window=200_000)
    assert "36" in ring.accessibleName()
    assert "158" in stack.accessibleName()
    assert "168" in stack.accessibleName()


@pytest.mark.parametrize(("share", "role"), [(0.5, "accent"), (0.92, "warn"), (1.07, "bad")])
def test_ring_takes_the_colour_of_its_state(qtbot: QtBot, share: float, role: str) -> None:
    ring = Ring(share, 40)
    qtbot.addWidget(ring)
    image = ring.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert QColor(getattr(theme.current().colors, role)).name() in seen


def test_popover_is_a_window_that_esc_closes(qtbot: QtBot) -> None:
    window = QWidget()
    window.resize(800, 600)
    qtbot.addWidget(window)
    window.show()
    sheet = Popover(column(label("words"), margins=(16, 16, 16, 16)), 300, window)
    sheet.open_at(QRect(window.mapToGlobal(QPoint(40, 40)), window.size() / 20))
    assert sheet.isWindow()
    assert sheet.windowFlags() & Qt.WindowType.Popup
    assert sheet.width() == theme.px(300) + 2 * Popover.MARGIN
    with qtbot.waitSignal(sheet.closed):
        qtbot.keyClick(sheet, Qt.Key.Key_Escape)


def test_popover_stays_on_its_screen(qtbot: QtBot) -> None:
    window = QWidget()
    window.resize(400, 300)
    qtbot.addWidget(window)
    window.show()
    screen = window.screen().availableGeometry()
    sheet = Popover(column(label("words"), margins=(16, 16, 16, 16)), 300, window)
    sheet.open_at(QRect(screen.bottomRight() - QPoint(10, 10), window.size() / 40))
    inner = sheet.geometry().adjusted(*(Popover.MARGIN,) * 2, *(-Popover.MARGIN,) * 2)
    assert screen.contains(inner)
    sheet.close()


def test_banner_puts_its_actions_below_when_the_room_is_short(qtbot: QtBot) -> None:
    button = push("Choose another model…", dense=True)
    banner = Banner("warn", "Too many requests", "OpenAI asked to wait.", [button])
    holder = box(column(banner, None))
    qtbot.addWidget(holder)
    holder.resize(900, 300)
    holder.show()
    assert button.mapTo(banner, QPoint()).y() < banner.height() / 2
    holder.resize(260, 300)
    QApplication.processEvents()
    assert button.mapTo(banner, QPoint()).y() > banner.height() / 2


def test_banner_changes_its_words(qtbot: QtBot) -> None:
    banner = Banner("accent", "Compacting earlier context…")
    qtbot.addWidget(banner)
    banner.show()
    banner.say("Compaction failed", "Nothing was changed.", tone="bad")
    assert banner.accessibleName() == "Compaction failed. Nothing was changed."
    assert banner.property("card") == "bad"
    assert [w.text() for w in banner.findChildren(QLabel) if w.isVisible()][-1] == "Nothing was changed."


def test_toast_undoes_and_goes_away(qtbot: QtBot) -> None:
    area, undone = ToastArea(), []
    qtbot.addWidget(area)
    toast = area.show_toast("Forked.", action="Undo", on_action=lambda: undone.append(True))
    button = next(b for b in toast.findChildren(type(push("x"))) if b.text() == "Undo")
    button.click()
    assert undone == [True]
    assert area.toast is None
    assert area.isHidden()


def test_toast_goes_away_by_itself_but_not_under_the_focus(qtbot: QtBot) -> None:
    area, field = ToastArea(), QLineEdit()
    window = box(column(field, area))
    qtbot.addWidget(window)
    window.move(500, 500)  # away from the pointer, which stops the clock
    window.show()
    field.setFocus()
    area.show_toast("Archived.", shown_ms=20)
    qtbot.waitUntil(lambda: area.toast is None, timeout=2000)
    toast = area.show_toast("Archived.", action="Undo", on_action=area.clear)
    assert toast.is_counting
    button = next(b for b in toast.findChildren(type(push("x"))) if b.text() == "Undo")
    QApplication.sendEvent(button, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    assert not toast.is_counting
    QApplication.sendEvent(button, QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.TabFocusReason))
    assert toast.is_counting
    area.clear()


def test_tabs_announce_only_what_the_person_chose(qtbot: QtBot) -> None:
    tabs = Tabs([("branches", "All"), ("fork", "Forks")])
    qtbot.addWidget(tabs)
    with qtbot.assertNotEmitted(tabs.chosen):
        tabs.choose(1)
    assert tabs.current == 1
    with qtbot.waitSignal(tabs.chosen) as caught:
        tabs.findChildren(type(push("x")))[0].click()
    assert caught.args == [0]
