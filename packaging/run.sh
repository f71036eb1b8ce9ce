#!/bin/sh
# What `make run` does once .venv is ready: the window where one can open, else the guided tour as pictures.
#
#   sh packaging/run.sh PYTHON [ARGUMENTS OF THE APPLICATION...]
set -eu
cd "$(dirname "$0")/.."
python=$1
shift

case $(uname -s) in
    Darwin | MINGW* | MSYS* | CYGWIN*) display=yes ;;
    *) display=${DISPLAY:-}${WAYLAND_DISPLAY:-} ;;
esac
why="There is no display here"
if [ "$display" ] && [ "$display" != yes ]; then
    # A variable may be left over from a session that has ended; Qt aborts then, so it is tried in a process of its own.
    probe='from PySide6.QtGui import QGuiApplication; QGuiApplication([])'
    if ! answer=$(ulimit -c 0; "$python" -c "$probe" 2>&1); then
        echo "$answer" | grep -v '^$' | head -n 3 >&2
        why="No window can be opened on the display $display"
        display=""
    fi
fi
if [ "$display" ]; then
    exec "$python" -m bibgenie_desktop "$@"
fi

echo "$why: playing the guided tour on the sample library instead."
QT_QPA_PLATFORM=offscreen "$python" -m bibgenie_desktop --demo --tour build/tour "$@"
echo "The pictures and the transcript of the tour are in $PWD/build/tour"
