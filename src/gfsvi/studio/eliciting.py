"""Questions that elicit: which of these functions could be yours?

A belief over length scale and standard deviation of the first block, on a grid of both in
logarithms, is multiplied for each function that was shown by how likely its answer is: a function
is taken for one's own if its parameters are near, and rarely otherwise.
"""

from typing import Any

import numpy as np

from gfsvi.plain.kernels import CORRELATIONS, StationaryKernel
from gfsvi.studio.looking import numbers, stable_factor
from gfsvi.studio.reading import Reader, WorkspaceError
from gfsvi.studio.workspace import Workspace

NUM_SHOWN, NUM_POINTS, MAX_ANSWERS = 5, 120, 200
LENGTHS = np.geomspace(0.01, 3.0, 41)
"""Of the range that is looked at."""
STDS = np.geomspace(0.05, 8.0, 31)
"""Of the standard deviation of the target."""
FIRST, FIRST_DOUBT = np.log([0.2, 1.0]), np.array([1.0, 0.8])
"""Mean and standard deviation of the logarithms before any answer."""
TOLERANCE = 0.45
"""How far apart, in natural logarithms, functions are that are taken for each other."""
MISTAKES = 0.08
"""How often an answer says nothing."""
SETTLED = 0.35
"""The standard deviation of the belief, in natural logarithms, at which questions may end."""


def elicited(workspace: Workspace, answers: Any) -> dict[str, Any]:
    """The next functions to choose from, and what the answers say so far."""
    family = _family(workspace)
    given = _read(answers)
    belief = belief_after(given)
    width = workspace.view.high - workspace.view.low
    spread = workspace.scale.target_spread
    mean, doubt = _moments(belief)
    random = np.random.default_rng([workspace.view.seed, len(given)])
    shown = _candidates(belief, random)
    along = np.linspace(0, 1, NUM_POINTS)
    return {
        "along": numbers(workspace.view.low + width * along),
        "functions": [
            {
                "length": float(length),
                "std": float(std),
                "values": numbers(
                    workspace.scale.values(_function(family, along, length, std, random))
                ),
            }
            for length, std in shown
        ],
        "lengthscale": float(np.exp(mean[0]) * width),
        "std": float(np.exp(mean[1]) * spread),
        "doubt": [round(float(d), 3) for d in doubt],
        "settled": bool(np.all(doubt < SETTLED)),
        "num_answers": len(given),
    }


def belief_after(answers: list[tuple[float, float, bool]]) -> np.ndarray:
    """The probability (length, std) of each pair of parameters."""
    lengths, stds = np.log(LENGTHS)[:, None], np.log(STDS)[None]
    belief = -0.5 * ((lengths - FIRST[0]) / FIRST_DOUBT[0]) ** 2
    belief = belief - 0.5 * ((stds - FIRST[1]) / FIRST_DOUBT[1]) ** 2
    for length, std, chosen in answers:
        squared = (lengths - np.log(length)) ** 2 + (stds - np.log(std)) ** 2
        alike = MISTAKES + (1 - 2 * MISTAKES) * np.exp(-0.5 * squared / TOLERANCE**2)
        belief += np.log(alike if chosen else 1 - alike)
    weights = np.exp(belief - belief.max())
    return weights / weights.sum()


def _moments(belief: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of the logarithms."""
    sides = (np.log(LENGTHS), belief.sum(axis=1)), (np.log(STDS), belief.sum(axis=0))
    means = np.array([values @ weights for values, weights in sides])
    squares = np.array([values**2 @ weights for values, weights in sides])
    return means, np.sqrt(np.maximum(squares - means**2, 0))


def _candidates(belief: np.ndarray, random: np.random.Generator) -> list[tuple[float, float]]:
    """Parameters drawn from the belief, far from each other where it is wide."""
    places = random.choice(belief.size, size=200, p=belief.ravel())
    rows, columns = np.unravel_index(places, belief.shape)
    found = np.log(np.stack([LENGTHS[rows], STDS[columns]], axis=1))
    chosen = [found[0]]
    for _ in range(NUM_SHOWN - 1):
        distance = np.min([np.sum((found - one) ** 2, axis=1) for one in chosen], axis=0)
        chosen.append(found[int(np.argmax(distance))])
    order = random.permutation(NUM_SHOWN)
    return [(float(np.exp(chosen[i][0])), float(np.exp(chosen[i][1]))) for i in order]


def _function(
    family: str, along: np.ndarray, length: float, std: float, random: np.random.Generator
) -> np.ndarray:
    kernel = StationaryKernel(CORRELATIONS[family], np.full((1, 1), length), std**2)
    white = random.normal(size=len(along))
    return stable_factor(kernel.gram(along[:, None])) @ white


def _family(workspace: Workspace) -> str:
    """The family of the block that the answers are about: the first with a length scale."""
    for term in workspace.terms:
        if len(term.factors) == 1 and term.factors[0].family in CORRELATIONS:
            return term.factors[0].family
    raise WorkspaceError(
        "the questions expect a block that is smooth or rough, with a length scale; this prior "
        "has none. Add one, or begin with the preset smooth."
    )


def _read(answers: Any) -> list[tuple[float, float, bool]]:
    reader = Reader({"answers": answers or []}, "the questions")

    def one(content: Any) -> tuple[float, float, bool]:
        item = Reader(content, "an answer")
        sizes = item.number("length", positive=True), item.number("std", positive=True)
        return *sizes, item.flag("chosen")

    return list(reader.list("answers", one, MAX_ANSWERS))
