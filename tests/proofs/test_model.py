"""Random interleavings of everything a session can do, checked after each step against the plain reference.

About 5,000 steps here, a million in `make soak`; `--seeds START:END` goes on somewhere. A failure names its
seed and every step that led to it.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests.harness import Soak
from tests.proofs.driver import Driver
from tests.proofs.world import World

STEPS = 40
"""Operations of one seed; what happens in their middle counts as well, so about 50 steps."""


async def play(folder: Path, seed: int, steps: int = STEPS) -> Driver:
    world = World(folder, seed, automatic=seed % 7 != 3)
    await world.open()
    driver = Driver(world)
    try:
        await driver.run(steps)
    except BaseException as error:
        error.add_note(f"seed {seed}, {len(driver.said)} operations:\n" + "\n".join(driver.said))
        raise
    finally:
        world.inspector.close()
        await world.close()
    return driver


def run_seed(seed: int, steps: int = STEPS) -> Driver:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(play(Path(folder), seed, steps))


MUST_COME_UP = (
    "manual checkpoint",
    "automatic checkpoint",
    "preflight checkpoint",
    "second or later checkpoint",
    "null boundary",
    "folded span",
    "refreshed or condensed",
    "repaired summary",
    "revised",
    "compaction failed",
    "compaction cancelled",
    "compaction stale",
    "compaction nothing",
    "answer complete",
    "answer stopped",
    "answer failed",
    "answer interrupted",
    "card accepted",
    "card declined",
)


@pytest.mark.patience(1_000_000)
def test_random_work_agrees_with_the_reference(soak: Soak) -> None:
    steps = 0
    tried: Counter[str] = Counter()
    reached: Counter[str] = Counter()
    for seed in soak.seeds(100, 20_400):
        driver = run_seed(seed)
        steps += driver.steps
        tried += driver.tried
        reached += driver.world.inspector.reached
    if steps > 4_000:  # else single seeds were asked for
        missed = [name for name in MUST_COME_UP if not (reached + tried)[name]]
        assert not missed, f"{steps} steps never came to {missed}"


@pytest.mark.parametrize("seed", [0, 3, 5, 14, 17, 21, 29, 32, 36, 38, 54, 64, 81, 92, 137])
def test_a_seed_that_once_found_a_fault_finds_none(seed: int) -> None:
    run_seed(seed)
