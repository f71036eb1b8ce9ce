#!/bin/sh
# Tests the keys against a real keyring: a D-Bus session with GNOME Keyring, unlocked, locked, silent, and none.
# Installs dbus and gnome-keyring if that is possible without a password; otherwise says why nothing was tested.
set -eu
cd "$(dirname "$0")/.."

skip() { echo "keyring: not tested, $*"; exit 0; }
there() { command -v dbus-run-session >/dev/null && command -v gnome-keyring-daemon >/dev/null; }

if ! there; then
    [ "$(uname -s)" = Linux ] || skip "this needs Linux."
    command -v apt-get >/dev/null || skip "dbus and gnome-keyring are not installed, and there is no apt-get."
    if [ "$(id -u)" = 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo -n"; else
        skip "dbus and gnome-keyring are not installed: sudo apt-get install dbus gnome-keyring"
    fi
    log=$(mktemp)
    if ! { $as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq \
        --no-install-recommends dbus dbus-bin gnome-keyring || DEBIAN_FRONTEND=noninteractive $as_root apt-get \
        install -y -qq --no-install-recommends dbus gnome-keyring; } >"$log" 2>&1; then
        tail -3 "$log"; rm -f "$log"
        skip "dbus and gnome-keyring could not be installed."
    fi
    rm -f "$log"
fi
there || skip "dbus-run-session or gnome-keyring-daemon is still missing."
exec .venv/bin/python -m pytest -m keyring tests/settings "$@"
