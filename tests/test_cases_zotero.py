"""The faults other programs had with Zotero, providers and desktops: each kind has a test.

A short test stands here where none did elsewhere. `PROVED` names the others; it is checked that they exist,
and that no report of the list is missing.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import re
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.messages import AssistantMessage
from bibgenie_desktop.domain.parts import ToolPart, text_of
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.local.discovery import find_libraries
from tests.fakes import Notebook
from tests.scripted_server import Reply, ScriptedServer, text, tool_calls
from tests.services.desk import ask, desk
from tests.services.tools.test_library_tools import Desk
from tests.services.tools.test_library_tools import desk as tools
from tests.zotero.helpers import SAMPLE, library_of, opened_library, sample_copy, writing
from tests.zotero.local.test_discovery import pref, profile

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT.parent / "shared" / "cases.md"
HERE = "test_cases_zotero.py"
LIVE = "zotero/local/test_live_writer.py"
WINDOW = "gui/test_window.py"
LIBS, DOCS, TALKS = (f"cases/test_{name}.py" for name in ("libraries", "documents", "conversations"))
CASES_WINDOW = "gui/test_cases_window.py"

PROVED: dict[str, tuple[str, ...]] = {
    "54yyyu/zotero-mcp#52": (
        f"{HERE}::test_54yyyu_52_a_search_beside_a_running_zotero_sees_what_was_committed_last",
        f"{LIVE}::test_every_snapshot_taken_under_a_writer_is_a_state_that_was_committed",
        f"{LIVE}::test_pause_free_writing_leaves_the_last_good_snapshot_with_its_age",
    ),
    "54yyyu#292/#333": (
        f"{HERE}::test_54yyyu_292_an_item_that_lies_only_in_the_log_is_found_and_a_stale_state_says_so",
        "zotero/test_service.py::test_a_change_in_zotero_is_seen_by_the_next_question",
        "zotero/test_service.py::test_a_library_that_goes_away_stays_readable_and_is_marked_stale",
    ),
    "ElliotRoe/lit-lake#16": (
        f"{HERE}::test_lit_lake_16_a_note_that_cannot_be_parsed_hides_nothing_else",
        "zotero/local/test_reader.py::test_one_unreadable_text_does_not_hide_the_other_items",
        "zotero/files/test_fuzz.py::test_mutated_notes_keep_coming_out_as_text",
        f"{LIBS}::test_lit_lake_16_a_note_that_cannot_be_converted_is_named_and_hides_no_other",
        f"{LIBS}::test_lit_lake_16_numbers_that_are_none_are_no_reason_to_lose_a_note",
    ),
    "54yyyu#85": (
        f"{HERE}::test_54yyyu_85_every_tool_reads_the_directory_that_the_profile_names",
        "zotero/local/test_discovery.py::test_a_custom_data_directory_is_found_on_every_system",
        "zotero/local/test_discovery.py::test_several_profiles_are_offered_with_the_default_one_first",
        f"{LIBS}::test_54yyyu_85_a_directory_named_by_the_environment_is_the_one_of_every_tool_and_command",
    ),
    "54yyyu#389": (
        f"{HERE}::test_54yyyu_389_a_linked_file_without_a_base_folder_is_named_not_left_out",
        "zotero/test_service.py::test_linked_files_use_the_base_directory_of_the_profile",
        "zotero/files/test_attachments.py::test_a_relative_link_without_a_base_directory_says_so",
        f"{DOCS}::test_54yyyu_389_a_linked_file_without_a_base_folder_is_counted_as_not_searched",
    ),
    "zotero#5483": (
        "services/tools/test_hostile_documents.py::test_a_path_of_windows_lies_on_another_computer",
        "zotero/files/test_attachments.py::test_a_link_to_another_system_is_not_on_this_computer",
    ),
    "54yyyu#265": (
        "zotero/files/test_books.py::test_an_epub_has_sections_with_titles_and_places",
        "zotero/files/test_books.py::test_word_processor_files_give_their_paragraphs",
        "zotero/files/test_books.py::test_web_pages_and_texts_are_read_in_their_encoding",
        "services/tools/test_library_tools.py::test_what_cannot_be_read_is_explained",
        f"{DOCS}::test_54yyyu_265_every_kind_of_file_is_text_or_one_clear_sentence",
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
        f"{HERE}::test_54yyyu_163_without_a_scope_all_libraries_are_searched_and_rows_say_which",
        "services/tools/test_search_fulltext.py::test_scopes_pages_and_relaxing_are_said",
        "services/tools/test_library_tools.py::test_an_empty_result_states_its_scope",
        f"{LIBS}::test_54yyyu_163_every_tool_looks_everywhere_and_its_rows_name_their_library",
    ),
    "54yyyu PR#198": (
        f"{HERE}::test_54yyyu_198_a_slow_document_holds_up_no_search_and_can_be_cancelled",
        "zotero/test_service.py::test_the_loop_is_never_blocked_by_loading",
        "services/library/test_browsing.py::test_lists_of_a_large_library_leave_the_loop_free",
        "cases/test_scale.py::test_54yyyu_198_no_question_loads_the_library",
        "cases/test_scale.py::test_54yyyu_198_many_questions_at_once_are_answered_and_each_can_be_given_up",
    ),
    "54yyyu#431": (
        "zotero/files/test_documents.py::test_a_poisoned_file_costs_one_error_and_the_next_question_is_answered",
        "zotero/files/test_documents.py::test_questions_queue_behind_a_hanging_one_without_losing_their_own_time",
        f"{DOCS}::test_54yyyu_431_a_poisoned_outline_is_read_as_far_as_it_goes",
        f"{DOCS}::test_54yyyu_431_an_outline_that_takes_its_reader_down_is_one_error",
    ),
    "beaver#100": (
        f"{HERE}::test_beaver_100_the_last_of_1500_pages_is_read_alone",
        "services/tools/test_hostile_documents.py::test_the_last_of_1500_pages_is_read_and_the_others_are_left",
        f"{DOCS}::test_beaver_100_1500_heavy_pages_are_read_within_bounded_memory",
    ),
    "llm-for-zotero#282": (
        "zotero/files/test_documents.py::test_each_unreadable_file_has_a_sentence_of_its_own",
        "zotero/files/test_documents.py::test_a_password_is_named",
        "services/tools/test_view_page.py::test_reading_a_scan_names_the_tool_that_shows_it_to_models_that_see_only",
    ),
    "cookjohn#56": (
        f"{HERE}::test_cookjohn_56_mojibake_is_flagged_and_zoteros_own_extract_is_read_if_it_is_better",
        "zotero/files/test_books.py::test_badly_extracted_text_is_told_from_language",
        f"{DOCS}::test_cookjohn_56_words_in_bad_fonts_are_not_called_missing",
        f"{DOCS}::test_cookjohn_56_an_extract_as_bad_as_the_fonts_is_not_preferred",
        f"{DOCS}::test_cookjohn_56_the_usual_mix_ups_are_told",
    ),
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
    "zotero#3392": (
        "zotero/model/test_links.py::test_books_and_snapshots_never_get_a_page",
        f"{DOCS}::test_zotero_3392_links_of_annotations_have_a_page_or_a_place_in_the_book",
    ),
    "beaver#267": (
        "zotero/citing/test_quote_table.py::test_in_real_files_a_quote_verifies_and_its_near_misses_do_not",
        "zotero/test_service.py::test_a_quote_is_looked_up_on_its_page",
        "gui/test_conversation_view.py::test_citation_card_opens_its_page",
        f"{CASES_WINDOW}::test_beaver_267_the_card_shows_the_quote_and_whether_it_was_found",
    ),
    "54yyyu#503": (
        "zotero/online/test_note_html.py::test_54yyyu_503_llm4z_101_tables_formulas_and_citations_survive_both_ways",
        "zotero/online/test_note_html.py::test_a_note_read_back_is_the_same_note",
    ),
    "llm4z#104": (
        "gui/test_markdown.py::test_formula_is_told_from_money_and_code",
        "gui/test_markdown.py::test_formula_is_drawn_with_ink",
        "gui/test_markdown.py::test_bad_tex_is_shown_as_it_was_written",
        "gui/test_formulas.py::test_llm4z_104_a_formula_is_found_in_all_its_signs_and_drawn",
        "gui/test_formulas.py::test_llm4z_238_what_stands_under_a_root_or_a_bar_is_drawn",
        "gui/test_formulas.py::test_llm4z_104_words_on_lines_that_begin_with_an_equals_sign_are_all_shown",
        "gui/test_formulas.py::test_gwdg_144_prices_are_no_formulas",
    ),
    "papersgpt#66": (
        "providers/test_http_provider.py::test_model_ids_with_colons_and_slashes_arrive_as_they_are",
        "settings/test_models.py::test_reference_is_split_at_its_first_slash",
        f"{TALKS}::test_papersgpt_66_gemma3_12b_is_added_asked_and_still_chosen_after_a_restart",
        f"{CASES_WINDOW}::test_papersgpt_66_gemma3_12b_is_added_and_chosen_in_the_window",
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
        "gui/test_settings.py::test_the_data_folder_is_named_and_shown",
    ),
    "llama.cpp#16406": (
        "storage/test_properties.py::test_random_work_never_removes_a_node_and_keeps_the_invariants",
    ),
    "NousResearch/hermes-agent#71960": (
        "storage/test_sessions.py::test_fork_before_checkpoint_does_not_inherit_it",
        f"{WINDOW}::test_fork_opens_a_session_under_its_origin_and_can_be_undone",
        f"{TALKS}::test_hermes_71960_a_fork_never_typed_in_is_there_after_a_restart_with_all_its_ancestors",
        f"{CASES_WINDOW}::test_hermes_71960_a_fork_never_typed_in_stands_in_the_sidebar_after_a_restart",
    ),
    "open-webui#8928": (
        "storage/test_archive.py::test_an_archived_branch_keeps_every_message_and_comes_back",
        f"{WINDOW}::test_a_branch_can_be_archived_brought_back_and_shown",
    ),
    "earendil-works/pi#7253": (
        "services/test_chat.py::test_nothing_to_compact_is_a_success_without_a_request",
        f"{WINDOW}::test_while_streaming_everything_the_table_forbids_is_disabled_with_its_reason",
        f"{TALKS}::test_pi_7253_compact_while_it_compacts_by_itself_is_refused_with_a_reason_and_runs_nothing_twice",
        f"{CASES_WINDOW}::test_pi_7253_compact_is_not_to_be_had_while_it_compacts_by_itself_and_says_why",
    ),
    "claude-code#10306": (
        "services/test_checkpoints.py::test_a_span_larger_than_the_window_is_read_whole_in_requests_that_fit",
    ),
    "claude-code#9796": (
        "domain/test_checkpoint.py::test_invented_keys_are_struck_and_reported_known_ones_stay",
        "services/test_checkpoints.py::test_pins_enter_the_next_checkpoint_and_survive_every_later_one_also_in_a_fork",
        f"{TALKS}::test_claude_code_9796_163_works_are_known_after_a_summary_that_names_one",
    ),
    "openswarm PR#62": ("services/test_chat.py::test_a_fork_before_a_checkpoint_does_not_inherit_it",),
    "anything-llm#2253": ("gui/test_conversation_view.py::test_text_is_followed_only_at_the_end",),
    "locally-uncensored#139": (
        "gui/test_conversation_view.py::test_ten_thousand_rows_open_at_once_at_the_end",
        "gui/test_conversation_view.py::test_delta_costs_little_however_long_the_text_is",
        f"{CASES_WINDOW}::test_locally_uncensored_139_a_key_costs_the_same_among_2000_messages_as_among_two",
    ),
    "Aria#59/#64": (
        "gui/test_theme.py::test_pair_is_readable",
        "gui/test_theme.py::test_open_window_follows_the_text_scale",
        f"{WINDOW}::test_nothing_is_clipped_in_the_window",
        f"{CASES_WINDOW}::test_aria_59_nothing_is_clipped_in_the_window_at_any_size_of_text",
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
    "llm4z#195": (
        "gui/test_window_shape.py::test_the_window_comes_back_as_it_was_left",
        f"{CASES_WINDOW}::test_llm4z_195_the_language_of_the_system_leaks_into_no_request",
    ),
    "Aria#12": (
        f"{HERE}::test_aria_12_at_the_limit_of_steps_the_turn_answers_and_says_why",
        "gui/test_cases_window.py::test_aria_12_an_answer_that_reached_the_limit_can_go_on",
    ),
}
"""By the first reference of each report."""


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}


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
    # The first reference as a whole: #43 is not #431.
    assert {re.split(r"[,;]| \(", report)[0].strip() for report in reports} == set(PROVED)


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


async def until_found(d: Desk, **query: str) -> dict[str, Any]:
    """The first answer with a hit: a busy machine may need longer than one question waits."""
    for _ in range(100):
        found = await d.data("search_items", **query)
        if found["total"]:
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"never found: {query}")


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
async def test_54yyyu_52_a_search_beside_a_running_zotero_sees_what_was_committed_last(
    tmp_path: Path, mode: str
) -> None:
    """54yyyu/zotero-mcp#52, zothero#42."""
    data_dir = sample_copy(tmp_path / "Zotero")
    with writing(data_dir, mode, 0.3) as writer:
        async with tools(tmp_path, data_dir) as d:
            committed = writer.committed
            titles = [i["title"] for i in (await until_found(d, query="state"))["items"]]
            shown = {int(t.removeprefix("state ")) for t in titles if t.startswith("state ")}
            assert len(shown) == 1
            assert shown.pop() >= committed


