"""Estimators on arrays of images."""

import numpy as np
import pytest
from sklearn.base import clone

from gfsvi import BayesianClassifier, GFSVIClassifier, GFSVIRegressor, load
from gfsvi.auto.phases import Phases
from gfsvi.auto.priors import kernels_named
from gfsvi.auto.recipe import recipe_for
from gfsvi.auto.settings import Settings
from gfsvi.auto.sizing import sized
from gfsvi.networks import CNN, MLP
from gfsvi.training import Adam

QUICK = {"kernel": "rbf", "num_steps": 20, "random_state": 0}
SMALL = CNN(channels=(2,), hidden=4)


@pytest.fixture(scope="module")
def images() -> tuple[np.ndarray, np.ndarray]:
    """Stripes that lie, stand, or are not there, among noise."""
    random = np.random.default_rng(0)
    kinds = np.array(["lying", "none", "standing"])[np.arange(90) % 3]
    x = random.normal(size=(90, 6, 6))
    x[kinds == "lying", 2] += 6
    x[kinds == "standing", :, 3] += 6
    return x, kinds


@pytest.fixture(scope="module")
def classifier(images) -> GFSVIClassifier:
    return GFSVIClassifier(network=SMALL, **QUICK).fit(*images)


def test_images_are_classified(classifier, images):
    assert classifier.score(*images) > 0.9
    probabilities = classifier.predict_proba(images[0][:5])
    assert probabilities.shape == (5, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_a_channel_may_be_written_out(classifier, images):
    x = images[0][:5]
    np.testing.assert_array_equal(
        classifier.predict_proba(x), classifier.predict_proba(x[..., None])
    )


def test_sizes_follow_from_the_images_and_are_reported(classifier):
    chosen = classifier.settings_
    assert chosen.image_shape == (6, 6, 1) and chosen.num_features == 36
    assert chosen.batch_size == 100 and chosen.num_points == 25
    assert chosen.num_mean_steps == 20 and chosen.num_steps is None
    assert classifier.posterior_.function.network.outputs == 3
    assert np.ndim(classifier.prior_.function.kernel.lengthscale) == 0
    assert np.ndim(classifier.fitted_.input_centre) == 0


def test_the_mean_of_images_is_trained_in_batches_since_its_points_move():
    recipe = recipe_for("gfsvi")
    settings = Settings.derive(recipe.method, 5000, 500, (6, 6, 1), 3, seed=0)
    method = sized(recipe, settings, SMALL, Phases(None, None, None))
    assert method.mean.otherwise.training.optimizer == Adam(3e-3, batch_size=100)


def test_what_is_unlike_all_images_is_novel(classifier, images):
    strange = 20 * np.random.default_rng(1).normal(size=(10, 6, 6))
    assert classifier.novelty(strange).min() > np.median(classifier.novelty(images[0]))


def test_it_is_saved_and_loaded(classifier, images, tmp_path):
    classifier.save(tmp_path / "model.gfsvi")
    again = load(tmp_path / "model.gfsvi")
    np.testing.assert_array_equal(
        again.predict_proba(images[0]), classifier.predict_proba(images[0])
    )
    assert again.network == SMALL
    assert clone(again).get_params()["network"].channels == SMALL.channels


def test_a_network_is_known_by_name(images):
    fitted = GFSVIClassifier(network="mlp", hidden=(5,), **QUICK).fit(*images)
    assert fitted.posterior_.function.network == MLP((5,), 3)
    assert fitted.score(*images) > 0.9


@pytest.mark.parametrize(("kernel", "name"), [("linear", "Linear"), ("matern32", "Matern32")])
def test_any_kernel_may_be_named_for_images(kernel, name):
    found = kernels_named(kernel, (6, 6, 1))
    assert [type(one).__name__ for one in found] == [name]
    assert np.ndim(getattr(found[0], "lengthscale", 0.0)) == 0


def test_numbers_are_predicted_from_images(images):
    x, kinds = images
    y = x[:, 2].mean(axis=1) + 0.0 * (kinds == "none")
    mean, std = GFSVIRegressor(network=SMALL, **QUICK).fit(x, y).predict(x, return_std=True)
    assert np.corrcoef(mean, y)[0, 1] > 0.9 and np.all(std > 0)


@pytest.mark.parametrize("method", ["map", "mfvi"])
def test_other_methods_take_images_too(images, method):
    fitted = BayesianClassifier(method, network=SMALL, num_steps=60, random_state=0).fit(*images)
    assert fitted.score(*images) > 0.6


def test_images_without_a_network_for_them_are_refused_in_words(images):
    with pytest.raises(ValueError, match=r'got an array of shape \(90, 6, 6\).*network="cnn"'):
        GFSVIClassifier().fit(*images)


def test_an_unknown_network_is_refused_in_words(images):
    with pytest.raises(ValueError, match="expected a network named .*cnn.*got 'cmm'"):
        GFSVIClassifier(network="cmm").fit(*images)
