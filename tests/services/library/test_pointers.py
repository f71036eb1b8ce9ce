"""What text and clipboards point at: every form in which Zotero and people name an item."""

from __future__ import annotations

import json
import struct

import pytest

from bibgenie_desktop.services.library.payloads import Payload, names_resources, pointers_of
from bibgenie_desktop.services.library.pointers import Pointer, of_link, only_pointers, pointers_in


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("zotero://select/library/items/HUTM2224", Pointer("u-HUTM2224")),
        ("zotero://select/groups/4000001/items/HUTM2224", Pointer("g4000001-HUTM2224")),
        ("zotero://select/library/collections/ABCDEFGH/items/HUTM2224", Pointer("u-HUTM2224")),
        ("zotero://select/items/0_HUTM2224", Pointer("u-HUTM2224")),
        ("zotero://select/items/@hu2020", Pointer(citekey="hu2020")),
        ("zotero://open-pdf/library/items/HUTM2224?page=4", Pointer("u-HUTM2224", page=4)),
        (
            "zotero://open/groups/7/items/HUTM2224?page=4&annotation=ABCDEFGH",
            Pointer("g7-HUTM2224", page=4, annotation="ABCDEFGH"),
        ),
        ("https://www.zotero.org/someone/items/HUTM2224", Pointer("u-HUTM2224")),
        ("https://www.zotero.org/groups/41/journal_club/items/HUTM2224/library", Pointer("g41-HUTM2224")),
        ("http://zotero.org/users/123/items/HUTM2224", Pointer("u-HUTM2224")),
        ("http://zotero.org/groups/9/items/HUTM2224", Pointer("g9-HUTM2224")),
        ("https://doi.org/10.1037/bul0000223", Pointer(doi="10.1037/bul0000223")),
        ("https://example.org/items/HUTM2224", None),
        ("zotero://select/library/collections/ABCDEFGH", None),
        ("zotero://report/library/items/HUTM2224", None),
    ],
)  # fmt: skip
def test_a_link_leads_where_it_says(link: str, expected: Pointer | None) -> None:
    assert of_link(link) == expected


def test_ids_markers_and_dois_of_a_text_are_found_in_order_and_once() -> None:
    text = (
        'See [[u-HUTM2224 p.4 "real but small"]] and u-ABCDEFGH, doi:10.1037/bul0000223. '
        "Again u-ABCDEFGH (https://doi.org/10.1037/BUL0000223)."
    )
    assert pointers_in(text) == (
        Pointer("u-HUTM2224", page=4, quote="real but small"),
        Pointer("u-ABCDEFGH"),
        Pointer(doi="10.1037/bul0000223"),
    )


def test_an_annotation_as_zotero_copies_it_is_one_pointer_with_its_words() -> None:
    text = (
        "“Sleep is of the brain, by the brain” ([Hobson, 2005, p. 1254]"
        "(zotero://select/library/items/HUTM2224)) ([pdf]"
        "(zotero://open-pdf/library/items/PDFK2345?page=2&annotation=ANNK2345)) my remark"
    )
    assert only_pointers(text)
    assert pointers_in(text) == (
        Pointer(
            "u-PDFK2345",
            page=2,
            annotation="ANNK2345",
            quote="Sleep is of the brain, by the brain",
            comment="my remark",
        ),
    )


def test_several_copied_annotations_keep_their_own_words() -> None:
    link = "zotero://open-pdf/library/items/PDFK2345?page={0}&annotation={1}"
    first = f"“One” ([pdf]({link.format(1, 'ANNK2345')}))"
    second = f"“Two” ([pdf]({link.format(2, 'ANNM2345')})) mine"
    found = pointers_in(f"{first}\n\n{second}")
    assert [(p.annotation, p.quote, p.comment) for p in found] == [
        ("ANNK2345", "One", ""),
        ("ANNM2345", "Two", "mine"),
    ]
    assert only_pointers(f"{first}\n\n{second}")
    assert not only_pointers(f"{first}\n\nWhat does this mean for memory?")


@pytest.mark.parametrize(
    "text",
    [
        "zotero://select/library/items/HUTM2224",
        "u-HUTM2224, g7-ABCDEFGH",
        "10.1037/bul0000223",
        "[Hu et al. 2020](zotero://select/library/items/HUTM2224)",
        "[[u-HUTM2224 p.4]]",
    ],
)
def test_a_text_that_only_names_works_is_attached(text: str) -> None:
    assert names_resources(Payload(text=text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What does sleep do?",
        "Please compare zotero://select/library/items/HUTM2224 with the newer review.",
        "Is 10.1037/bul0000223 retracted, and by whom?",
        "see https://example.org",
    ],
)
def test_pasted_prose_stays_prose(text: str) -> None:
    assert not names_resources(Payload(text=text))


def test_a_dragged_reference_means_the_work() -> None:
    reference = "Hu, X. (2020). Promoting memory consolidation. Psychological Bulletin. https://doi.org/10.1037/bul0000223"
    assert names_resources(Payload(text=reference, dropped=True))
    assert not names_resources(Payload(text=reference))
    assert pointers_of(Payload(text=reference, dropped=True)) == (Pointer(doi="10.1037/bul0000223"),)


def packed(pairs: dict[str, str]) -> bytes:
    data = b""
    for name, value in pairs.items():
        data += struct.pack(">I", 1)
        for text in (name, value):
            raw = text.encode("utf-16-le")
            data += struct.pack(">I", len(raw)) + raw
    return data + struct.pack(">I", 0)


def test_a_dragged_annotation_is_read_out_of_the_packed_clipboard() -> None:
    annotation = {
        "id": "ANNK2345",
        "text": "Sleep  is\nof the brain",
        "comment": "nice",
        "pageLabel": "1254",
        "position": {"pageIndex": 1},
        "attachmentURI": "http://zotero.org/users/1/items/PDFK2345",
    }
    data = packed({"zotero/annotation": json.dumps([annotation]), "text/x": "y"})
    payload = Payload(formats=(("application/x-moz-custom-clipdata", data),), text="“Sleep”")
    assert pointers_of(payload) == (
        Pointer("u-PDFK2345", "", "", 2, "1254", "ANNK2345", "Sleep is of the brain", "nice"),
    )


@pytest.mark.parametrize(
    "data", [b"", b"\x00", packed({"a": "b"})[:11], b"\x00\x00\x00\x01\xff\xff\xff\xff" * 3]
)
def test_a_broken_clipboard_names_nothing(data: bytes) -> None:
    assert pointers_of(Payload(formats=(("application/x-moz-custom-clipdata", data),))) == ()


def test_our_own_drag_names_ids() -> None:
    payload = Payload(
        formats=(("application/x-bibgenie-zotero-ids", b"u-HUTM2224\nnonsense\ng7-ABCDEFGH"),), text="x"
    )
    assert pointers_of(payload) == (Pointer("u-HUTM2224"), Pointer("g7-ABCDEFGH"))
