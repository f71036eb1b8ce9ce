"""The tools over a Zotero library, in the order in which they are offered: the last to go comes first."""

from __future__ import annotations

from bibgenie_desktop.services.tools.base import Tool
from bibgenie_desktop.services.tools.find_in_document import FindInDocument
from bibgenie_desktop.services.tools.format_citation import FormatCitation
from bibgenie_desktop.services.tools.get_annotations import GetAnnotations
from bibgenie_desktop.services.tools.get_items import GetItems
from bibgenie_desktop.services.tools.get_notes import GetNotes
from bibgenie_desktop.services.tools.get_outline import GetOutline
from bibgenie_desktop.services.tools.get_related import GetRelated
from bibgenie_desktop.services.tools.list_collections import ListCollections
from bibgenie_desktop.services.tools.list_items import ListItems
from bibgenie_desktop.services.tools.list_tags import ListTags
from bibgenie_desktop.services.tools.propose_change import ProposeChange
from bibgenie_desktop.services.tools.read_document import ReadDocument
from bibgenie_desktop.services.tools.search_fulltext import SearchFulltext
from bibgenie_desktop.services.tools.search_items import SearchItems
from bibgenie_desktop.services.tools.view_page import ViewPage
from bibgenie_desktop.services.zotero_changes.executor import ZoteroChanges
from bibgenie_desktop.zotero.service import ZoteroLibrary


def library_tools(library: ZoteroLibrary, changes: ZoteroChanges | None = None) -> tuple[Tool, ...]:
    """`changes` carries out what is proposed; without it the tools are the same, and nothing is written."""
    return (
        SearchItems(library),
        ReadDocument(library),
        FindInDocument(library),
        GetItems(library),
        SearchFulltext(library),
        GetOutline(library),
        ViewPage(library),
        GetAnnotations(library),
        GetNotes(library),
        ProposeChange(library, changes),
        ListItems(library),
        ListCollections(library),
        ListTags(library),
        GetRelated(library),
        FormatCitation(library),
    )
