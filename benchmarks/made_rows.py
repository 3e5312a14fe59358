"""Made tables of any size, written piece by piece."""

from pathlib import Path

import numpy as np

ROWS, AIRPORTS = 2**16, 50


def write_flights(path: Path, num_rows: int) -> None:
    """Write rows like those of flights: a date, a distance, two airports and a delay."""
    import pyarrow
    from pyarrow import parquet

    effects = np.random.default_rng(9).normal(size=AIRPORTS)
    names = np.array([f"A{number:02d}" for number in range(AIRPORTS)])
    writer = None
    for start in range(0, num_rows, ROWS):
        count, random = min(ROWS, num_rows - start), np.random.default_rng([1, start])
        # A year, whatever the number of rows.
        minutes = (start + np.arange(count)) * (525_600 / num_rows)
        first = np.datetime64("2001-01-01", "ms")
        date = first + (minutes * 60_000).astype("timedelta64[ms]")
        origin, destination = random.integers(0, AIRPORTS, (2, count))
        distance = random.gamma(2, 300, count).round()
        delay = 5 * effects[origin] + 8 * np.sin(minutes / 1440 * 2 * np.pi) + distance / 300
        delay += 3 * random.standard_t(4, count)
        columns = {"date": date, "distance": distance, "origin": names[origin]}
        rows = pyarrow.table(columns | {"destination": names[destination], "delay": delay.round(2)})
        writer = writer or parquet.ParquetWriter(path, rows.schema)
        writer.write_table(rows)
    if writer is not None:
        writer.close()
