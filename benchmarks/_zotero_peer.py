"""Runs another program's own functions on a library, in that program's virtual environment.

Standard library only. Prints one line of JSON: milliseconds of each run, without the time of imports.
Arguments: the program, Zotero's data directory, what to do, how often, a JSON file of queries.
"""

from __future__ import annotations

import gc
import json
import logging
import sys
import time
import warnings
from pathlib import Path
from typing import Any

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)


def mcp_server(database: Path) -> dict[str, Any]:
    from zotero_mcp.local_db import LocalZoteroReader  # type: ignore[import-not-found]

    def reader() -> Any:
        return LocalZoteroReader(db_path=str(database))

    return {
        "first": lambda _: reader().get_recent_items(limit=100),
        "all": lambda _: reader().get_items_with_text(),
    }


def cli_ai(database: Path) -> dict[str, Any]:
    from zotero_cli_cc.core.reader import ZoteroReader  # type: ignore[import-not-found]

    reader = ZoteroReader(database)
    return {
        "first": lambda _: ZoteroReader(database).search("", sort="dateModified", limit=100).items,
        "search": lambda query: reader.search(query, limit=20).items,
    }


def cli_anything(database: Path) -> dict[str, Any]:
    from cli_anything.zotero.utils import zotero_sqlite as z  # type: ignore[import-not-found]

    return {
        "first": lambda _: z.fetch_items(database, library_id=1, limit=100),
        "lists": lambda _: (
            z.build_collection_tree(z.fetch_collections(database)),
            z.fetch_tags(database),
        ),
    }


PROGRAMS = {
    "zotero-mcp-server": mcp_server,
    "zotero-cli-ai": cli_ai,
    "cli-anything-zotero": cli_anything,
}


def main() -> None:
    program, data_dir, operation, runs, queries = sys.argv[1:6]
    work = PROGRAMS[program](Path(data_dir) / "zotero.sqlite")[operation]
    asked = json.loads(Path(queries).read_text("utf-8")) if operation == "search" else [""] * int(runs)
    if operation == "search":
        work(asked[0])
    spent = []
    found = 0
    for query in asked:
        gc.collect()
        started = time.perf_counter()
        answer = work(query)
        spent.append(1e3 * (time.perf_counter() - started))
        found += bool(answer)
        del answer
    print(json.dumps({"ms": spent, "found": found}))


if __name__ == "__main__":
    main()
