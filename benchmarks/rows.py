"""Seconds and memory of `gfsvi fit` against the number of rows, on made tables.

python -m benchmarks.rows [--sizes 2000000 20000000] [--output results/rows.jsonl]

Each size is a Parquet file of its own, fitted by a process of its own. Sizes whose record is in the
output are not measured again. `--picture PATH` draws all records: the time of a fit that grows in
proportion to the rows is a line of slope one.
"""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.flights import run_measured
from benchmarks.made_rows import write_flights
from benchmarks.recording import append_record, read_records


def measured(num_rows: int) -> dict[str, Any]:
    """One fit, and one prediction of all rows."""
    with tempfile.TemporaryDirectory() as folder:
        table, model = f"{folder}/rows.parquet", f"{folder}/model.gfsvi"
        write_flights(Path(table), num_rows)
        fit = ["fit", table, "--target", "delay", "--hold-out", "random", "--stream", "-q"]
        found = {"rows": num_rows, "load": os.getloadavg()[0]}
        found["fit"] = run_measured([*fit, "-o", model])
        found["predict"] = run_measured(["predict", model, table, "-o", f"{folder}/new.parquet"])
        return found


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Seconds and megabytes against rows, on logarithmic axes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    records = sorted(records, key=lambda record: record["rows"])
    sizes = [record["rows"] for record in records]
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), constrained_layout=True)
    for axes, what in zip(panels, ("processor_seconds", "peak_megabytes"), strict=True):
        for command, colour in (("fit", "#0072b2"), ("predict", "#d55e00")):
            values = [record[command][what] for record in records]
            axes.loglog(sizes, values, "o-", color=colour, label=command)
        axes.set_xlabel("rows")
        axes.set_ylabel(what.replace("_", " "))
        axes.grid(alpha=0.3)
    panels[0].legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure what is not recorded, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[2_000_000, 20_000_000])
    parser.add_argument("-o", "--output", type=Path, default=Path("results/rows.jsonl"))
    parser.add_argument("--picture", type=Path, help="where to draw all records")
    arguments = parser.parse_args()
    known = {record["rows"] for record in read_records(arguments.output)}
    for size in arguments.sizes:
        if size not in known:
            append_record(arguments.output, measured(size))
    if arguments.picture is not None:
        draw(read_records(arguments.output), arguments.picture)


if __name__ == "__main__":
    main()
