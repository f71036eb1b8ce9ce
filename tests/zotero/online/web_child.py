"""Another process that fetches a web library, to be killed while it does."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.zotero.online.web_bench import account_in, sync

if __name__ == "__main__":
    sync(account_in(Path(sys.argv[1]), sys.argv[2]), sys.argv[3])
