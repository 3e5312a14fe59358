"""Fits to report on: stand-ins for `Fitted`, of small real tables."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer, load_diabetes, load_linnerud

from gfsvi import Model
from gfsvi.auto.importance import Importance, importance
from gfsvi.auto.targets import Labels, Numbers
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Categorical, Normal
from gfsvi.predictives import CategoricalPredictive, NormalPredictive
from gfsvi.report import Evidence, gather, render
from gfsvi.tables import Preparation
from gfsvi.training.history import History

NOISE = 0.7
SCRIPT = "<script>alert(1)</script>"
WARNING = SimpleNamespace(
    name="still_improving",
    severity="warning",
    title="Training was short",
    message="The score on held-out rows was still rising after 60 steps.",
    remedy="Raise `num_steps`.",
)


@dataclasses.dataclass(frozen=True)
class Settings:
    hidden: tuple[int, ...] = (20, 20)
    num_points: int = 100
    gamma: float = 1e-10
    seed: int = 0
    kernel: str = "Matern52"


class StandIn(SimpleNamespace):
    """What the report needs from a `Fitted`: a process in NumPy, which compiles nothing."""

    first_predictions = None

    def predict(self, x: np.ndarray) -> NormalPredictive | CategoricalPredictive:
        mean, variance = self.moments(x)
        if isinstance(self.target, Labels):
            noise = np.random.default_rng(0).normal(size=(100, *mean.shape))
            logits = mean + noise * np.sqrt(variance)[:, None]
            return CategoricalPredictive(log_softmax(logits, axis=-1))
        variance = np.tile(variance[:, None], (1, mean.shape[1]))
        parts = (mean, variance, NOISE**2 * np.ones_like(mean))
        mean, epistemic, aleatoric = (part[:, 0] if part.shape[1] == 1 else part for part in parts)
        spread, square = self.target.spread, self.target.spread**2
        mean = mean * spread + self.target.centre
        return NormalPredictive(mean, epistemic * square, aleatoric * square)

    def importance(self, x: np.ndarray, weights: np.ndarray | None = None) -> Importance:
        def respond(rows: np.ndarray) -> np.ndarray:
            return self.moments(rows)[0][
                :, None if isinstance(self.target, Labels) else slice(None)
            ]

        groups = self.preparation.features_of_columns
        return importance(respond, x, groups, weights=weights)

    def novelty(self, x: np.ndarray) -> np.ndarray:
        return np.clip(self.moments(x)[1], 0, 1)

    def moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cross = self.correlations(self.standardized(x), self.inside)
        gram = self.correlations(self.inside, self.inside) + NOISE**2 * np.eye(len(self.inside))
        weights = np.linalg.solve(gram, cross.T).T
        return weights @ self.observed, np.maximum(1 - np.sum(weights * cross, axis=1), 1e-6)

    def standardized(self, x: np.ndarray) -> np.ndarray:
        return (x - self.input_centre) / self.input_spread

    def correlations(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        scales = np.asarray(self.lengthscales)
        distance = np.sqrt(5) * cdist(x / scales, z / scales)
        return (1 + distance + distance**2 / 3) * np.exp(-distance)


def fitted(frame: pd.DataFrame, target: Any) -> StandIn:
    """Fit a table, with a made-up learning curve."""
    preparation = Preparation.learn(frame, target)
    usable = preparation.usable_rows(frame)
    x, y = preparation.inputs(frame[usable]), preparation.observations(frame[usable])
    if preparation.classes:
        scale = Labels(preparation.classes)
        y = 6.0 * np.eye(len(preparation.classes))[y] - 3.0
    else:
        scale = Numbers(y.mean(axis=0), y.std(axis=0))
        y = scale.standardized(y).reshape(len(x), -1)
    held_out = np.arange(0, len(x), 5)
    lengthscales = np.geomspace(2.0, 60.0, x.shape[1])
    prior = GaussianProcess(Matern52(lengthscales), outputs=y.shape[1])
    likelihood = Categorical() if preparation.classes else Normal(NOISE)
    steps = np.arange(1, 61)
    history = History({"objective": -1.2 - 4 / steps}, steps[9::10], -1.1 - 1 / steps[9::10], 60)
    made = StandIn(
        prior=Model(prior, likelihood),
        posterior=Model(prior, likelihood),
        history=history,
        settings=Settings(),
        diagnostics=(WARNING,),
        preparation=preparation,
        feature_names=preparation.feature_names,
        validation_rows=held_out,
        target=scale,
        input_centre=x.mean(axis=0),
        input_spread=x.std(axis=0),
        lengthscales=lengthscales,
        observed=np.delete(y, held_out, axis=0),
    )
    made.inside = np.delete(made.standardized(x), held_out, axis=0)
    return made


def diabetes() -> pd.DataFrame:
    """A real table made untidy with a hostile name, text and missing cells."""
    frame = load_diabetes(as_frame=True, scaled=False)["frame"].iloc[:220].copy()
    random = np.random.default_rng(0)
    frame["sex"] = np.where(frame["sex"] > 1, "second $x^2$", "<b>first</b>")
    frame.loc[random.choice(220, 12, replace=False), "bmi"] = np.nan
    frame["clinic"] = random.choice(["north", "south & east", "west"], 220)
    return frame.rename(columns={"s5": SCRIPT, "s6": "price in $ of $x_1"})


@pytest.fixture(scope="session")
def regression() -> tuple[StandIn, pd.DataFrame, str]:
    frame = diabetes()
    return fitted(frame, "target"), frame, "target"


@pytest.fixture(scope="session")
def classification() -> tuple[StandIn, pd.DataFrame, str]:
    data = load_breast_cancer(as_frame=True)
    frame = data["frame"].iloc[:200, [0, 1, 4, 5, 6, 7, 27, 28, 30]].copy()
    frame["target"] = np.where(frame["target"] == 1, "benign", "malignant")
    return fitted(frame, "target"), frame, "target"


@pytest.fixture(scope="session")
def several_outputs() -> tuple[StandIn, pd.DataFrame, list[str]]:
    data = load_linnerud(as_frame=True)
    frame = pd.concat([data["frame"]] * 2, ignore_index=True)
    frame = frame + np.random.default_rng(0).normal(0, 0.1, frame.shape)
    targets = ["Weight", "Waist", "Pulse"]
    return fitted(frame, targets), frame, targets


def gathered(fit: Any, **names: str) -> Evidence:
    """The evidence of a stand-in and the table it was fitted to."""
    fitted, frame, _ = fit
    preparation = fitted.preparation
    return gather(fitted, preparation.prepare(frame), targets=preparation.target, **names)


@pytest.fixture(scope="session")
def evidence(regression: Any) -> Evidence:
    return gathered(
        regression, table="diabetes.csv", command="gfsvi fit diabetes.csv --target target"
    )


@pytest.fixture(scope="session")
def brief(evidence: Evidence) -> Evidence:
    """The same evidence without effects, whose pictures take the longest to draw."""
    outputs = tuple(dataclasses.replace(output, effects=()) for output in evidence.outputs)
    return dataclasses.replace(evidence, outputs=outputs)


@pytest.fixture(scope="session")
def several_evidence(several_outputs: Any) -> Evidence:
    return gathered(several_outputs)


@pytest.fixture(scope="session")
def label_evidence(classification: Any) -> Evidence:
    return gathered(classification, table="breast_cancer.csv")


@pytest.fixture(scope="session")
def pages(tmp_path_factory: Any, evidence: Evidence, label_evidence: Evidence) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = {}
    for name, found in (("regression", evidence), ("classification", label_evidence)):
        written[name] = folder / f"{name}.html"
        written[name].write_text(render(found), encoding="utf-8")
    return written
