"""The faults other programs had with Zotero, providers and desktops: each kind has a test.

A short test stands here where none did elsewhere. `PROVED` names the others; it is checked that they exist,
and that no report of the list is missing.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bibgenie_desktop.domain.messages import AssistantMessage
from bibgenie_desktop.domain.parts import ToolPart, text_of
from bibgenie_desktop.zotero.files.documents import Documents
from tests.fakes import Notebook
from tests.scripted_server import Reply, ScriptedServer, text, tool_calls
from tests.services.desk import ask, desk

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT.parent / "shared" / "cases.md"
HERE = "test_cases_zotero.py"
LIVE = "zotero/local/test_live_writer.py"
WINDOW = "gui/test_window.py"

PROVED: dict[str, tuple[str, ...]] = {
    "54yyyu/zotero-mcp#52": (
        f"{LIVE}::test_every_snapshot_taken_under_a_writer_is_a_state_that_was_committed",
        f"{LIVE}::test_pause_free_writing_leaves_the_last_good_snapshot_with_its_age",
    ),
    "54yyyu#292/#333": (
        "zotero/test_service.py::test_a_change_in_zotero_is_seen_by_the_next_question",
        "zotero/test_service.py::test_a_library_that_goes_away_stays_readable_and_is_marked_stale",
    ),
    "ElliotRoe/lit-lake#16": (
        "zotero/local/test_reader.py::test_one_unreadable_text_does_not_hide_the_other_items",
        "zotero/files/test_fuzz.py::test_mutated_notes_keep_coming_out_as_text",
    ),
    "54yyyu#85": (
        "zotero/local/test_discovery.py::test_a_custom_data_directory_is_found_on_every_system",
        "zotero/local/test_discovery.py::test_several_profiles_are_offered_with_the_default_one_first",
    ),
    "54yyyu#389": (
        "zotero/test_service.py::test_linked_files_use_the_base_directory_of_the_profile",
        "zotero/files/test_attachments.py::test_a_relative_link_without_a_base_directory_says_so",
    ),
    "zotero#5483": (
        "zotero/files/test_attachments.py::test_a_link_to_another_system_is_not_on_this_computer",
    ),
    "54yyyu#265": (
        "zotero/files/test_books.py::test_word_processor_files_give_their_paragraphs",
        "zotero/files/test_books.py::test_web_pages_and_texts_are_read_in_their_encoding",
        "services/tools/test_library_tools.py::test_what_cannot_be_read_is_explained",
    ),
    "54yyyu#233": (
        "zotero/local/test_reader.py::test_a_trashed_collection_takes_its_subcollections_with_it",
        "zotero/local/test_reader.py::test_a_trashed_item_hides_its_attachments",
        "services/tools/test_browsing_tools.py::test_what_lies_in_the_trash_is_named_as_such",
    ),
    "54yyyu#123": (
        "zotero/local/test_reader.py::test_one_key_in_two_libraries_names_two_items",
        "zotero/model/test_links.py::test_links_name_the_attachment_the_physical_page_and_the_group",
    ),
    "54yyyu#163": (
        "services/tools/test_search_fulltext.py::test_scopes_pages_and_relaxing_are_said",
        "services/tools/test_library_tools.py::test_an_empty_result_states_its_scope",
    ),
    "54yyyu PR#198": (
        "zotero/test_service.py::test_the_loop_is_never_blocked_by_loading",
        "services/library/test_browsing.py::test_lists_of_a_large_library_leave_the_loop_free",
    ),
    "54yyyu#431": (
        "zotero/files/test_documents.py::test_a_poisoned_file_costs_one_error_and_the_next_question_is_answered",
        "zotero/files/test_documents.py::test_questions_queue_behind_a_hanging_one_without_losing_their_own_time",
    ),
    "beaver#100": (f"{HERE}::test_beaver_100_the_last_of_1500_pages_is_read_alone",),
    "llm-for-zotero#282": (
        "zotero/files/test_documents.py::test_each_unreadable_file_has_a_sentence_of_its_own",
        "services/tools/test_view_page.py::test_reading_a_scan_names_the_tool_that_shows_it_to_models_that_see_only",
    ),
    "cookjohn#56": ("zotero/files/test_books.py::test_badly_extracted_text_is_told_from_language",),
    "eric-tramel/zoty#16": (
        "zotero/model/test_fields.py::test_dates_have_a_year_a_text_and_an_order",
        "zotero/index/test_search.py::test_years_filter_by_the_iso_half_and_undated_items_never_match",
    ),
    "54yyyu#72": (
        "zotero/model/test_fields.py::test_citation_keys_come_from_the_field_then_from_extra",
        "zotero/local/test_children.py::test_better_bibtex_keys_fill_in_only_where_zotero_has_none",
        "services/library/test_browsing.py::test_dois_citation_keys_and_dragged_references_find_their_work",
    ),
    "54yyyu#70": ("services/tools/test_browsing_tools.py::test_three_thousand_tags_are_paged_without_loss",),
    "zotero#3392": ("zotero/model/test_links.py::test_books_and_snapshots_never_get_a_page",),
    "beaver#267": (
        "zotero/test_service.py::test_a_quote_is_looked_up_on_its_page",
        "gui/test_conversation_view.py::test_citation_card_opens_its_page",
    ),
    "54yyyu#503": (
        "zotero/online/test_note_html.py::test_54yyyu_503_llm4z_101_tables_formulas_and_citations_survive_both_ways",
        "zotero/online/test_note_html.py::test_a_note_read_back_is_the_same_note",
    ),
    "llm4z#104": (
        "gui/test_markdown.py::test_formula_is_told_from_money_and_code",
        "gui/test_markdown.py::test_formula_is_drawn_with_ink",
        "gui/test_markdown.py::test_bad_tex_is_shown_as_it_was_written",
    ),
    "papersgpt#66": (
        "providers/test_http_provider.py::test_model_ids_with_colons_and_slashes_arrive_as_they_are",
        "settings/test_models.py::test_reference_is_split_at_its_first_slash",
    ),
    "beaver#302": (
        "providers/test_http_provider.py::test_blank_key_sends_no_authorization",
        "providers/test_http_provider.py::test_every_kind_works_without_a_key",
    ),
    "langchain#37713": (
        "providers/test_dialects.py::test_reasoning_goes_back_in_the_field_and_to_the_models_that_want_it",
        "providers/test_every_dialect.py::test_no_reasoning_older_than_the_checkpoint_goes_back",
    ),
    "llm4z#445": (
        f"{HERE}::test_llm4z_445_a_question_is_one_request_and_its_title_is_made_here",
        f"{WINDOW}::test_compact_shows_progress_and_the_divider_and_the_next_request_starts_with_it",
        f"{WINDOW}::test_cancelled_compaction_writes_nothing",
    ),
    "llm4z#311": (
        "test_net.py::test_loopback_never_goes_through_a_proxy",
        "test_net.py::test_others_go_through_the_proxy",
    ),
    "54yyyu#43": (
        "gui/test_web_library.py::test_54yyyu_43_289_logseq_11543_the_settings_say_how_zotero_is_and_what_to_do",
        "zotero/online/test_liveness.py::test_zotero_with_its_local_interface_in_every_state",
    ),
    "chatbox#1052": (
        "storage/test_kill.py::test_kill_at_any_moment_loses_nothing_acknowledged",
        "storage/test_migrations.py::test_an_upgrade_copies_the_file_first",
        "storage/test_migrations.py::test_a_newer_file_is_refused_and_not_touched",
    ),
    "llama.cpp#16406": (
        "storage/test_properties.py::test_random_work_never_removes_a_node_and_keeps_the_invariants",
    ),
    "NousResearch/hermes-agent#71960": (
        "storage/test_sessions.py::test_fork_before_checkpoint_does_not_inherit_it",
        f"{WINDOW}::test_fork_opens_a_session_under_its_origin_and_can_be_undone",
    ),
    "open-webui#8928": (
        "storage/test_archive.py::test_an_archived_branch_keeps_every_message_and_comes_back",
        f"{WINDOW}::test_a_branch_can_be_archived_brought_back_and_shown",
    ),
    "earendil-works/pi#7253": (
        "services/test_chat.py::test_nothing_to_compact_is_a_success_without_a_request",
        f"{WINDOW}::test_while_streaming_everything_the_table_forbids_is_disabled_with_its_reason",
    ),
    "claude-code#10306": (
        "services/test_checkpoints.py::test_a_span_larger_than_the_window_is_read_whole_in_requests_that_fit",
    ),
    "claude-code#9796": (
        "domain/test_checkpoint.py::test_invented_keys_are_struck_and_reported_known_ones_stay",
        "services/test_checkpoints.py::test_pins_enter_the_next_checkpoint_and_survive_every_later_one_also_in_a_fork",
    ),
    "openswarm PR#62": ("services/test_chat.py::test_a_fork_before_a_checkpoint_does_not_inherit_it",),
    "anything-llm#2253": ("gui/test_conversation_view.py::test_text_is_followed_only_at_the_end",),
    "locally-uncensored#139": (
        "gui/test_conversation_view.py::test_ten_thousand_rows_open_at_once_at_the_end",
        "gui/test_conversation_view.py::test_delta_costs_little_however_long_the_text_is",
    ),
    "Aria#59/#64": (
        "gui/test_theme.py::test_all_pairs_of_the_look_are_checked",
        f"{WINDOW}::test_nothing_is_clipped_in_the_window",
    ),
    "keyring#710": (
        "gui/test_settings.py::test_without_a_keyring_the_key_can_be_kept_for_this_run",
        "settings/test_real_keyring.py::test_session_without_a_keyring_says_so_and_keeps_the_key_until_the_end",
    ),
    "beaver#173": (
        "services/library/test_browsing.py::test_sessions_that_used_a_work_are_found_and_those_that_only_met_it_are_not",
    ),
    "llm4z#55": (
        "gui/test_money.py::test_the_dock_says_what_a_session_cost_and_where_it_went",
        "gui/test_attaching.py::test_dropped_export_comes_back_as_a_session_of_its_own",
    ),
    "llm4z#195": ("gui/test_window_shape.py::test_the_window_comes_back_as_it_was_left",),
    "Aria#12": (f"{HERE}::test_aria_12_at_the_limit_of_steps_the_turn_answers_and_says_why",),
}
"""By the first reference of each report."""


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_test_that_is_named_here_exists() -> None:
    missing = [
        node
        for node in {n for nodes in PROVED.values() for n in nodes}
        if node.partition("::")[2] not in names_in(ROOT / "tests" / node.partition("::")[0])
    ]
    assert missing == []


@pytest.mark.skipif(not CASES.exists(), reason="the shared list of faults is not here")
def test_no_report_of_the_list_is_missing() -> None:
    table = CASES.read_text(encoding="utf-8").partition("## Zotero, providers, desktop")[2]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")]
    reports = [row for row in rows if row != "report"]
    assert len(reports) > 40
    assert [r for r in reports if not any(r.startswith(known) for known in PROVED)] == []


def pages(count: int) -> bytes:
    """A PDF of so many pages, each with its number."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>"
        % (count, b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(count))),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for n in range(1, count + 1):
        words = b"BT /F 12 Tf 72 700 Td (This is page number %d) Tj ET" % n
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]"
        page += b"/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>"
        objects += [page % (3 + 2 * n), b"<</Length %d>>stream\n%s\nendstream" % (len(words), words)]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(out)