async def test_54yyyu_292_an_item_that_lies_only_in_the_log_is_found_and_a_stale_state_says_so(
    tmp_path: Path,
) -> None:
    """54yyyu#292, #333."""
    data_dir = sample_copy(tmp_path / "Zotero")
    async with tools(tmp_path, data_dir) as d:
        main = (data_dir / "zotero.sqlite").read_bytes()
        with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA wal_autocheckpoint=0")
            with db:
                db.execute(
                    "UPDATE itemDataValues SET value = 'Zygomorphic practice' WHERE value LIKE 'Practice w%'"
                )
                db.execute("UPDATE items SET clientDateModified = '2030-01-01 00:00:00' WHERE itemID = 1")
            assert b"Zygomorphic" not in main + (data_dir / "zotero.sqlite").read_bytes()
            assert b"Zygomorphic" in (data_dir / "zotero.sqlite-wal").read_bytes()
            (row,) = (await until_found(d, query="zygomorphic"))["items"]
            assert row["title"] == "Zygomorphic practice"
        assert not d.library.status.stale
        (data_dir / "zotero.sqlite").write_bytes(b"torn")
        await d.data("search_items", query="zygomorphic")
        assert d.library.status.stale
        assert d.library.status.notice


async def test_lit_lake_16_a_note_that_cannot_be_parsed_hides_nothing_else(tmp_path: Path) -> None:
    """ElliotRoe/lit-lake#16."""
    broken = ["<div><p>" * 3_000, "<![CDATA[ <p", "\x00<b>" + "\ud7ff" * 9, '<span data-citation="%7B%22">x']
    for number, html in enumerate([*broken, b"\x80\xff<p>bytes"]):
        data_dir = sample_copy(tmp_path / f"Zotero{number}")
        with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
            (note,) = db.execute("SELECT itemID FROM itemNotes ORDER BY itemID LIMIT 1").fetchone()
            value = "CAST(? AS TEXT)" if isinstance(html, bytes) else "?"
            db.execute(f"UPDATE itemNotes SET note = {value} WHERE itemID = ?", (html, note))
            (key,) = db.execute("SELECT key FROM items WHERE itemID = ?", (note,)).fetchone()
        async with tools(tmp_path / str(number), data_dir) as d:
            assert d.library.status.items == 31
            (shown,) = (await d.data("get_notes", note_ids=[f"u-{key}"]))["notes"]
            assert shown["id"] == f"u-{key}"
            assert (await d.data("search_items", query="sleep"))["total"] > 5
            assert (await d.data("get_annotations", limit=50))["total"] > 5


