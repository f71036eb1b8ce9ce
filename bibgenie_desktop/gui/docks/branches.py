"""The Branches dock: every branch of this conversation as an outline of turns. A click goes there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QListView

from bibgenie_desktop.gui.components import Menu, box, column, label, push
from bibgenie_desktop.gui.components import row as across
from bibgenie_desktop.gui.components.list_rows import scroll_calmly
from bibgenie_desktop.gui.docks.outline import OutlineRow
from bibgenie_desktop.gui.docks.outline_list import ROW, OutlineDelegate, OutlineModel
from bibgenie_desktop.gui.docks.panel import Panel, search_field
from bibgenie_desktop.gui.theme import current
from bibgenie_desktop.gui.tr import plural, tr


class Outline(QListView):
    """↑↓ move, ←→ fold and unfold, Enter goes there, letters search."""

    row_chosen = Signal(str)
    fold_toggled = Signal(str)
    typed = Signal(str)
    menu_requested = Signal(object, QPoint)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Branches"))
        self._outline = OutlineModel()
        self._outline.setParent(self)
        self.setModel(self._outline)
        self.setItemDelegate(OutlineDelegate(self))
        scroll_calmly(self)
        self.setUniformItemSizes(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        current().changed.connect(self._on_theme_changed)

    @property
    def rows(self) -> tuple[OutlineRow, ...]:
        return self._outline.rows

    def show_rows(self, rows: Sequence[OutlineRow], now: int) -> None:
        """Shows other rows; the current one stays if it is still there, else it is where the leaf is."""
        kept = self.row_at(self.currentIndex())
        self._outline.show_rows(rows, now)
        ids = [r.id for r in self._outline.rows]
        active = next((i for i, r in enumerate(self._outline.rows) if r.active), -1)
        at = ids.index(kept.id) if kept is not None and kept.id in ids and self.hasFocus() else active
        self.setCurrentIndex(self._outline.index(at) if at >= 0 else QModelIndex())

    def row_at(self, index: QModelIndex) -> OutlineRow | None:
        row = index.data(ROW) if index.isValid() else None
        return row if isinstance(row, OutlineRow) else None

    def index_of(self, message_id: str) -> QModelIndex:
        """The place of the row that stands for a message."""
        found = (i for i, r in enumerate(self._outline.rows) if message_id in r.members)
        return self._outline.index(next(found, -1))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        row = self.row_at(self.indexAt(event.position().toPoint()))
        if row is not None and event.button() == Qt.MouseButton.LeftButton:
            self._choose(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.row_at(self.currentIndex()), event.key()
        if row is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(row)
        elif row is not None and row.kind == "run" and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            if row.unfolded == (key == Qt.Key.Key_Left):
                self.fold_toggled.emit(row.id)
        elif key == Qt.Key.Key_Left and row is not None and row.depth:
            self._to_branching(row)
        elif event.text().isprintable() and event.text().strip() and not event.modifiers():
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    def _choose(self, row: OutlineRow) -> None:
        if row.kind == "run":
            self.fold_toggled.emit(row.id)
        else:
            self.row_chosen.emit(row.id)

    def _to_branching(self, row: OutlineRow) -> None:
        rows = self._outline.rows
        for at in range(self.currentIndex().row() - 1, -1, -1):
            if rows[at].depth < row.depth:
                self.setCurrentIndex(self._outline.index(at))
                return

    def _on_menu_requested(self, at: QPoint) -> None:
        row = self.row_at(self.indexAt(at))
        if row is not None and row.kind != "run":
            self.menu_requested.emit(row, self.viewport().mapToGlobal(at))

    def _on_theme_changed(self) -> None:
        self.scheduleDelayedItemsLayout()
        self.viewport().update()


class BranchNavigator(Panel):
    go_requested = Signal(str)
    fold_toggled = Signal(str)
    search_changed = Signal(str)
    session_requested = Signal(str)
    """The title of another session that ends at a row."""
    archive_requested = Signal(str)
    """The message where the branch begins."""
    bring_back_requested = Signal(str)
    archived_toggled = Signal()

    def __init__(self) -> None:
        super().__init__(tr("Branches"), "branchNavigator")
        self._field = search_field(tr("Find in branches"))
        self.outline = Outline()
        self._note = label("", "small", "3", wrap=True)
        self._note_box = box(column(self._note, margins=(16, 6, 16, 6)))
        self._refusal: str | None = None
        self.add(box(column(self._field, spacing=6, margins=(10, 0, 10, 6))))
        self.add(self._note_box)
        self.add(self.outline, 1)
        self._archived = push("", "quiet", dense=True, object_name="archivedButton")
        self._archived_box = box(across(self._archived, None, margins=(8, 4, 8, 6)))
        self._archived_box.hide()
        self.add(self._archived_box)
        self._archived.clicked.connect(self.archived_toggled)
        self._field.textChanged.connect(self.search_changed)
        self._field.returnPressed.connect(self.outline.setFocus)
        self.outline.row_chosen.connect(self.go_requested)
        self.outline.fold_toggled.connect(self.fold_toggled)
        self.outline.typed.connect(self._on_typed)
        self.outline.menu_requested.connect(self._on_menu_requested)

    def show_rows(self, rows: Sequence[OutlineRow], now: int, refusal: str | None) -> None:
        """`refusal`: why one cannot go anywhere now."""
        self.outline.show_rows(rows, now)
        self._refusal = refusal
        searching = bool(self._field.text().strip())
        said = refusal or ""
        if not rows:
            said = (
                tr("No turn has these words.")
                if searching
                else tr("Questions and answers appear here, with every branch they take.")
            )
        self._note.setText(said)
        self._note_box.setVisible(bool(said))

    def show_archived(self, count: int, shown: bool) -> None:
        """How many branches are archived, and whether they are in sight."""
        words = plural(count, tr("Show {0} archived branch"), tr("Show {0} archived branches"))
        self._archived.setText(tr("Hide archived branches") if shown else words)
        self._archived_box.setVisible(count > 0)

    def focus_first(self) -> None:
        self.outline.setFocus()

    def _on_typed(self, text: str) -> None:
        self._field.setFocus()
        self._field.setText(self._field.text() + text)

    def _on_menu_requested(self, row: OutlineRow, at: QPoint) -> None:
        menu = Menu(self)
        here = tr("You are here.") if row.active else None
        target = row.id
        menu.entry(
            tr("Go here"),
            lambda: self.go_requested.emit(target),
            icon="branches",
            reason=self._refusal or here,
        )
        for title in row.sessions:
            self._add_session(menu, title)
        begins = row.members[0] if row.members else row.id
        if "archived" in row.badges:
            menu.entry(
                tr("Bring this branch back"), lambda: self.bring_back_requested.emit(begins), icon="eye"
            )
        else:
            on_it = tr("You are on this branch.") if row.on_path else None
            menu.entry(
                tr("Archive from here down"),
                lambda: self.archive_requested.emit(begins),
                icon="folder",
                reason=on_it or self._refusal,
            )
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    def _add_session(self, menu: Menu, title: str) -> None:
        menu.entry(
            tr("Open the session “{0}”").format(title),
            lambda: self.session_requested.emit(title),
            icon="fork",
        )