async def test_beaver_100_the_last_of_1500_pages_is_read_alone(tmp_path: Path) -> None:
    """beaver#100. Only what is asked for is read, so a book costs no more than a paper."""
    path = tmp_path / "book.pdf"
    path.write_bytes(pages(1_500))
    documents = Documents()
    try:
        assert await documents.page_count(path) == 1_500
        last = await documents.pages_text(path, 1_499, 1_499)
        assert [p.text.strip() for p in last] == ["This is page number 1500"]
    finally:
        await documents.close()


async def test_llm4z_445_a_question_is_one_request_and_its_title_is_made_here(tmp_path: Path) -> None:
    """llm4z#445. No call of a model that nobody asked for."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(text("It helps."))
            await chat.send(ask("Does sleep help memory?"))
            (row,) = await d.workspace.sessions()
            assert "sleep" in row.session.title
            assert len(server.requests) == 1


async def test_aria_12_at_the_limit_of_steps_the_turn_answers_and_says_why(tmp_path: Path) -> None:
    """Aria#12, aider-desk#187. A model that searches without end is told to answer."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Notebook(),)) as d:

            def reply(body: dict[str, object]) -> Reply:
                told = "Answer now" in str(body["messages"])
                return (
                    text("From what I have: yes.") if told else tool_calls(("search_items", {"query": "x"}))
                )

            server.reply_with(reply)
            chat = await d.chat()
            await chat.send(ask("Search for ever"))
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            calls = [p.state for p in answer.parts if isinstance(p, ToolPart)]
            assert calls == ["done"] * 23 + ["denied"]
            assert text_of(answer.parts).endswith("From what I have: yes.")
            assert "limit of 24 tool steps" in answer.error
