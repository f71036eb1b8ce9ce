"""Every test of the interface has the light theme at 100 %; a test that changes it gets it back
afterwards.
"""

import gc
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from bibgenie_desktop.gui import theme


@pytest.fixture(autouse=True)
def light_theme(qapp: QApplication) -> Iterator[theme.Theme]:
    """The theme in use, as every window of a test finds it."""
    plain = theme.Appearance(mode="light", reduced_motion=True)
    try:
        result = theme.current()
    except RuntimeError:
        result = theme.install(qapp, plain)
    result.set_appearance(plain)
    yield result
    result.set_appearance(plain)


@pytest.fixture(autouse=True, scope="module")
def _garbage_dies_in_the_main_thread() -> Iterator[None]:
    """As in the application: no other thread may destroy a widget of an earlier test."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()
