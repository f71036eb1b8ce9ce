"""Whether windows can be see-through here: without a compositor, X11 paints the rest of them black."""

import ctypes
import ctypes.util

from PySide6.QtGui import QGuiApplication


def windows_blend() -> bool:
    """True wherever it is not known to be otherwise."""
    if QGuiApplication.platformName() != "xcb":
        return True
    name = ctypes.util.find_library("X11") or "libX11.so.6"
    try:
        x11 = ctypes.CDLL(name)
    except OSError:
        return True
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x11.XInternAtom.restype = ctypes.c_ulong
    x11.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    x11.XGetSelectionOwner.restype = ctypes.c_ulong
    x11.XGetSelectionOwner.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
    x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
    display = x11.XOpenDisplay(None)
    if not display:
        return True
    try:
        # The compositor of a screen owns this selection.
        owner = x11.XGetSelectionOwner(display, x11.XInternAtom(display, b"_NET_WM_CM_S0", 0))
    finally:
        x11.XCloseDisplay(display)
    return bool(owner)
