"""What a name such as "gfsvi" stands for: one object, wherever it is asked for."""

import dataclasses

from gfsvi import registry
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.inference.calibration import NoCalibration
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.points import UniformBox
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A method and the way its Gaussian-process prior is chosen.

    Args:
        name: What users call it.
        method: The method, with its settings.
        choice: How the prior's parameters are chosen before.
        departures: How it differs from the paper's Algorithm 1, for GFSVI.
    """

    name: str
    method: AbstractMethod
    choice: EmpiricalBayes = EmpiricalBayes(
        num_starts=1, training=Training(num_steps=75, optimizer=Adam(0.1, batch_size=400))
    )
    departures: tuple[str, ...] = ()


DEFAULT = Recipe(
    "gfsvi",
    GFSVI(),
    departures=(
        "covariance: Kronecker factors per layer instead of independent weights",
        "measurement points: training inputs and a box instead of the box alone",
        "mean: fitted alone before the covariance instead of with it",
        "noise: set by held-out rows after training instead of by the training rows",
        "likelihood: a learned warp of the target where it helps instead of one noise level",
    ),
)
"""What `GFSVIRegressor()`, `gfsvi fit` and `gfsvi bench` call "gfsvi"."""

PAPER = Recipe(
    "gfsvi_paper",
    GFSVI(
        covariance=Diagonal(),
        points=UniformBox(200),
        mean=None,
        training=Training(num_steps=4000, optimizer=Adam(1e-2), evaluate_every=50),
        calibration=NoCalibration(),
    ),
)
"""The paper's Algorithm 1: independent weights, Adam on the whole objective from the start."""

_RECIPES = {recipe.name: recipe for recipe in (DEFAULT, PAPER)}


def recipe_for(method: str | AbstractMethod) -> Recipe:
    """The recipe of that name, that of any other method with its defaults, or of a given method."""
    if isinstance(method, str):
        if method in _RECIPES:
            return _RECIPES[method]
        method = registry.find("methods", method)()
        if isinstance(method, GFSVI):  # another spelling of its name
            return DEFAULT
    if isinstance(method, EmpiricalBayes) or not isinstance(method, AbstractMethod):
        raise ValueError(
            "method expects a method that learns a posterior, or its name; "
            f"got {method!r}. `gfsvi list methods` lists them."
        )
    return Recipe(type(method).__name__, method)


def recipe_names() -> tuple[str, ...]:
    """The names of recipes that are not those of a method alone."""
    return tuple(_RECIPES)
