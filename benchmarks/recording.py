"""Records of a benchmark: one line of JSON each, so that a second run measures what is missing."""

import json
from pathlib import Path
from typing import Any

import numpy as np

Record = dict[str, Any]


def read_records(path: Path) -> list[Record]:
    """The records of a file; none if there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append_record(path: Path, record: Record) -> None:
    """Append a record to a file and print it."""
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")
    print(json.dumps(record), flush=True)


def print_means(records: list[Record], name: str, metrics: tuple[str, ...]) -> None:
    """Print the mean and standard error of each metric over the folds of a table."""
    chosen = [record for record in records if record["dataset"] == name]
    for metric in metrics:
        values = np.array([record[metric] for record in chosen])
        error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
        print(f"{name} {metric} {values.mean():.4f} +- {error:.4f}", flush=True)