async def test_54yyyu_85_every_tool_reads_the_directory_that_the_profile_names(tmp_path: Path) -> None:
    """54yyyu#85, #68, #367. Two profiles; the default one has its data elsewhere, as prefs.js says."""
    named = sample_copy(tmp_path / "disk" / "My data")
    root = tmp_path / ".zotero" / "zotero"
    prefs = pref("useDataDir", "true") + pref("dataDir", f'"{named}"')
    profile(root, "other")
    profile(root, "main", prefs, default=True)
    candidate = find_libraries(tmp_path, "linux", {})[0]
    library = library_of(candidate, tmp_path / "private")
    try:
        d = Desk(library)
        await library.index_texts()
        for tool in ("search_items", "search_fulltext"):
            assert (await d.data(tool, query="sleep"))["total"] > 5
        for tool in ("list_items", "list_collections", "list_tags", "get_notes", "get_annotations"):
            assert (await d.data(tool))["total"] > 0
        item = d.item("Practice with Sleep")
        assert (await d.data("read_document", attachment_id=item.id))["pages_total"] == 3
        assert library.attachment(item.attachments[0].id).path.is_relative_to(named)  # type: ignore[union-attr]
    finally:
        await library.close()


async def test_54yyyu_389_a_linked_file_without_a_base_folder_is_named_not_left_out(tmp_path: Path) -> None:
    """54yyyu#389."""
    data_dir = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        db.execute(
            "UPDATE itemAttachments SET linkMode = 2, path = 'attachments:hu.pdf'"
            " WHERE path = 'storage:Hu - 2020.pdf'"
        )
    async with tools(tmp_path, data_dir) as d:
        item = d.item("Promoting memory")
        (row,) = (await d.data("get_items", ids=[item.id]))["items"]
        assert row["attachments"][0]["status"] == "missing"
        assert "base directory" in await d.error("read_document", attachment_id=item.attachments[0].id)


