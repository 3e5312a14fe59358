"""A small table like one of flights: dates, airports, a target with heavy tails."""

import numpy as np
import pandas as pd

NUM_AIRPORTS = 30


def flights(num_rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    minutes = np.sort(random.integers(0, 60 * 24 * 30, num_rows))
    date = pd.Timestamp("2001-01-01") + pd.to_timedelta(minutes, unit="min")
    airports = np.array([f"A{i:02d}" for i in range(NUM_AIRPORTS)])
    effects = np.random.default_rng(9).normal(size=NUM_AIRPORTS)
    origin, destination = random.integers(0, NUM_AIRPORTS, (2, num_rows))
    distance = random.gamma(2, 300, num_rows).round()
    hour = minutes / 60 % 24
    delay = 5 * effects[origin] + 8 * np.sin(hour / 24 * 2 * np.pi) + distance / 300
    delay += random.standard_t(4, num_rows)
    columns = {"date": date, "distance": distance, "origin": airports[origin]}
    return pd.DataFrame(columns | {"destination": airports[destination], "delay": delay.round(2)})
