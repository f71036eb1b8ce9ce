"""One provider to fill in or change: name, kind, address, key, network, the test. It holds a typed key only
until it is handed on."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLayout, QLineEdit, QWidget

from bibgenie_desktop.domain.entries import ProviderKind
from bibgenie_desktop.gui.components import (
    Dropdown,
    Elided,
    Flow,
    Glyph,
    Menu,
    column,
    label,
    push,
    repolish,
    row,
)
from bibgenie_desktop.gui.settings.check import Check
from bibgenie_desktop.gui.settings.values import KeyView, ProviderForm, TestView, Tone, Typed
from bibgenie_desktop.gui.theme import gap, lengths
from bibgenie_desktop.gui.tr import tr

KINDS: Final[tuple[tuple[ProviderKind, str], ...]] = (
    ("openai-chat", "OpenAI-compatible"),
    ("openai-responses", "OpenAI Responses"),
    ("anthropic", "Anthropic"),
    ("gemini", "Google Gemini"),
    ("ollama", "Ollama"),
)
SURE_MS: Final = 5_000
"""How long a second click on Remove removes."""


def _field(name: str, object_name: str, hint: str = "") -> QLineEdit:
    field = QLineEdit()
    field.setAccessibleName(name)
    field.setObjectName(object_name)
    field.setPlaceholderText(hint)
    return field


class ProviderFields(QFrame):
    """`edited` whenever something else is typed or chosen."""

    edited = Signal()
    save_requested = Signal()
    keep_requested = Signal()
    forget_requested = Signal()
    test_requested = Signal()
    test_stopped = Signal()
    remove_requested = Signal()
    key_page_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown: ProviderForm | None = None
        self._kind: ProviderKind = "openai-chat"
        self._held = False
        self._id = _field(tr("Name"), "providerName", tr("A short name, such as lab"))
        self._kinds = Dropdown("", object_name="providerKind")
        self._address = _field(tr("Address"), "providerAddress", "https://…/v1")
        self._final = Elided("", "small", "3", middle=True)
        self._plain = Check(tr("Allow http without encryption"))
        self._plain.setObjectName("providerPlain")
        self._plain.setToolTip(
            tr("For a server in a network you trust: the key and every message are readable.")
        )
        self._key = _field(tr("Key"), "providerKey")
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._replace = push(tr("Replace…"), object_name="replaceKey")
        self._keep = push(tr("Keep for this run"), object_name="keepKey")
        self._forget = push(tr("Forget key"), "quiet", object_name="forgetKey")
        self._key_page = push(tr("Get a key"), "link", object_name="keyPage")
        self._key_said = label("", "small", "3", wrap=True)
        self._key_said.setObjectName("keySaid")
        self._note = label("", "small", "2", wrap=True)
        self._more = push(tr("Proxy and certificates"), "fold", icon="chevron-right", object_name="network")
        self._more.setCheckable(True)
        self._proxy = _field(tr("Proxy"), "providerProxy", tr("Empty: as the system. “direct”: none."))
        self._ca = _field(tr("Certificates"), "providerCa", tr("A file with more to trust (PEM)"))
        self._said = label("", "small", "bad", wrap=True)
        self._said.setObjectName("formSaid")
        self._said.hide()
        self._save = push(tr("Add provider"), object_name="saveProvider")
        self._remove = push(tr("Remove"), "quiet", icon="trash", object_name="removeProvider")
        self._test = push(tr("Test"), object_name="testProvider")
        self._test_glyph = Glyph("check", "ok", 16)
        self._test_said = label("", "small", "2", wrap=True)
        self._test_said.setObjectName("testSaid")
        self._details = column(spacing=1)
        self._sure = QTimer(self)
        self._sure.setSingleShot(True)
        self._sure.setInterval(SURE_MS)
        self._testing = False
        self.setLayout(column(self._note, self._grid(), spacing=10))
        for button in (
            self._replace, self._keep, self._forget, self._key_page, self._more,
            self._save, self._remove, self._test, self._kinds,
        ):  # fmt: skip
            button.setAutoDefault(False)
        self._connect()

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setProperty(lengths.SPACING, [10.0])
        lengths.scale_layout(grid, gap)
        self._proxy_name, self._ca_name = label(tr("Proxy"), tone="2"), label(tr("Certificates"), tone="2")
        actions, self._keys = QWidget(), QWidget()
        actions.setLayout(Flow((self._save, self._test, self._remove)))
        self._keys.setLayout(Flow((self._keep, self._forget, self._key_page)))
        rows: tuple[tuple[QWidget | None, QWidget | QLayout], ...] = (
            (label(tr("Name"), tone="2"), self._id),
            (label(tr("Kind"), tone="2"), row(self._kinds, None)),
            (label(tr("Address"), tone="2"), self._address),
            (None, column(self._final, self._plain, spacing=4)),
            (label(tr("Key"), tone="2"), row(self._key, self._replace, grow=0)),
            (None, self._key_said),
            (None, self._keys),
            (None, row(self._more, None)),
            (self._proxy_name, self._proxy),
            (self._ca_name, self._ca),
            (None, self._said),
            (None, actions),
            (None, row(self._test_glyph, self._test_said, spacing=6, grow=1)),
            (None, self._details),
        )
        for number, (name, entry) in enumerate(rows):
            if name is not None:
                grid.addWidget(name, number, 0)
            if isinstance(entry, QWidget):
                grid.addWidget(entry, number, 1)
            else:
                grid.addLayout(entry, number, 1)
        grid.setColumnStretch(1, 1)
        return grid

    def _connect(self) -> None:
        for field in (self._id, self._address, self._key, self._proxy, self._ca):
            field.textChanged.connect(self._on_edited)
            field.returnPressed.connect(self.save_requested)
        self._plain.toggled.connect(self._on_edited)
        self._kinds.clicked.connect(self._on_kinds)
        self._replace.clicked.connect(self._on_replace)
        self._keep.clicked.connect(self.keep_requested)
        self._forget.clicked.connect(self.forget_requested)
        self._key_page.clicked.connect(self._on_key_page)
        self._more.toggled.connect(self._on_more)
        self._save.clicked.connect(self.save_requested)
        self._remove.clicked.connect(self._on_remove)
        self._test.clicked.connect(self._on_test)
        self._sure.timeout.connect(self._on_not_sure)

    # -- what is shown

    def show_form(self, form: ProviderForm) -> None:
        self._shown = None  # filling the fields is no editing
        self._kind = form.kind
        self._kinds.setText(dict(KINDS)[form.kind])
        self._id.setText(form.id)
        self._id.setReadOnly(not form.new)
        self._id.setToolTip("" if form.new else tr("Sessions know the provider by this name, so it stays."))
        self._address.setText(form.address)
        self._plain.setChecked(form.plain)
        self._proxy.setText(form.proxy)
        self._ca.setText(form.ca_file)
        self._key.clear()
        self._note.setText(form.note)
        self._note.setVisible(bool(form.note))
        self._key_page.setToolTip(form.key_page)
        self._key_page.setVisible(bool(form.key_page))
        self._more.setChecked(bool(form.proxy or form.ca_file))
        self._on_more(self._more.isChecked())
        self._save.setText(tr("Add provider") if form.new else tr("Save changes"))
        self._remove.setText(tr("Discard") if form.new else tr("Remove"))
        self._sure.stop()
        self.say("", "bad")
        self._shown = form
        self._refresh()

    def show_address(self, text: str, tone: Tone, plain: bool) -> None:
        """The address as it is used, or why it cannot be."""
        self._final.setText(text)
        repolish(self._final, tone=tone)
        self._final.setVisible(bool(text))
        self._plain.setVisible(plain)

    def show_key(self, view: KeyView) -> None:
        self._held = view.held
        self._key.setReadOnly(view.held)
        self._key.setPlaceholderText("●" * 16 if view.held else "")
        self._replace.setVisible(view.held)
        self._forget.setVisible(view.forgettable)
        self._keep.setVisible(view.keepable)
        shows_page = self._shown is not None and bool(self._shown.key_page)
        self._keys.setVisible(view.forgettable or view.keepable or shows_page)
        self._key_said.setText(view.text)
        repolish(self._key_said, tone=view.tone)

    def clear_key(self) -> None:
        """The typed key was handed on and is kept here no longer."""
        self._key.clear()

    def show_test(self, view: TestView) -> None:
        self._testing = view.running
        self._test.setText(tr("Stop test") if view.running else tr("Test again") if view.text else tr("Test"))
        self._test_said.setText(view.text)
        repolish(self._test_said, tone=view.tone)
        self._test_glyph.setVisible(bool(view.text))
        self._test_said.setVisible(bool(view.text))
        glyphs = {"ok": ("check", "ok"), "bad": ("warn", "bad"), "warn": ("warn", "warn")}
        self._test_glyph.show_icon(*glyphs.get(view.tone, ("clock", "text3")))
        while (item := self._details.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for line in view.details:
            self._details.addWidget(Elided(line, "small", "3", middle=True))

    def say(self, text: str, tone: Tone) -> None:
        """What came of saving."""
        self._said.setText(text)
        repolish(self._said, tone=tone)
        self._said.setVisible(bool(text))

    def focus_first(self) -> None:
        field = self._id if self._shown is not None and self._shown.new else self._address
        field.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- what is typed

    def typed(self) -> Typed:
        return Typed(
            self._id.text().strip(), self._kind, self._address.text().strip(), self._key.text().strip(),
            self._plain.isChecked(), self._proxy.text().strip(), self._ca.text().strip(),
        )  # fmt: skip

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self._shown is not None and (self._shown.new or self.touched)

    @property
    def touched(self) -> bool:
        """Whether something was typed that is not stored."""
        form, typed = self._shown, self.typed()
        if form is None:
            return False
        stored = (form.id, form.kind, form.address, form.plain, form.proxy, form.ca_file)
        now = (typed.id, typed.kind, typed.address, typed.plain, typed.proxy, typed.ca_file)
        return bool(typed.key) or stored != now

    def _refresh(self) -> None:
        self._save.setEnabled(self.dirty)

    def _on_edited(self) -> None:
        if self._shown is not None:
            self._refresh()
            self.edited.emit()

    def _on_kinds(self) -> None:
        menu = Menu(self)
        for kind, name in KINDS:
            menu.entry(name, object_name=f"kind:{kind}").setData(kind)
        menu.triggered.connect(self._on_kind)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._kinds.mapToGlobal(self._kinds.rect().bottomLeft()))

    def _on_kind(self, action: object) -> None:
        self._kind = action.data()  # type: ignore[attr-defined]
        self._kinds.setText(dict(KINDS)[self._kind])
        self._on_edited()

    def _on_replace(self) -> None:
        self._key.setReadOnly(False)
        self._key.setPlaceholderText(tr("The new key"))
        self._replace.hide()
        self._key.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_key_page(self) -> None:
        if self._shown is not None:
            self.key_page_requested.emit(self._shown.key_page)

    def _on_more(self, shown: bool) -> None:
        for part in (self._proxy_name, self._proxy, self._ca_name, self._ca):
            part.setVisible(shown)

    def _on_test(self) -> None:
        if self._testing:
            self.test_stopped.emit()
        else:
            self.test_requested.emit()

    def _on_remove(self) -> None:
        if self._shown is None or self._shown.new or self._sure.isActive():
            self._sure.stop()
            self.remove_requested.emit()
            return
        self._remove.setText(tr("Click again to remove it and its key"))
        self._sure.start()

    def _on_not_sure(self) -> None:
        self._remove.setText(tr("Remove"))
