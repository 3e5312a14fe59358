"""What the tasks of the paper hold fixed, seen in small runs and not in records."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportIndexIssue=false, reportOperatorIssue=false

from typing import ClassVar

import numpy as np
import pytest

from gfsvi.bench import images
from gfsvi.bench.data.folds import fold_of
from gfsvi.bench.experiment import Run
from gfsvi.bench.tasks import ocean, wasserstein
from gfsvi.functions import GaussianProcess
from gfsvi.likelihoods import Normal
from gfsvi.methods import ExactGP
from gfsvi.methods.base import AbstractMethod

RANDOM = np.random.default_rng(0)


def test_targets_and_inputs_are_standardised_by_training_rows_alone():
    x = RANDOM.normal(3, 5, size=(100, 2))
    y = np.exp(RANDOM.normal(size=100))
    for fold in range(5):
        data, validation, test = fold_of(x, y, fold)
        for part in (data.x, data.y):
            np.testing.assert_allclose(np.mean(part, axis=0), 0, atol=1e-12)
            np.testing.assert_allclose(np.std(part, axis=0), 1, atol=1e-12)
        # Else a constant was added to all, or the whole table standardised.
        assert abs(np.mean(np.concatenate([data.y, validation.y, test.y]))) > 1e-6


class Seen(AbstractMethod):
    """The exact process, which remembers what it was given."""

    prior_kind: ClassVar = GaussianProcess
    fixed: object = None

    calls: ClassVar[list] = []

    def __call__(self, model, data, *, key, validation=None):
        self.calls.append((self.fixed, validation, data, model))
        return ExactGP(fixed=self.fixed)(model, data, key=key)


@pytest.fixture
def seen(monkeypatch):
    Seen.calls.clear()
    for module in (ocean, wasserstein):
        monkeypatch.setattr(module, "build_method", lambda *given, **options: Seen())
    return Seen.calls


def test_distances_are_measured_at_the_given_noise_and_without_early_stopping(seen):
    x = RANDOM.normal(size=(60, 2))
    arrays = {"boston": {"X": x, "y": np.sin(x[:, 0]) + 0.1 * RANDOM.normal(size=60)}}
    run = Run(
        "test", "wasserstein", "boston", "seen", 0, 0, {"method": "exact_gp", "kernel": "rbf"}
    )
    wasserstein.Wasserstein()(run, arrays)
    ((fixed, validation, _, model),) = seen
    assert validation is None
    assert fixed is not None and fixed(model) is model.likelihood


@pytest.mark.parametrize("learns_noise", [False, True])
def test_currents_are_centred_and_noise_is_that_of_the_exact_process(
    seen, learns_noise, monkeypatch
):
    def process(data):
        seen.append(data)
        return made

    kernel = ocean.HelmholtzKernel(ocean.RBF(), ocean.RBF())
    made = ocean.Model(GaussianProcess(kernel), Normal(0.07))
    monkeypatch.setattr(ocean, "most_probable_process", process)
    places = np.stack(np.meshgrid(np.linspace(-90, -84, 3), np.linspace(24, 27, 3)), -1).reshape(
        -1, 2
    )
    table = {"test_X": places, "test_Y": RANDOM.normal(size=(9, 2))}
    table |= {"train_X": places[::2], "train_Y": RANDOM.normal(size=(5, 2))}
    settings = {"learn_noise": learns_noise, "method": "seen"}
    ocean.Ocean()(Run("test", "ocean", "gulf", "seen", 0, 0, settings), {"gulf": table})
    data, (fixed, _, given, model) = seen
    for rows in (data.x, given.x):
        np.testing.assert_allclose(np.asarray(rows)[:, :2].min(axis=0), [-3, -1.5])
        np.testing.assert_allclose(np.asarray(rows)[:, :2].max(axis=0), [3, 1.5])
    assert (fixed is None) == learns_noise
    assert float(np.ravel(model.likelihood.noise)[0]) == pytest.approx(0.07)


def test_images_are_standardised_by_the_training_images_of_their_own_set():
    arrays = {
        "x_train": RANDOM.integers(0, 200, size=(20, 4, 4)).astype(np.uint8),
        "x_test": RANDOM.integers(100, 250, size=(8, 4, 4)).astype(np.uint8),
    }
    train, test = (images.standardized(arrays[name], arrays) for name in ("x_train", "x_test"))
    assert train.shape == (20, 4, 4, 1)
    np.testing.assert_allclose([train.mean(), train.std()], [0, 1], atol=1e-5)
    known = arrays["x_train"].astype(np.float64)
    np.testing.assert_allclose(
        test[..., 0], (arrays["x_test"] - known.mean()) / known.std(), rtol=1e-4, atol=1e-5
    )