async def test_54yyyu_163_without_a_scope_all_libraries_are_searched_and_rows_say_which(
    tmp_path: Path,
) -> None:
    """54yyyu#163; 54yyyu#123: the same work in two libraries is two rows with two links."""
    async with tools(tmp_path) as d:
        found = await d.data("search_items", query="How robust are sleep-mediated memory benefits")
        assert {row["library"] for row in found["items"]} == {"My Library", "Journal club"}
        assert "all libraries" in found["scope"]
        rows = [(await d.data("get_items", ids=[row["id"]]))["items"][0] for row in found["items"]]
        assert any(row["link"].startswith("zotero://select/groups/4000001/") for row in rows)
        assert any(row["link"].startswith("zotero://select/library/") for row in rows)


SLOW = """
import sys, time
sys.stdin.readline()
time.sleep(600)
"""


async def test_54yyyu_198_a_slow_document_holds_up_no_search_and_can_be_cancelled(tmp_path: Path) -> None:
    """54yyyu PR#198, #456; Aria#12."""
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    library = opened_library(SAMPLE, tmp_path / "private", command=(sys.executable, str(script)))
    try:
        d = Desk(library)
        await library.ensure_loaded()
        reading = asyncio.ensure_future(d.run("read_document", attachment_id=d.item("Practice with").id))
        await asyncio.sleep(0.2)
        async with asyncio.timeout(15):
            found = await asyncio.gather(*(d.data("search_items", query=q) for q in ("sleep", "ripples")))
            assert all(f["total"] for f in found)
            assert not reading.done()
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
    finally:
        await library.close()


