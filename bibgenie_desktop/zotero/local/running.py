"""Asking this computer whether Zotero is running: one GET on its loopback port, past any proxy."""

from __future__ import annotations

import socket

PORT = 23119


def zotero_answers(port: int = PORT) -> bool:
    """Whether something that calls itself Zotero answers on its port."""
    request = f"GET /connector/ping HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.5) as connection:
            connection.sendall(request.encode("ascii"))
            answer = connection.recv(4096)
    except OSError:
        return False
    return b"zotero" in answer.lower()
