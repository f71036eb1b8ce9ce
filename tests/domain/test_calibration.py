"""Calibration follows what a provider reports, carefully."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.calibration import LEAST, MARGIN, MOST, Calibration


def learned(*ratios: float) -> Calibration:
    calibration = Calibration()
    for ratio in ratios:
        calibration = calibration.after(round(10_000 * ratio), 10_000)
    return calibration


def test_one_report_changes_nothing_yet() -> None:
    assert learned(0.7).factor == 1.0


def test_from_the_second_report_on_the_estimate_follows() -> None:
    assert 0.7 < learned(0.7, 0.7).factor < 0.8


def test_a_report_without_figures_is_no_report() -> None:
    assert Calibration().after(0, 100) == Calibration().after(100, 0) == Calibration()


@given(st.lists(st.floats(0.05, 20), min_size=2, max_size=30))
def test_the_factor_stays_in_bounds_and_above_the_smallest_ratio(ratios: list[float]) -> None:
    factor = learned(*ratios).factor
    clipped = [min(MOST, max(LEAST, r)) for r in ratios]
    assert LEAST <= factor <= MOST
    assert factor >= min(MOST, MARGIN * min(clipped)) - 1e-3
