"""The one style sheet, as a template over colour roles, type sizes and lengths.

Widgets say what they are by dynamic properties (`card`, `tone`, `type`, `kind`, `dense`, `badge`,
`surface`, `rule`); this sheet says how that looks. No widget carries a style sheet of its own.
"""

from string import Template
from typing import Final

SHEET: Final = Template("""
* { outline: none; }
QWidget { color: $text; font-size: ${body}px; }
QToolTip {
    background: $tooltip; color: $on_tooltip; border: none; padding: ${g4}px ${g8}px;
    font-size: ${small}px;
}

QFrame { border: none; }
[surface="canvas"] { background: $canvas; }
[surface="side"] { background: $side; }
[surface="raised"] { background: $raised; }
[card="true"] { background: $raised; border: 1px solid $line; border-radius: ${r_card}px; }
[card="ok"] { background: $ok_soft; border: 1px solid transparent; border-radius: ${r_card}px; }
[card="warn"] { background: $warn_soft; border: 1px solid transparent; border-radius: ${r_card}px; }
[card="bad"] { background: $bad_soft; border: 1px solid transparent; border-radius: ${r_card}px; }
[card="accent"] { background: $accent_soft; border: 1px solid transparent; border-radius: ${r_card}px; }
[card="current"] { background: $selected; border-radius: ${r_control}px; }
[card="hover"] { background: $hover; border-radius: ${r_control}px; }
[surface="nav"] { background: $side; border-top-left-radius: 13px; border-bottom-left-radius: 13px; }
[card="sunken"] { background: $sunken; border: none; border-radius: ${r_control}px; }

QLabel { background: transparent; }
QLabel[tone="2"] { color: $text2; }
QLabel[tone="3"] { color: $text3; }
QLabel[tone="accent"] { color: $accent; }
QLabel[tone="ok"] { color: $ok; }
QLabel[tone="warn"] { color: $warn; }
QLabel[tone="bad"] { color: $bad; }
QLabel[type="caption"] { font-size: ${caption}px; font-weight: 600; }
QLabel[type="fine"] { font-size: ${caption}px; }
QPlainTextEdit[tone="3"] { color: $text3; }
QPlainTextEdit[type="read"] { font-size: ${read}px; }
QLabel[type="small"] { font-size: ${small}px; }
QLabel[type="strong"] { font-weight: 600; }
QLabel[type="title"] { font-size: ${title}px; font-weight: 600; }
QLabel[type="display"] { font-size: ${display}px; font-weight: 600; }
QLabel[badge="true"] {
    background: $sunken; color: $text2; border-radius: ${r_chip}px; padding: 1px ${g6}px;
    font-size: ${caption}px; font-weight: 500;
}
QLabel[badge="accent"] {
    background: $accent_soft; color: $accent; border-radius: ${r_chip}px; padding: 1px ${g6}px;
    font-size: ${caption}px; font-weight: 600;
}
QLabel[badge="ok"] {
    background: $ok_soft; color: $ok; border-radius: ${r_chip}px; padding: 1px ${g6}px;
    font-size: ${caption}px; font-weight: 600;
}
QLabel[badge="warn"] {
    background: $warn_soft; color: $warn; border-radius: ${r_chip}px; padding: 1px ${g6}px;
    font-size: ${caption}px; font-weight: 600;
}
QLabel[badge="bad"] {
    background: $bad_soft; color: $bad; border-radius: ${r_chip}px; padding: 1px ${g6}px;
    font-size: ${caption}px; font-weight: 600;
}
QLabel[kbd="true"] {
    color: $text3; border: 1px solid $line_strong; border-radius: 4px; padding: 0 ${g4}px;
    font-size: ${caption}px;
}

QPushButton {
    background: $raised; border: 1px solid $line_strong; border-radius: ${r_control}px;
    padding: 0 ${g12}px; min-height: ${c28}px; font-weight: 500;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $pressed; }
QPushButton:focus { border: 2px solid $accent; padding: 0 ${g11}px; }
QPushButton:disabled { color: $text3; background: $side; border-color: $line; }
QPushButton[kind="primary"] { background: $accent_fill; border: 1px solid $accent_fill; color: $on_accent; }
QPushButton[kind="primary"]:hover { background: $accent_fill_hover; border-color: $accent_fill_hover; }
QPushButton[kind="primary"]:focus { border: 2px solid $focus_on_fill; }
QPushButton[kind="primary"]:disabled { background: $pressed; border-color: $pressed; color: $text3; }
QPushButton[kind="quiet"] {
    background: transparent; border: 1px solid transparent; color: $text2; padding: 0 ${g8}px;
}
QPushButton[kind="quiet"]:hover { background: $hover; color: $text; }
QPushButton[kind="quiet"]:checked { background: $selected; color: $text; }
QPushButton[kind="quiet"]:focus { border: 2px solid $accent; padding: 0 ${g7}px; }
QPushButton[dropdown="true"] { padding-right: ${c24}px; color: $text; }
QPushButton[kind="fold"] {
    background: transparent; border: none; color: $text2; padding: 0 ${g4}px 0 0; font-weight: 400;
    font-size: ${small}px; min-height: ${c22}px;
}
QPushButton[kind="fold"]:hover { color: $text; }
QPushButton[kind="fold"]:focus { border: 2px solid $accent; }
QPushButton[kind="link"] {
    background: transparent; border: none; color: $accent; padding: 0; min-height: ${c20}px;
}
QPushButton[kind="link"]:hover, QPushButton[kind="link"]:focus { text-decoration: underline; }
QPushButton[kind="quiet"][dense="true"] { font-weight: 400; }
QPushButton[kind="pill"] {
    background: $raised; border: 1px solid $line_strong; border-radius: ${c14}px; min-height: ${c28}px;
    padding: 0 ${g12}px; font-size: ${small}px;
}
QPushButton[kind="pill"]:focus { border: 2px solid $accent; }
QPushButton[nav="true"] { text-align: left; font-weight: 400; color: $text; }
QPushButton[nav="true"]:checked { font-weight: 500; }
QPushButton[dense="true"] { min-height: ${c22}px; font-size: ${small}px; padding: 0 ${g8}px; }
QToolButton {
    background: transparent; border: 1px solid transparent; border-radius: ${r_control}px;
    padding: 0;
}
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $selected; }
QToolButton:focus { border: 2px solid $accent; }
QToolButton::menu-indicator { image: none; }
QToolButton[kind="primary"] { background: $accent_fill; }
QToolButton[kind="primary"]:hover { background: $accent_fill_hover; }
QToolButton[kind="primary"]:disabled { background: $pressed; }

QLineEdit, QComboBox, QSpinBox {
    background: $canvas; border: 1px solid $outline; border-radius: ${r_control}px;
    padding: 0 ${g8}px; min-height: ${c28}px; selection-background-color: $accent_fill;
    selection-color: $on_accent;
}
QLineEdit:focus, QComboBox:focus, QSpinBox:focus { border: 2px solid $accent; padding: 0 ${g7}px; }
QLineEdit[quiet="true"] { background: $hover; border: 1px solid transparent; }
QLineEdit[quiet="true"]:focus { background: $canvas; border: 2px solid $accent; }
QLineEdit[bare="true"] { background: transparent; border: none; padding: 0; font-size: ${title}px; }
QLineEdit[bare="body"] { background: transparent; border: none; padding: 0; }
QComboBox::drop-down { border: none; width: ${c24}px; }
QComboBox::down-arrow { image: none; }
QCheckBox { spacing: ${g8}px; }
QCheckBox::indicator {
    width: ${c14}px; height: ${c14}px; border: 1px solid $outline; border-radius: 4px;
    background: $canvas;
}
QCheckBox::indicator:checked { background: $accent_fill; border-color: $accent_fill; }

QAbstractScrollArea { background: transparent; border: none; }
QTextEdit, QTextBrowser, QPlainTextEdit {
    background: transparent; border: none; selection-background-color: $selection;
    selection-color: $text;
}
QPlainTextEdit[field="true"] {
    background: $canvas; border: 1px solid $outline; border-radius: ${r_control}px;
}
QPlainTextEdit[field="true"]:focus { border: 2px solid $accent; }
QTreeView, QListView { background: transparent; border: none; outline: none; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 2px; }
QScrollBar:horizontal { height: 0; }
QScrollBar::handle:vertical { background: $line_strong; border-radius: 3px; min-height: 32px; }
QScrollBar::handle:vertical:hover { background: $outline; }
QScrollBar::add-line, QScrollBar::sub-line { height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: none; }
QSplitter::handle { background: $line; width: 1px; }
QMenu { background: $raised; border: 1px solid $line_strong; border-radius: ${r_card}px; padding: ${g4}px; }
QMenu::item { padding: ${g4}px ${g12}px; border-radius: ${r_chip}px; min-height: ${c20}px; }
QMenu::item:selected { background: $hover; }
QMenu::item:disabled { color: $text3; }
QMenu::separator { height: 1px; background: $line; margin: ${g4}px ${g8}px; }
QFrame[rule="h"] { background: $line; max-height: 1px; min-height: 1px; border: none; }
QFrame[rule="v"] { background: $line; max-width: 1px; min-width: 1px; border: none; }
QProgressBar {
    background: $line_strong; border: none; border-radius: 2px; max-height: 4px; min-height: 4px;
}
QProgressBar::chunk { background: $accent_fill; border-radius: 2px; }
""")
