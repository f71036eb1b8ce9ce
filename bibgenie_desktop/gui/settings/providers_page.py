"""The page of providers: the list, the one in the form with its models, and the model new sessions start
with."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import Dropdown, Menu, box, column, label, push, row, rule
from bibgenie_desktop.gui.settings.model_table import ModelTable
from bibgenie_desktop.gui.settings.provider_form import ProviderFields
from bibgenie_desktop.gui.settings.provider_list import ProviderList
from bibgenie_desktop.gui.settings.values import ModelChoice, ProviderForm
from bibgenie_desktop.gui.tr import tr


class ProvidersPage(QFrame):
    add_requested = Signal(str)
    default_chosen = Signal(str)

    def __init__(self, presets: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._presets = tuple(presets)
        self._choices: tuple[ModelChoice, ...] = ()
        self.list, self.fields, self.models = ProviderList(), ProviderFields(), ModelTable()
        self._add = push(tr("Add provider"), icon="plus", dense=True, object_name="addProvider")
        self._add.setAutoDefault(False)
        self._default = Dropdown("", "spark", object_name="defaultModel")
        self._default.setAutoDefault(False)
        said = tr("Add a service with your own key, or a server on this computer, so that a model answers.")
        more = tr("Without one the built-in assistant finds and quotes passages.")
        self._empty = label(f"{said} {more}", tone="2", wrap=True)
        self._form = box(
            column(self.fields, rule(), self.models, spacing=14, margins=(16, 16, 16, 16)), card="true"
        )
        self._form.hide()
        self.setLayout(
            column(
                row(label(tr("Providers"), "title"), None, self._add),
                self._empty,
                self.list,
                self._form,
                row(label(tr("New sessions start with"), tone="2"), None, self._default),
                None,
                spacing=14,
            )
        )
        self._add.clicked.connect(self._on_add)
        self._default.clicked.connect(self._on_default)

    def set_narrow(self, narrow: bool) -> None:
        self.models.set_narrow(narrow)

    def show_form(self, form: ProviderForm | None) -> None:
        self._form.setVisible(form is not None)
        self._empty.setVisible(form is None)
        if form is not None:
            self.fields.show_form(form)
            if form.new:
                self.fields.focus_first()

    def show_default(self, choices: Sequence[ModelChoice]) -> None:
        self._choices = tuple(choices)
        name = next((c.name for c in self._choices if c.current), tr("Choose…"))
        self._default.setText(name if len(name) <= 40 else f"{name[:39]}…")

    def focus_first(self) -> None:
        self._add.setFocus()

    def _on_add(self) -> None:
        menu = Menu(self)
        for id, name in self._presets:
            menu.entry(name, object_name=f"preset:{id}").setData(id)
        menu.triggered.connect(self._on_preset)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._add.mapToGlobal(self._add.rect().bottomLeft()))

    def _on_preset(self, action: QAction) -> None:
        self.add_requested.emit(str(action.data()))

    def _on_default(self) -> None:
        menu = Menu(self)
        for choice in self._choices:
            icon = "check" if choice.current else ""
            menu.entry(choice.name, icon=icon, object_name=f"default:{choice.ref}").setData(choice.ref)
        menu.triggered.connect(self._on_default_chosen)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._default.mapToGlobal(self._default.rect().bottomLeft()))

    def _on_default_chosen(self, action: QAction) -> None:
        self.default_chosen.emit(str(action.data()))
