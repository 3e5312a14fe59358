"""Recipes: the one meaning of names such as "gfsvi" in estimators, commands and benchmarks."""

import dataclasses

from gfsvi import registry
from gfsvi.covariances.closed_form import ClosedForm
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.covariances.kronecker import Kronecker
from gfsvi.inference.calibration import AbstractCalibration, MostProbable, NoCalibration
from gfsvi.inference.mean_fit import MAX_MEAN_ROWS
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.methods.evidence_search import EvidenceSearch
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.points import UniformBox
from gfsvi.storage.fields import described
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training

HELD_OUT = 0.1
STOCHASTIC = EmpiricalBayes(
    num_starts=1, training=Training(num_steps=75, optimizer=Adam(0.1, batch_size=400))
)
"""Chooses any prior, by gradient steps on batches of rows."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A method and the way its Gaussian-process prior is chosen.

    Args:
        name: What users call it.
        method: The method, with its settings.
        choice: How the parameters of the prior are chosen.
        calibration: How held-out rows set the noise in estimators and on the command line; None
            for the method's own calibration.
        likelihood: The likelihood of numeric targets unless the user gives one; "auto" to choose.
        departures: How it differs from the paper's Algorithm 1, for GFSVI.
    """

    name: str
    method: AbstractMethod
    choice: EmpiricalBayes | EvidenceSearch = STOCHASTIC
    calibration: AbstractCalibration | None = None
    likelihood: str = "auto"
    departures: tuple[str, ...] = ()

    def share_held_out(self, shape: tuple[int, ...], num_outputs: int = 1) -> float:
        """The share of rows of this shape to hold out unless the user says how many.

        None where every row can be left out in closed form and rows are measurement points: what
        the network has learned of other rows by heart would look like a prediction. Held-out
        images decide how much of the closed form to keep.
        """
        most = MAX_MEAN_ROWS if num_outputs == 1 else ClosedForm().rows_as_points(num_outputs)
        is_small = len(shape) == 2 and shape[0] <= most
        return 0.0 if self.leaves_rows_out and is_small else HELD_OUT

    @property
    def leaves_rows_out(self) -> bool:
        """Whether noise and tails are chosen by leaving rows out in closed form."""
        return isinstance(getattr(self.method, "covariance", None), ClosedForm)


DEFAULT = Recipe(
    "gfsvi",
    GFSVI(),
    choice=EvidenceSearch(otherwise=STOCHASTIC),
    departures=(
        "The covariance is the optimum in closed form instead of independent weights.",
        "Measurement points are training inputs and a box instead of the box alone.",
        "The mean is fitted alone before the covariance instead of together with it.",
        "The noise is set by rows that were not seen, in folds or left out in closed form, instead "
        "of by the training rows.",
        "A second network may build on trees, beside the first, instead of one network alone.",
        "Numeric targets are warped, their noise varies and has heavy tails where that helps, "
        "instead of one level of normal noise.",
    ),
)
"""What `GFSVIRegressor()`, `gfsvi fit` and `gfsvi bench` call "gfsvi"."""

TRAINED = Recipe(
    "gfsvi_trained",
    GFSVI(covariance=Kronecker()),
    departures=(
        "The covariance has Kronecker factors per layer instead of independent weights.",
        "Measurement points are training inputs and a box instead of the box alone.",
        "The mean is fitted alone before the covariance instead of together with it.",
        "The noise is set by held-out rows after training instead of by the training rows.",
        "Numeric targets are warped where that helps instead of having one noise level.",
    ),
)
"""GFSVI with a covariance that is trained by gradient steps."""

PAPER = Recipe(
    "gfsvi_paper",
    GFSVI(
        covariance=Diagonal(),
        points=UniformBox(200),
        mean=None,
        training=Training(num_steps=4000, optimizer=Adam(1e-2), evaluate_every=50),
        calibration=NoCalibration(),
    ),
    likelihood="normal",
)
"""The paper's Algorithm 1: independent weights, Adam on the whole objective from the start."""

_NAMED = {recipe.name: recipe for recipe in (DEFAULT, TRAINED, PAPER)}


def recipe_for(method: str | AbstractMethod) -> Recipe:
    """The recipe of that name, or one for this method.

    A method whose calibration is not its default keeps it.
    """
    if isinstance(method, str):
        if method not in _NAMED:
            method = registry.known_name("method", method, descriptions())
        if method in _NAMED:
            return _NAMED[method]
        method = registry.find("methods", method)()
    chooses_prior = isinstance(method, EmpiricalBayes | EvidenceSearch)
    if chooses_prior or not isinstance(method, AbstractMethod):
        got = f"{type(method).__name__}, which only chooses a prior" if chooses_prior else None
        raise ValueError(
            "method expects a method that learns a posterior, or its name; "
            f"got {got or described(method)}. `gfsvi list methods` lists them."
        )
    own = isinstance(method, GFSVI) or _is_calibrated(method)
    return Recipe(type(method).__name__, method, calibration=None if own else MostProbable())


def descriptions() -> dict[str, str]:
    """A sentence about each method that can be named."""
    return registry.methods()


def _is_calibrated(method: AbstractMethod) -> bool:
    """Whether the method has a calibration other than its default."""
    defaults = {field.name: field.default for field in dataclasses.fields(method)}
    own = getattr(method, "calibration", None)
    return "calibration" in defaults and own != defaults["calibration"]