async def test_cookjohn_56_mojibake_is_flagged_and_zoteros_own_extract_is_read_if_it_is_better(
    tmp_path: Path,
) -> None:
    """cookjohn#56."""
    data_dir = sample_copy(tmp_path / "Zotero")
    path = next((data_dir / "storage").glob("*/Hu - 2020.pdf"))
    unreadable = "ÔÚË¯ÃßÖÐµÄ¼ÇÒä¹®¹Ì".encode("latin-1") * 5
    path.write_bytes(
        pages(2)
        .replace(b"Helvetica", b"Helvetica/Encoding/WinAnsiEncoding")
        .replace(b"This is page", unreadable)
    )
    async with tools(tmp_path, data_dir) as d:
        att = d.item("Promoting memory").attachments[0].id
        flagged = await d.data("read_document", attachment_id=att)
        assert "do not quote" in flagged["garbled"]
        (path.parent / ".zotero-ft-cache").write_text("睡眠对记忆巩固的作用。" * 20, "utf-8")
        better = await d.data("read_document", attachment_id=att, max_chars=200)
        assert better["page_unknown"]
        assert better["text"].startswith("睡眠对记忆")
        assert "fonts" in better["why"]
        rest = await d.data("read_document", **better["next"])
        assert better["text"] + rest["text"] == "睡眠对记忆巩固的作用。" * 20


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
