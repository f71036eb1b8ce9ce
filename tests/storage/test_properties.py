"""Random work on one tree: no node is ever removed or changed, and the invariants hold for every row."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Session, UserMessage
from bibgenie_desktop.domain.parts import Draft, TextPart
from bibgenie_desktop.domain.projection import newest_checkpoint, position, project
from bibgenie_desktop.domain.topology import DamagedBranch
from bibgenie_desktop.storage.store import Store
from tests.storage.helpers import MODEL, opened, reply_id, rows, summary_under, tree_rows, turn

Step = tuple[str, int, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["send", "send", "send", "compact", "compact", "retry", "edit", "fork", "switch", "undo", "crash"]
        ),
        st.integers(0, 50),
        st.integers(0, 50),
    ),
    min_size=3,
    max_size=14,
)


class Work:
    """Carries out steps; the numbers choose session, message and boundary."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.sessions = [store.create_session("S", MODEL).id]
        self.refused = 0

    def step(self, step: Step) -> None:
        name, which, choice = step
        session = self.store.session(self.sessions[which % len(self.sessions)])
        path = self.store.path_to(session.leaf_id) if session.leaf_id else ()
        operation: Callable[[Session, tuple[Message, ...], int], None] = getattr(self, name)
        operation(session, path, choice)

    def send(self, session: Session, path: tuple[Message, ...], choice: int) -> None:
        turn(self.store, session, status=("complete", "stopped", "failed")[choice % 3])  # type: ignore[arg-type]

    def compact(self, session: Session, path: tuple[Message, ...], choice: int) -> None:
        if not path:
            return
        boundaries: list[MessageId | None] = [None, *(m.id for m in path)]
        leaf = path[-1]
        assert isinstance(leaf, AssistantMessage | Checkpoint)
        checkpoint = summary_under(self.store, session, leaf, boundaries[choice % len(boundaries)])
        try:
            self.store.commit_checkpoint(session.id, session.head, checkpoint)
        except NotAllowed:
            self.refused += 1

    def retry(self, session: Session, path: tuple[Message, ...], choice: int) -> None:
        questions = [m for m in path if isinstance(m, UserMessage)]
        if questions:
            question = questions[choice % len(questions)]
            self.store.retry(session.id, session.head, question.id, reply_id(self.store), MODEL)
            self.store.finish(session.id, "complete", "", (TextPart("again"),), ())

    def edit(self, session: Session, path: tuple[Message, ...], choice: int) -> None:
        places = [n for n, m in enumerate(path) if isinstance(m, UserMessage)]
        if not places:
            return
        at = places[choice % len(places)]
        parent = path[at - 1] if at else None
        checkpoint = None
        if choice % 2 and isinstance(parent, AssistantMessage | Checkpoint):
            checkpoint = summary_under(self.store, session, parent, None)
        self.store.edit(
            session.id,
            session.head,
            parent.id if parent else None,
            (TextPart("edited"),),
            reply_id(self.store),
            MODEL,
            checkpoint,
            edits=path[at].id,
        )
        self.store.finish(session.id, "stopped", "", (), ())

    def fork(self, session: Session, path: tuple[Message, ...], choice: int) -> None:
        answers = [m for m in path if isinstance(m, AssistantMessage)]
        if answers:
            fork = self.store.fork(session.id, answers[choice % len(answers)].id, "fork")
            self.sessions.append(fork.id)

    def switch(self, session: Session, path: tuple[Message, ...], choice: int) -> None:
        outline = self.store.outline(session.tree_id)
        if outline:
            leaf = self.store.leaf_below(outline[choice % len(outline)].id)
            self.store.switch(session.id, session.head, leaf)

    def undo(self, session: Session, path: tuple[Message, ...], choice: int) -> None:
        if path and isinstance(path[-1], Checkpoint):
            self.store.switch(session.id, session.head, path[-1].parent_id)

    def crash(self, session: Session, path: tuple[Message, ...], choice: int) -> None:
        self.store.save_draft(session.id, None, Draft("lost?"))
        self.store.send(session.id, session.head, (TextPart("q"),), reply_id(self.store), MODEL)
        self.store.save_pending(session.id, (TextPart("half"),), ())
        assert len(self.store.recover()) == 1


@given(steps)
def test_random_work_never_removes_a_node_and_keeps_the_invariants(work: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "bibgenie.sqlite"
        with opened(path) as store:
            doing = Work(store)
            before: set[tuple[object, ...]] = set()
            for step in work:
                revisions = {s: store.session(s) for s in doing.sessions}
                doing.step(step)
                now = set(tree_rows(path))
                assert before <= now, f"{step} changed or removed a node"
                before = now
                for session_id, was in revisions.items():
                    is_now = store.session(session_id)
                    assert is_now.branch_revision >= was.branch_revision
                    assert (is_now.leaf_id == was.leaf_id) or is_now.branch_revision > was.branch_revision
            check_every_path(store, path)
            for session_id in doing.sessions:
                leaf = store.session(session_id).leaf_id
                assert leaf is None or not isinstance(store._message(leaf), UserMessage)


def check_every_path(store: Store, path: Path) -> None:
    ends = rows(
        path,
        "SELECT id, tree_id FROM message m WHERE NOT EXISTS (SELECT 1 FROM message WHERE parent_id = m.id)",
    )
    for leaf_id, tree_id in ends:
        branch = store._chain(MessageId(str(leaf_id)), tree_id, None)  # type: ignore[arg-type]
        assert not isinstance(branch, DamagedBranch), branch
        positions = [position(branch, n) for n, m in enumerate(branch) if isinstance(m, Checkpoint)]
        assert positions == sorted(positions)
        newest = newest_checkpoint(branch)
        kinds = [message.kind for message in project(branch).messages]
        assert kinds.count("checkpoint") == (newest is not None)
        verbatim = [kind for kind in kinds if kind != "checkpoint"]
        assert verbatim == [("user", "assistant")[n % 2] for n in range(len(verbatim))]


def test_random_work_is_not_idle() -> None:
    """The steps above do reach forks, checkpoints and refusals."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "bibgenie.sqlite"
        with opened(path) as store:
            doing = Work(store)
            for n, name in enumerate(["send", "send", "compact", "compact", "edit", "fork", "switch"] * 6):
                doing.step((name, n, n * 7))
            assert doing.refused > 2
            assert len(doing.sessions) > 2
            assert len(rows(path, "SELECT 1 FROM checkpoint")) > 2
            check_every_path(store, path)
