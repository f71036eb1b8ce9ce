"""The sessions list: forks under their origin, pinned first, words that find."""

from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.gui.session_rows import Line, SectionLine, SessionLine, lines_of, plain_words
from bibgenie_desktop.services.workspace import SessionRow

DAY = 86_400_000
NOW = 1_700_000_000_000


def row(
    name: str, *, origin: str = "", pinned: bool = False, days: int = 0, draft: bool = False
) -> SessionRow:
    at = NOW - days * DAY
    session = Session(
        id=SessionId(name),
        tree_id=TreeId("t"),
        title=name,
        leaf_id=MessageId("m"),
        branch_revision=0,
        model="a/b",
        origin_session_id=SessionId(origin) if origin else None,
        origin_message_id=None,
        pinned=pinned,
        trashed_at=None,
        created_at=at,
        updated_at=at,
    )
    return SessionRow(session, f"preview of {name}", at, False, draft)


def shape(lines: tuple[Line, ...]) -> list[str]:
    return [f"# {x.title}" if isinstance(x, SectionLine) else f"{'  ' * x.depth}{x.title}" for x in lines]


def test_forks_stand_under_their_origin_and_pinned_ones_first() -> None:
    rows = [
        row("fork of fork", origin="fork"),
        row("new"),
        row("fork", origin="old"),
        row("old", days=40, pinned=True),
    ]
    assert shape(lines_of(rows, {}, NOW)) == [
        "# Pinned",
        "old",
        "  fork",
        "    fork of fork",
        "# Today",
        "new",
    ]


def test_a_fork_whose_origin_is_gone_stands_alone() -> None:
    assert shape(lines_of([row("fork", origin="gone")], {}, NOW)) == ["# Today", "fork"]


def test_words_are_looked_for_in_title_and_preview() -> None:
    rows = [row("Sleep and memory"), row("Naps")]
    assert shape(lines_of(rows, {}, NOW, words="MEM sleep")) == ["Sleep and memory"]
    assert shape(lines_of(rows, {}, NOW, words="preview naps")) == ["Naps"]
    assert lines_of(rows, {}, NOW, words="nothing") == ()


def test_the_state_of_an_open_session_beats_what_is_stored() -> None:
    rows = [row("a", draft=True), row("b", draft=True)]
    lines = lines_of(rows, {SessionId("a"): "compacting"}, NOW)
    assert [x.state for x in lines if isinstance(x, SessionLine)] == ["compacting", "draft"]


def test_previews_lose_their_marks() -> None:
    assert plain_words('**Hu** says [[u-ABCD2345 p.1 "x"]] `a` snake_case _it_') == "Hu says a snake_case it"


def test_a_session_found_by_its_messages_shows_what_was_found() -> None:
    rows = [row("a"), row("b")]
    lines = lines_of(rows, {}, NOW, words="spindles", said={SessionId("b"): "… about **spindles** and …"})
    assert [(line.id, line.preview) for line in lines if isinstance(line, SessionLine)] == [
        ("b", "… about spindles and …")
    ]
