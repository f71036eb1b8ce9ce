"""Times as people say them: short and relative in lists, exact where there is room."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QDateTime, QLocale, QTime

from bibgenie_desktop.gui.tr import number, tr

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def ago(at: int, now: int) -> str:
    """`now`, `5 min`, `3 h`, `Tue`, `12 Oct`, `12 Oct 2023`: how long ago a time in milliseconds is."""
    past = max(0, now - at)
    if past < MINUTE:
        return tr("now")
    if past < HOUR:
        return tr("{0} min").format(number(past // MINUTE))
    if past < DAY:
        return tr("{0} h").format(number(past // HOUR))
    then, today = _local(at), _local(now)
    if past < 6 * DAY:
        return QLocale().toString(_qt(at).date(), "ddd")
    return QLocale().toString(_qt(at).date(), "d MMM" if then.year == today.year else "d MMM yyyy")


def day_section(at: int, now: int) -> str:
    """The heading under which a list puts a time: today, yesterday, this week, a month."""
    then, today = _local(at), _local(now)
    days = (today.date() - then.date()).days
    if days <= 0:
        return tr("Today")
    if days == 1:
        return tr("Yesterday")
    if days < 7:
        return tr("This week")
    return QLocale().toString(_qt(at).date(), "MMMM" if then.year == today.year else "MMMM yyyy")


def clock_time(at: int, now: int) -> str:
    """`14:02` today, else `12 Oct, 14:02`."""
    time = QLocale().toString(_time(at), QLocale.FormatType.ShortFormat)
    if _local(at).date() == _local(now).date():
        return time
    return f"{QLocale().toString(_qt(at).date(), 'd MMM')}, {time}"


def exact(at: int) -> str:
    """The whole date and time, for tooltips."""
    return QLocale().toString(_qt(at), QLocale.FormatType.LongFormat)


def age(milliseconds: int) -> str:
    """`just now`, `12 min old`, `3 h old`, `2 days old`."""
    if milliseconds < MINUTE:
        return tr("just now")
    if milliseconds < HOUR:
        return tr("{0} min old").format(number(milliseconds // MINUTE))
    if milliseconds < 2 * DAY:
        return tr("{0} h old").format(number(milliseconds // HOUR))
    return tr("{0} days old").format(number(milliseconds // DAY))


def seconds(milliseconds: int) -> str:
    """`8 s`, `2 min`."""
    if milliseconds < 2 * MINUTE:
        return tr("{0} s").format(number(max(1, round(milliseconds / 1000))))
    return tr("{0} min").format(number(round(milliseconds / MINUTE)))


def _local(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000)


def _qt(at: int) -> QDateTime:
    return QDateTime.fromMSecsSinceEpoch(at)


def _time(at: int) -> QTime:
    return _qt(at).time()
