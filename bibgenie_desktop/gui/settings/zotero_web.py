"""The dialog of the web library: a key, whose it is, and fetching the library.

It holds a typed key only while it is open, and never shows a stored one.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QProgressBar, QWidget

from bibgenie_desktop.gui.components import Flow, Glyph, column, label, push, repolish, row
from bibgenie_desktop.gui.settings.values import KeyView
from bibgenie_desktop.gui.settings.zotero_values import KEY_PAGE, KEY_PAGE_SHOWN, WebView
from bibgenie_desktop.gui.theme import current, px
from bibgenie_desktop.gui.tr import tr

WIDTH = 520
STEPS = 1_000


class WebLibraryDialog(QDialog):
    """`test_requested` and `use_requested` carry what is typed, empty for the key that is kept."""

    test_requested = Signal(str)
    use_requested = Signal(str)
    keep_requested = Signal()
    forget_requested = Signal()
    stop_requested = Signal()
    link_requested = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("webLibraryDialog")
        self.setWindowTitle(tr("Zotero web library"))
        self._busy = False
        lead = label(
            tr("For a library that is not on this computer. It is copied here and only read, never changed."),
            tone="2",
            wrap=True,
        )
        told = label(
            tr(
                "zotero.org is asked when you test, fetch or refresh, and for the file of a document that "
                "is opened. Never otherwise."
            ),
            "small",
            "3",
            wrap=True,
        )
        self._key = QLineEdit()
        self._key.setObjectName("webKey")
        self._key.setAccessibleName(tr("Key for zotero.org"))
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._replace = push(tr("Replace…"), object_name="webReplaceKey")
        self._key_said = label("", "small", "3", wrap=True)
        self._key_said.setObjectName("webKeySaid")
        self._keep = push(tr("Keep for this run"), object_name="webKeepKey")
        self._forget = push(tr("Forget key"), "quiet", object_name="webForgetKey")
        self._page = push(KEY_PAGE_SHOWN, "link", object_name="webKeyPage", tip=KEY_PAGE)
        self._page.setAccessibleName(tr("Open {0} in the browser").format(KEY_PAGE_SHOWN))
        where = label(tr("Make a key that may read your library here:"), "small", "2", wrap=True)
        keys = QWidget()
        keys.setLayout(Flow((self._keep, self._forget)))
        self._keys = keys
        self._glyph = Glyph("clock", "text3", 16)
        self._said = label("", wrap=True)
        self._said.setObjectName("webSaid")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setObjectName("webProgress")
        self._bar.setAccessibleName(tr("Fetching the library"))
        self._test = push(tr("Test key"), object_name="webTest")
        self._use = push(tr("Fetch and use"), "primary", object_name="webUse")
        self._stop = push(tr("Stop"), object_name="webStop")
        self._close = push(tr("Close"), "quiet", object_name="webClose")
        for button in (
            self._replace,
            self._keep,
            self._forget,
            self._page,
            self._test,
            self._use,
            self._stop,
        ):
            button.setAutoDefault(False)
        self._close.setAutoDefault(False)
        self.setLayout(
            column(
                label(tr("Zotero web library"), "title"),
                lead,
                column(where, row(self._page, None), spacing=2),
                row(self._key, self._replace, grow=0),
                self._key_said,
                keys,
                row(column(self._glyph, None), self._said, spacing=6, grow=1),
                self._bar,
                told,
                None,
                row(self._test, None, self._close, self._stop, self._use),
                margins=(20, 16, 20, 16),
                spacing=12,
            )
        )
        self.setFixedWidth(min(px(WIDTH), parent.window().width() - 32))
        self._connect()
        self.show_key(KeyView(""))
        self.show_view(WebView())

    def _connect(self) -> None:
        self._key.textChanged.connect(self._on_typed)
        self._key.returnPressed.connect(self._on_test)
        self._replace.clicked.connect(self._on_replace)
        self._keep.clicked.connect(self.keep_requested)
        self._forget.clicked.connect(self.forget_requested)
        self._page.clicked.connect(self._on_page)
        self._test.clicked.connect(self._on_test)
        self._use.clicked.connect(self._on_use)
        self._stop.clicked.connect(self.stop_requested)
        self._close.clicked.connect(self.reject)
        current().changed.connect(self._refit)

    # -- what is shown

    def show_key(self, view: KeyView) -> None:
        self._key.setReadOnly(view.held)
        self._key.setPlaceholderText("●" * 16 if view.held else tr("Paste the key here"))
        self._replace.setVisible(view.held)
        self._keep.setVisible(view.keepable)
        self._forget.setVisible(view.forgettable)
        self._keys.setVisible(view.keepable or view.forgettable)
        self._key_said.setText(view.text)
        repolish(self._key_said, tone=view.tone)
        self._key_said.setVisible(bool(view.text))
        self._refresh()

    def clear_key(self) -> None:
        """The typed key was handed on and is kept here no longer."""
        self._key.clear()

    def show_view(self, view: WebView) -> None:
        ended = self._busy and not view.busy
        self._busy = bool(view.busy)
        icons = {"ok": ("check", "ok"), "bad": ("warn", "bad"), "warn": ("warn", "warn")}
        self._glyph.show_icon(*icons.get(view.tone, ("clock", "text3")))
        self._glyph.setVisible(bool(view.text))
        self._said.setText(view.text)
        repolish(self._said, tone=view.tone)
        self._said.setVisible(bool(view.text))
        self._bar.setVisible(view.busy == "fetch")
        self._bar.setRange(0, STEPS if view.share is not None else 0)
        if view.share is not None:
            self._bar.setValue(round(view.share * STEPS))
        self._use.setText(tr("Continue fetching") if view.resumes else tr("Fetch and use"))
        self._refresh()
        if ended:
            self.focus_first()

    def focus_first(self) -> None:
        first = self._use if self._key.isReadOnly() or self._key.text() else self._key
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- what is done

    def _refresh(self) -> None:
        has_key = self._key.isReadOnly() or bool(self._key.text().strip())
        self._key.setEnabled(not self._busy)
        for button in (self._test, self._use):
            button.setEnabled(has_key and not self._busy)
            button.setToolTip("" if has_key else tr("Paste a key first."))
        for button in (self._replace, self._keep, self._forget):
            button.setEnabled(not self._busy)
        self._stop.setVisible(self._busy)
        self._use.setVisible(not self._busy)
        self._refit()

    def _refit(self) -> None:
        window = self.parentWidget()
        if window is not None:
            self.setFixedWidth(min(px(WIDTH), window.window().width() - 32))
        layout = self.layout()
        if layout is not None:
            layout.activate()
            height = layout.totalHeightForWidth(self.width())
            self.setFixedHeight(max(height, layout.totalMinimumSize().height()))

    def _typed(self) -> str:
        return self._key.text().strip()

    def _on_typed(self) -> None:
        self._refresh()

    def _on_replace(self) -> None:
        self._key.setReadOnly(False)
        self._key.setPlaceholderText(tr("The new key"))
        self._replace.hide()
        self._key.setFocus(Qt.FocusReason.OtherFocusReason)
        self._refresh()

    def _on_page(self) -> None:
        self.link_requested.emit(KEY_PAGE)

    def _on_test(self) -> None:
        if self._test.isEnabled():
            self.test_requested.emit(self._typed())

    def _on_use(self) -> None:
        self.use_requested.emit(self._typed())

    def reject(self) -> None:
        self.stop_requested.emit()
        super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.stop_requested.emit()
        super().closeEvent(event)
