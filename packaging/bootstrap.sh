#!/bin/sh
# Makes .venv ready for `make`: finds or installs Python, the system libraries Qt needs, and the project itself.
#
#   sh packaging/bootstrap.sh run|test|dev
#
# Asks nothing. Where something is missing it is installed with apt-get if that is possible without a password;
# otherwise the exact command is printed and nothing else happens. May be interrupted at any point: the stamp that
# lets later runs return at once is written last.
set -eu

level=${1:-run}
cd "$(dirname "$0")/.."
here=$(pwd -P)

case $level in
    run) extra="" stamps="run" ;;
    test) extra="[test]" stamps="run test" ;;
    dev) extra="[dev]" stamps="run test dev" ;;
    *) echo "usage: bootstrap.sh run|test|dev" >&2; exit 2 ;;
esac

key="$(cat pyproject.toml packaging/bootstrap.sh | cksum) $here"
stamp=.venv/.ready-$level
if [ -x .venv/bin/python ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ]; then
    exit 0
fi

# What PySide6 links to or loads at run time, and fonts to draw with.
libraries="libgl1 libegl1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1
libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1 libdbus-1-3 libfontconfig1
libglib2.0-0 fonts-dejavu-core fonts-noto-core"

say() { echo "bibgenie: $*"; }
stop() { echo "bibgenie: $*" >&2; exit 1; }

good_python() {
    # Debian splits ensurepip off into python3-venv: without it there is no pip in a new environment.
    "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    for python in python3.13 python3.12 python3.11 python3; do
        if good_python "$python"; then
            return 0
        fi
    done
    python=""
    return 1
}

one_line() { echo $*; }

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing_packages() {
    missing=""
    for package in $libraries; do
        # From Debian 13 and Ubuntu 24.04 on, some names carry the suffix t64.
        installed "$package" || installed "${package}t64" || missing="$missing $package"
    done
    echo $missing
}

python_packages() {
    # The plain python3 where it is new enough, else the newest one packaged beside it.
    for name in python3 python3.13 python3.12 python3.11; do
        version=$(apt-cache policy "$name" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
        set -- $version
        if [ "${1:-0}" -eq 3 ] && [ "${2:-0}" -ge 11 ]; then
            echo "$name $name-venv"
            return
        fi
    done
    echo "python3 python3-venv"
}

# --- system packages ----------------------------------------------------------------------------------------

find_python || true
if command -v apt-get >/dev/null 2>&1 && command -v dpkg-query >/dev/null 2>&1; then
    wanted=$(missing_packages)
    if [ -z "$python" ] || [ -n "$wanted" ]; then
        as_root=""
        can=no
        if [ "$(id -u)" -eq 0 ]; then
            can=yes
        elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
            can=yes as_root="sudo -n"
        fi
        if [ $can = yes ]; then
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || say "apt-get update failed; going on"
            [ -n "$python" ] || wanted="$(python_packages) $wanted"
            say "installing system packages: $wanted"
            if ! $as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $wanted; then
                say "apt-get could not install everything; going on with what is there"
            fi
            find_python || true
        fi
    fi
fi
if [ -z "$python" ]; then
    if command -v apt-get >/dev/null 2>&1; then
        stop "Python 3.11 or newer is needed. Run this, then make again:
  sudo apt-get update && sudo apt-get install -y $(python_packages) $(one_line $libraries)"
    fi
    stop "Python 3.11 or newer with the modules venv and ensurepip is needed: https://www.python.org/downloads/"
fi

# --- the environment ----------------------------------------------------------------------------------------

usable_environment() {
    # The scripts in it name the place it was made at: after a move of the folder it must be made again.
    .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 &&
        .venv/bin/python -m pip --version >/dev/null 2>&1 &&
        grep -qF "$here/.venv" .venv/bin/pip
}

if ! usable_environment; then
    say "making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv || stop "no environment could be made in $here/.venv"
fi
rm -f .venv/.ready-*
say "installing the application and its libraries into .venv (about 300 MB; only the first time)"
.venv/bin/python -m pip install --quiet --no-input --disable-pip-version-check -e ".$extra" ||
    stop "pip could not install everything; the reason is above. Run make again when it is gone."

# --- does Qt start? -----------------------------------------------------------------------------------------

probe='from PySide6.QtWidgets import QApplication
from PySide6.QtGui import QFontDatabase
import sys
app = QApplication([])
sys.exit(0 if QFontDatabase.families() else 3)'
status=0
answer=$(QT_QPA_PLATFORM=offscreen .venv/bin/python -c "$probe" 2>&1) || status=$?
if [ $status -eq 3 ]; then
    say "Qt finds no fonts: text will be invisible. On Debian and Ubuntu: sudo apt-get install fonts-dejavu-core"
elif [ $status -ne 0 ]; then
    echo "$answer" | tail -n 3 >&2
    if command -v apt-get >/dev/null 2>&1; then
        stop "a library that Qt needs is missing. Run this, then make again:
  sudo apt-get update && sudo apt-get install -y $(one_line $libraries)"
    fi
    stop "a library that Qt needs is missing: install the one named above with your system's package manager."
fi
xcb=$(.venv/bin/python -c 'import PySide6, pathlib
print(next(pathlib.Path(PySide6.__file__).parent.glob("Qt/plugins/platforms/libqxcb.so"), ""))')
if [ -n "$xcb" ] && [ -n "${DISPLAY:-}" ] && command -v ldd >/dev/null 2>&1; then
    lost=$(ldd "$xcb" | sed -n 's/^[[:space:]]*\(.*\) => not found/\1/p')
    [ -z "$lost" ] || say "windows on X11 will not open, these libraries are missing: $(one_line $lost)"
fi

for name in $stamps; do
    echo "$key" >".venv/.ready-$name"
done
say "ready"
