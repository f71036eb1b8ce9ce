"""Write the bundled sample library: a Zotero data directory in the schema of Zotero 9, the same on every run.

    python packaging/make_sample_library.py [--out resources/sample-library]

The texts come from `sample-library/corpus.json`, the tables from `sample-library/schema-125.sql`; this script
turns them into rows and small PDF files. Nothing but the standard library is needed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sqlite3
import time
import unicodedata
from pathlib import Path
from typing import Any

import sample_pdf

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "sample-library"
USERDATA, GLOBAL_SCHEMA = 125, 42
KEY_LETTERS = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
REMARK = "Sample entry: the abstract and the PDF are short summaries written for BibGenie Desktop."
ANNOTATIONS = {"highlight": 1, "note": 2, "image": 3, "ink": 4, "underline": 5}
START = 1_600_000_000


class Sample:
    """Rows and files of the library while it is made."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.corpus: dict[str, Any] = json.loads((SOURCES / "corpus.json").read_text("utf-8"))
        self.random = random.Random(2)
        self.clock = START
        self.keys: set[str] = set()
        self.values: dict[str, int] = {}
        self.people: dict[tuple[str, str, int], int] = {}
        self.tags: dict[str, int] = {}
        self.rows = 0
        self.db = sqlite3.connect(out / "zotero.sqlite", isolation_level=None)
        self.db.executescript("PRAGMA page_size=4096; PRAGMA auto_vacuum=1; PRAGMA journal_mode=DELETE;")
        self.db.execute("BEGIN")
        for statement in (SOURCES / "schema-125.sql").read_text("utf-8").split(";\n"):
            if statement.strip():
                self.db.execute(statement)

    def put(self, table: str, **columns: Any) -> None:
        names = ", ".join(columns)
        marks = ", ".join("?" * len(columns))
        self.db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(columns.values()))

    # -- the fixed part of every Zotero database

    def system(self) -> None:
        lines = (SOURCES / "item-types.txt").read_text("utf-8").splitlines()
        table = [line.split("|") for line in lines if line and not line.startswith("#")]
        self.types = {row[0]: number for number, row in enumerate(table, 1)}
        self.allowed: dict[str, set[str]] = {}
        self.roles: dict[str, list[str]] = {}
        fields: dict[str, int] = {}
        roles: dict[str, int] = {}
        for name, role_names, field_names in table:
            for field in field_names.replace("=", " ").split():
                fields.setdefault(field, len(fields) + 1)
            for role in role_names.replace("*", "").split():
                roles.setdefault(role, len(roles) + 1)
            self.allowed[name] = {f.partition("=")[0] for f in field_names.split()}
            self.roles[name] = sorted(role_names.split(), key=lambda r: not r.endswith("*"))
        self.fields, self.role_ids = fields, roles
        for name, number in self.types.items():
            self.put("itemTypes", itemTypeID=number, typeName=name, display=1)
            self.put("itemTypesCombined", itemTypeID=number, typeName=name, display=1, custom=0)
        for name, number in fields.items():
            self.put("fields", fieldID=number, fieldName=name)
            self.put("fieldsCombined", fieldID=number, fieldName=name, custom=0)
        for name, number in roles.items():
            self.put("creatorTypes", creatorTypeID=number, creatorType=name)
        for name, role_names, field_names in table:
            kind = self.types[name]
            for order, field in enumerate(field_names.split()):
                own, _, base = field.partition("=")
                for suffix in ("", "Combined"):
                    row = {"itemTypeID": kind, "fieldID": fields[own], "hide": 0, "orderIndex": order}
                    self.put(f"itemTypeFields{suffix}", **row)
                    if base:
                        mapping = {"itemTypeID": kind, "baseFieldID": fields[base], "fieldID": fields[own]}
                        self.put(f"baseFieldMappings{suffix}", **mapping)
            for role in role_names.split():
                row = {"itemTypeID": kind, "creatorTypeID": roles[role.rstrip("*")]}
                self.put("itemTypeCreatorTypes", **row, primaryField=int(role.endswith("*")))
        versions = {"userdata": USERDATA, "globalSchema": GLOBAL_SCHEMA, "system": 32, "triggers": 18}
        for name, number in {**versions, "compatibility": 7, "delete": 74}.items():
            self.put("version", schema=name, version=number)
        self.put("settings", setting="account", key="localUserKey", value="sAmPlE01")
        self.put("libraries", libraryID=1, type="user", editable=1, filesEditable=1)
        self.put("libraries", libraryID=2, type="group", editable=1, filesEditable=1)
        group = self.corpus["group"]
        self.put("groups", groupID=group["id"], libraryID=2, name=group["name"], description="", version=1)
        self.put("relationPredicates", predicateID=1, predicate="owl:sameAs")
        self.put("relationPredicates", predicateID=2, predicate="dc:relation")

    # -- pieces

    def key(self) -> str:
        while True:
            key = "".join(self.random.choices(KEY_LETTERS, k=8))
            if key not in self.keys:
                self.keys.add(key)
                return key

    def now(self) -> str:
        self.clock += self.random.randrange(60, 90_000)
        return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(self.clock))

    def item(self, kind: str, library: int = 1) -> tuple[int, str]:
        self.rows += 1
        key, now = self.key(), self.now()
        dates = {"dateAdded": now, "dateModified": now, "clientDateModified": now}
        self.put("items", itemID=self.rows, itemTypeID=self.types[kind], libraryID=library, key=key, **dates)
        return self.rows, key

    def set_fields(self, row: int, kind: str, fields: dict[str, str]) -> None:
        for name, value in fields.items():
            if not value or name not in self.allowed[kind]:
                continue
            if value not in self.values:
                self.values[value] = len(self.values) + 1
                self.put("itemDataValues", valueID=self.values[value], value=value)
            self.put("itemData", itemID=row, fieldID=self.fields[name], valueID=self.values[value])

    def set_creators(self, row: int, kind: str, names: list[str]) -> None:
        main = self.roles[kind][0].rstrip("*")
        for order, name in enumerate(names):
            if name.startswith("="):
                person = ("", name[1:], 1)
            else:
                last, _, first = name.partition(", ")
                person = (first, last, 0)
            if person not in self.people:
                number = self.people[person] = len(self.people) + 1
                first, last, mode = person
                self.put("creators", creatorID=number, firstName=first, lastName=last, fieldMode=mode)
            link = {"creatorID": self.people[person], "creatorTypeID": self.role_ids[main]}
            self.put("itemCreators", itemID=row, orderIndex=order, **link)

    def set_tags(self, row: int, names: list[str]) -> None:
        for name in names:
            bare = name.lstrip("*")
            if bare not in self.tags:
                self.tags[bare] = len(self.tags) + 1
                self.put("tags", tagID=self.tags[bare], name=bare)
            self.put("itemTags", itemID=row, tagID=self.tags[bare], type=int(name.startswith("*")))

    def attach(self, parent: int, name: str, data: bytes | None, pages: int, library: int = 1) -> int:
        row, key = self.item("attachment", library)
        self.put(
            "itemAttachments",
            itemID=row,
            parentItemID=parent,
            linkMode=1 if row % 2 else 0,
            contentType="application/pdf",
            path=f"storage:{name}",
            syncState=0 if data else 1,
            storageModTime=self.clock * 1000,
            storageHash=hashlib.md5(data or b"", usedforsecurity=False).hexdigest(),
        )
        self.set_fields(row, "attachment", {"title": "Full Text PDF"})
        if data is not None:
            folder = self.out / "storage" / key
            folder.mkdir(parents=True)
            (folder / name).write_bytes(data)
            self.put("fulltextItems", itemID=row, indexedPages=pages, totalPages=pages)
        return row

    def annotate(self, attachment: int, mark: list[Any], pages: list[Any], first: int) -> None:
        kind, page, quote, comment, colour, tags = mark
        if not quote:
            return
        row, _ = self.item("annotation")
        at, rects = sample_pdf.find(pages[page], quote)
        self.put(
            "itemAnnotations",
            itemID=row,
            parentItemID=attachment,
            type=ANNOTATIONS[kind],
            authorName="",
            text=quote,
            comment=comment or None,
            color=colour,
            pageLabel=str(first + page),
            sortIndex=f"{page:05d}|{at:06d}|{int(792 - rects[0][3]):05d}",
            position=json.dumps({"pageIndex": page, "rects": rects}, separators=(",", ":")),
            isExternal=0,
        )
        self.set_tags(row, tags)

    # -- the library

    def fill(self) -> None:
        self.system()
        collections: dict[str, int] = {}
        for name, parent in self.corpus["collections"]:
            number = collections[name] = len(collections) + 1
            above = collections.get(parent)
            row = {"collectionID": number, "collectionName": name, "parentCollectionID": above}
            self.put("collections", **row, clientDateModified=self.now(), libraryID=1, key=self.key())
        made = {}
        for entry in self.corpus["items"]:
            made[entry["id"]] = row, _ = self.add(entry, 1)
            for order, name in enumerate(entry["collections"]):
                self.put("collectionItems", collectionID=collections[name], itemID=row, orderIndex=order)
        pairs = {(e["id"], r) for e in self.corpus["items"] for r in e.get("related", []) if r in made}
        for one, other in sorted(pairs | {(b, a) for a, b in pairs}):
            uri = f"http://zotero.org/users/local/sAmPlE01/items/{made[other][1]}"
            self.put("itemRelations", itemID=made[one][0], predicateID=2, object=uri)
        for name in self.corpus["group"]["items"]:
            self.add(next(e for e in self.corpus["items"] if e["id"] == name), 2)
        self.db.execute("COMMIT")
        self.db.execute("VACUUM")
        self.db.close()

    def add(self, entry: dict[str, Any], library: int) -> tuple[int, str]:
        kind = entry["type"]
        row, key = self.item(kind, library)
        fields = {"title": entry["title"], "abstractNote": entry["abstract"], **entry["fields"]}
        extra = fields.get("extra", "")
        if "Citation Key" not in extra and library == 1:
            fields["citationKey"] = entry["citekey"]
        fields["extra"] = f"{REMARK}\n{extra}".strip()
        self.set_fields(row, kind, fields)
        self.set_creators(row, kind, entry["creators"])
        self.set_tags(row, entry["tags"])
        for note in entry.get("notes", []) if library == 1 else []:
            number, _ = self.item("note", library)
            html = f'<div class="zotero-note znv1">{note}</div>'
            title = note.partition("<h1>")[2].partition("</h1>")[0] or "Note"
            self.put("itemNotes", itemID=number, parentItemID=row, note=html, title=title)
        self.add_file(entry, row, library)
        return row, key

    def add_file(self, entry: dict[str, Any], row: int, library: int) -> None:
        family = entry["creators"][0].lstrip("=").partition(",")[0]
        plain = unicodedata.normalize("NFKD", family).encode("ascii", "ignore").decode()
        name = f"{plain} - {entry['fields']['date'][:4]}.pdf"
        start = entry["fields"].get("pages", "1").partition("-")[0]
        first = int(start) if start.isdigit() else 1
        if entry.get("scan"):
            self.attach(row, name, sample_pdf.make_scan(2, entry["title"]), 2, library)
        elif entry.get("missing"):
            self.attach(row, name, None, 0, library)
        elif texts := entry.get("pages"):
            pages = [sample_pdf.lay_out(heading, text, entry["title"]) for heading, text in texts]
            data = sample_pdf.make(pages, entry["title"], first)
            attachment = self.attach(row, name, data, len(pages), library)
            for mark in entry["annotations"] if library == 1 else []:
                self.annotate(attachment, mark, pages, first)


def build(out: Path) -> None:
    """Write the library into `out`, replacing what is there."""
    if out.exists():
        shutil.rmtree(out)
    out.mkdir(parents=True)
    (out / "storage").mkdir()
    Sample(out).fill()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=HERE.parent / "resources" / "sample-library")
    build(parser.parse_args().out)


if __name__ == "__main__":
    main()
