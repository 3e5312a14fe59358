"""The picture of the first page: one sine with a gap, and what a network says under three priors.

`python docs/site/hero.py` fits and writes the numbers, `panels` draws them when the site is built.
The panels are inline, with the colours of the page.
"""

import json
from collections.abc import Iterator
from pathlib import Path

NUMBERS = Path(__file__).with_suffix(".json")
WIDTH, HEIGHT, MOST = 260, 150, 2.6


def measured() -> dict:
    """Fit the sine under a smooth, a rough and a periodic prior."""
    import jax
    import numpy as np

    from gfsvi import Data, Model
    from gfsvi.functions import GaussianProcess
    from gfsvi.kernels import RBF, Matern12, Periodic
    from gfsvi.likelihoods import Normal
    from gfsvi.methods import GFSVI
    from gfsvi.points import LowDiscrepancy

    random = np.random.default_rng(0)
    x = np.repeat([-1.0, 1.0], 20) * random.uniform(0.5, 1, 40)
    y = np.sin(2 * np.pi * x) + 0.1 * random.normal(size=40)
    grid = np.linspace(-2, 2, 121)
    found = {"x": grid.tolist(), "data": np.stack([x, y], 1).round(3).tolist(), "panels": []}
    priors = {
        "smooth": (RBF(0.3), 1e-10),
        "rough": (Matern12(0.3), 1e-10),
        "repeats": (Periodic(period=1.0), 1e-6),
    }
    for name, (kernel, gamma) in priors.items():
        model = Model(GaussianProcess(kernel), Normal(0.1))
        method = GFSVI(points=LowDiscrepancy(60, -2.0, 2.0), gamma=gamma)
        posterior = method(model, Data(x[:, None], y), key=jax.random.key(0)).posterior
        predictive = posterior.predict(grid[:, None])
        found["panels"].append(
            {
                "name": name,
                "kernel": type(kernel).__name__,
                "mean": np.round(predictive.mean, 3).tolist(),
                "std": np.round(predictive.epistemic_std, 3).tolist(),
            }
        )
    return found


def panels() -> Iterator[str]:
    """One figure per prior, as HTML."""
    numbers = json.loads(NUMBERS.read_text())
    for panel in numbers["panels"]:
        yield _figure(panel, numbers["x"], numbers["data"])


def _figure(panel: dict, x: list[float], data: list[list[float]]) -> str:
    def at(place: float, value: float) -> str:
        kept = max(-MOST, min(MOST, value))
        return f"{(place + 2) / 4 * WIDTH:.1f},{(MOST - kept) / (2 * MOST) * HEIGHT:.1f}"

    spread = list(zip(x, panel["mean"], panel["std"], strict=True))
    upper = [at(place, mean + 2 * std) for place, mean, std in spread]
    lower = [at(place, mean - 2 * std) for place, mean, std in reversed(spread)]
    mean = [at(place, mean) for place, mean, _ in spread]
    dots = "".join('<circle cx="{}" cy="{}" r="2.4"/>'.format(*at(*row).split(",")) for row in data)
    said = f"Under a prior that says: {panel['name']}. Mean, two standard deviations and data."
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">'
        f'<polygon class="band" points="{" ".join(upper + lower)}"/>'
        f'<polyline class="mean" points="{" ".join(mean)}"/><g class="rows">{dots}</g></svg>'
        f"<figcaption>{panel['name']}: <code>{panel['kernel']}</code></figcaption></figure>"
    )


if __name__ == "__main__":
    NUMBERS.write_text(json.dumps(measured()) + "\n")
