"""Predictions with NumPy alone: those of the library, or none."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false
# pyright: reportArgumentType=false

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.functions import GaussianProcess
from gfsvi.kernels import (
    RBF,
    Constant,
    IntegratedBrownian,
    Linear,
    LocallyPeriodic,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    White,
)
from gfsvi.likelihoods import AdaptiveNormal, NoiseFunction, Normal, StudentT, WarpedNormal
from gfsvi.networks.mlp import MLP
from gfsvi.predictives.warp import Bounded, Unwarped, Warp
from gfsvi.serving import predictor, read_predictor
from gfsvi.storage.container import ModelFileError

from .cases import LENGTHS, fitted, saved

NUMBERS = ("mean", "std", "epistemic_std", "aleatoric_std")


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "model.gfsvi"


def assert_equal_predictions(path: Path, **options: object) -> None:
    """The library and NumPy say the same about rows like those of the fit, and far from them."""
    model, frame = saved(path, **options)
    frame = frame.assign(a=np.where(np.arange(len(frame)) % 3, frame["a"], 100.0))
    served, expected = read_predictor(path), model.predict(frame)
    assert served is not None
    prediction = served.predict(frame)
    for name in NUMBERS:
        np.testing.assert_allclose(
            getattr(prediction, name), getattr(expected, name), rtol=1e-9, err_msg=name
        )
    for ours, theirs in zip(prediction.interval(0.9), expected.interval(0.9), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    np.testing.assert_allclose(served.novelty(frame), model.novelty(frame), rtol=1e-9, atol=1e-12)


SEASON = eqx.tree_at(lambda k: k.period, LocallyPeriodic(2.0, 0.5, 1.0, 0.8), 0.9)  # known
COMBINED = {
    "trend and season": RBF(LENGTHS[1:], 1.7).on(1, 2, 3, 4)
    + (Constant(0.3) + Linear(0.8) + IntegratedBrownian(0.2) + Matern12(0.1) + SEASON).on(0),
    "product": RBF(LENGTHS, 1.7) * Periodic(0.9, 1.3, 2.2).on(0),
}


@pytest.mark.parametrize("name", COMBINED)
def test_kernels_that_are_made_of_others_are_the_librarys(path, name):
    assert_equal_predictions(path, kernel=COMBINED[name])


@pytest.mark.parametrize("kernel", [RBF, Matern12, Matern32, Matern52])
def test_every_kernel_that_is_served_is_the_librarys(path, kernel):
    assert_equal_predictions(path, kernel=kernel(LENGTHS, 1.7))


def test_kernels_with_one_length_scale_are_the_librarys(path):
    assert_equal_predictions(path, kernel=RBF(0.8, 0.6))


@pytest.mark.parametrize("num_targets", [1, 2])
def test_normal_observations_are_the_librarys(path, num_targets):
    noise = np.array([0.3, 0.8])[:num_targets]
    assert_equal_predictions(path, likelihood=Normal(noise), num_targets=num_targets)


@pytest.mark.parametrize("inner", [Unwarped(), Warp.fitted(np.linspace(-1, 2, 9), 0.3)])
def test_bounded_observations_are_the_librarys(path, inner):
    # Beyond most of the means, and within reach of the largest.
    most = float(inner.inverse(np.array([[9.0]]))[0, 0])
    likelihood = WarpedNormal(np.array([0.3]), Bounded(inner, most=(most,)))
    assert_equal_predictions(path, likelihood=likelihood)


@pytest.mark.parametrize("num_targets", [1, 2])
@pytest.mark.parametrize("is_varying", [False, True], ids=["even", "varying"])
def test_noise_with_tails_that_varies_is_the_librarys(path, num_targets, is_varying):
    random = np.random.default_rng(0)
    points, heights = random.normal(size=(9, 5)), random.normal(size=(num_targets, 9))
    likelihood = AdaptiveNormal(
        np.array([0.3, 0.8])[:num_targets],
        Warp.fitted(random.gamma(2.0, size=(50, num_targets)), 0.3),
        np.array([3.0, 10.0])[:num_targets],
        np.array([0.7, 1.2])[:num_targets],
        NoiseFunction(points, LENGTHS, heights) if is_varying else None,
    )
    assert_equal_predictions(path, likelihood=likelihood, num_targets=num_targets)


def test_warped_observations_of_several_targets_are_the_librarys(path):
    assert_equal_predictions(path, num_targets=2)


@pytest.mark.parametrize("hidden", [(), (6,), (5, 4, 3)])
def test_networks_of_any_depth_are_the_librarys(path, hidden):
    assert_equal_predictions(path, network=MLP(hidden))


def test_a_posterior_that_is_narrower_near_its_points_is_the_librarys(path):
    wide, frame = fitted()
    function = dataclasses.replace(wide.posterior.function, near=0.3)
    narrow = dataclasses.replace(
        wide, posterior=dataclasses.replace(wide.posterior, function=function)
    )
    assert np.all(narrow.predict(frame).epistemic_std <= wide.predict(frame).epistemic_std)
    assert np.any(narrow.predict(frame).epistemic_std < wide.predict(frame).epistemic_std)
    narrow.save(path)
    prediction = read_predictor(path).predict(frame)
    np.testing.assert_allclose(prediction.std, narrow.predict(frame).std, rtol=1e-9)


def test_tables_longer_than_a_block_are_predicted_whole(path, monkeypatch):
    monkeypatch.setattr(predictor, "MAX_ROWS", 64)
    assert_equal_predictions(path)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": RBF() + White()},
        {"likelihood": StudentT(np.array([0.3]), np.array(5.0))},
        {"network": MLP((5,), activation=jnp.sin)},
        {"preparation": None},
    ],
)
def test_other_models_are_left_to_the_library(path, options):
    saved(path, **options)
    assert read_predictor(path) is None


def test_another_posterior_is_left_to_the_library(path):
    model, _ = fitted()
    process = dataclasses.replace(model.posterior, function=GaussianProcess(RBF()))
    dataclasses.replace(model, posterior=process).save(path)
    assert read_predictor(path) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"points": np.zeros((40, 2))},
        {"root": np.zeros((1, 3, 3))},
        {"shift": "no numbers"},
        {"eps": None},
    ],
)
def test_a_posterior_whose_parts_do_not_fit_is_left_to_the_library(path, changes):
    model, _ = fitted()
    changed = dataclasses.replace(model.posterior.function, **changes)
    posterior = dataclasses.replace(model.posterior, function=changed)
    dataclasses.replace(model, posterior=posterior).save(path)
    assert read_predictor(path) is None


def test_columns_that_do_not_fit_the_posterior_are_left_to_the_library(path):
    model, _ = fitted()
    columns = model.preparation.columns[:1]
    preparation = dataclasses.replace(model.preparation, columns=columns)
    dataclasses.replace(model, preparation=preparation).save(path)
    assert read_predictor(path) is None


def test_a_file_that_is_no_model_is_an_error(path):
    path.write_bytes(b"no model")
    with pytest.raises(ModelFileError, match="expected a gfsvi model"):
        read_predictor(path)


SCRIPT = """
import json, sys
from gfsvi.cli import main
status = main(["predict", "model.gfsvi", "table.csv", "--output", "predictions.csv"])
print(json.dumps([status, sorted({"jax", "equinox", "scipy", "sklearn"} & set(sys.modules))]))
"""


def test_the_command_predicts_without_jax(path):
    model, frame = saved(path)
    frame.to_csv(path.with_name("table.csv"), index=False)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, cwd=path.parent
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []], done.stderr
    written = np.genfromtxt(path.with_name("predictions.csv"), delimiter=",", names=True)
    expected = model.predict(frame)
    # Six digits of the standard deviation are written, and as many decimals of shares.
    assert np.all(np.abs(written["mean"] - expected.mean) <= 1e-5 * expected.std)
    np.testing.assert_allclose(written["novelty"], model.novelty(frame), atol=1e-6)
