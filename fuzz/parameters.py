"""Whatever the parameters of an estimator: a fit, or one sentence that names the parameter."""

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import strategies as st

from fuzz.engine import ACCEPTED, REFUSED, Kind, check_sentence
from fuzz.tables import nothing_compiled
from gfsvi import BayesianClassifier, BayesianRegressor, GFSVIClassifier, GFSVIRegressor
from gfsvi.auto.phases import Phases
from gfsvi.auto.problem import Problem, Solution
from gfsvi.auto.sizing import network_for, sized
from gfsvi.auto.solving import Solver
from gfsvi.kernels import RBF, White
from gfsvi.likelihoods import Bernoulli, Normal
from gfsvi.methods import GFSVI, MAP
from gfsvi.networks import MLP

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(20, 2))
Y = {"numbers": X[:, 0] + 0.1 * X[:, 1], "labels": np.where(X[:, 0] > 0, "a", "b")}
KINDS = (GFSVIRegressor, BayesianRegressor, GFSVIClassifier, BayesianClassifier)
ODD: list[Any] = [None, True, 0, 1, -1, 3, 10**12, 2**70, 0.0, 0.5, -0.5, 1.5, float("nan")]
ODD += [float("inf"), 1e-300, "", "auto", "rbf", "RBF", "normal", "mlp", "cnn", "gfsvi", "map"]
ODD += [
    [],
    [3],
    (3,),
    (0,),
    (-1,),
    (2.5,),
    ("a",),
    (10**9,),
    {},
    {"a": 1},
    np.ones(2),
    np.ones((2, 2)),
]
ODD += [
    RBF(),
    White(),
    RBF(np.ones(5)),
    Normal(),
    Bernoulli(),
    MLP((3,)),
    MAP(),
    GFSVI(),
    print,
    int,
]
ODD += [np.int64(3), np.float64(0.1), b"rbf", object()]
NAMES = ("kernel", "likelihood", "network", "hidden", "num_points", "gamma", "num_steps")
NAMES += ("batch_size", "validation_fraction", "time_budget", "random_state", "watch")
OF_METHODS = (*NAMES, "method", "prior_scale")

odd = st.sampled_from(ODD)
cases = st.sampled_from(KINDS).flatmap(
    lambda kind: st.tuples(
        st.just(kind),
        st.dictionaries(
            st.sampled_from(OF_METHODS if "Bayesian" in kind.__name__ else NAMES),
            odd | st.integers() | st.floats() | st.text(max_size=5),
            min_size=1,
            max_size=3,
        ),
    )
)


def check(case: tuple[type[Any], dict[str, Any]]) -> str:
    """Fit with these parameters, as far as learning."""
    kind, parameters = case
    y = Y["labels" if "Classifier" in kind.__name__ else "numbers"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind(**parameters).fit(X, y)
    except (ValueError, TypeError) as error:
        text = str(error)
        check_sentence(text)
        if not any(name in text for name in (*parameters, "expected", "expects", "seed")):
            raise AssertionError(f"does not say which parameter: {text}") from error
        return REFUSED
    return ACCEPTED


@contextlib.contextmanager
def nothing_trained() -> Iterator[None]:
    """What comes before training, and then as if it had been done."""
    with nothing_compiled():
        learned = Solver.solve

        def solve(self: Solver, problem: Problem) -> Solution:
            phases = Phases(None, self.parameters.watch, self.parameters.time_budget)
            settings, method = problem.settings, self.recipe.method
            network = network_for(self.parameters.network, method, settings, problem.num_outputs)
            sized(self.recipe, settings, network, phases)
            self._blank_prior(problem, method, network)
            return learned(self, problem)

        with mock.patch.object(Solver, "solve", solve):
            yield


KIND = Kind("parameters", cases, check, nothing_trained)
