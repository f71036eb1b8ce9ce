"""The shape of the window outlives it: size, sidebar, dock."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui.window import MainWindow


def opened(qtbot: QtBot, kept: Path) -> MainWindow:
    window = MainWindow(kept)
    qtbot.addWidget(window, before_close_func=MainWindow.leave)
    window.show()
    return window


def test_the_window_comes_back_as_it_was_left(qtbot: QtBot, tmp_path: Path) -> None:
    first = opened(qtbot, tmp_path / "window.ini")
    first.resize(790, 700)  # within the screen there is without a display
    first.frame.restore(side=True, side_width=300, dock="context", dock_width=380)
    left = first.size(), first.frame.state()
    first.leave()
    again = opened(qtbot, tmp_path / "window.ini")
    assert (again.size(), again.frame.state()) == left


def test_a_damaged_record_of_the_shape_is_no_reason_to_fail(qtbot: QtBot, tmp_path: Path) -> None:
    kept = tmp_path / "window.ini"
    kept.write_bytes(b"[window]\ngeometry=@ByteArray(nonsense)\nside_width=wide\ndock=no such dock\n\xff\xfe")
    assert opened(qtbot, kept).isVisible()
