"""A poor fit does not pass unremarked on the terminal."""

from pathlib import Path

from gfsvi.auto import within_budget

from .test_bad_tables import GOOD, csv


def test_a_poor_fit_is_warned_of_with_the_next_command(run, monkeypatch):
    monkeypatch.setattr(within_budget, "OVERRUN", -100.0)  # every fit is late
    Path("table.csv").write_bytes(csv(GOOD))
    fit = ["fit", "table.csv", "--target", "y", "--kernel", "rbf", "--method", "exact_gp"]
    status, _, remarks = run(*fit, "--time-budget", "5", "--output", "table.gfsvi")
    assert status == 0
    assert "warning: The fit exceeded its time budget: it took" in remarks
    [following] = [line for line in remarks.splitlines() if "time-budget 60 --output" in line]
    expected = "gfsvi fit table.csv --target y --method exact_gp --kernel rbf --time-budget 60"
    assert following == f"  next: {expected} --output table.gfsvi"  # no default is repeated
