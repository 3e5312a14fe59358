"""The prior that an estimator starts from, before anything is learned."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern, RationalQuadratic

from gfsvi import GFSVIRegressor
from gfsvi.kernels import Matern32, Matern52, Periodic
from gfsvi.methods import GFSVI, EvidenceSearch


class Seen(Exception):
    pass


@pytest.fixture
def families_of(monkeypatch, numbers, houses):
    """The kernels that a fit chooses from."""

    def families_of(kernel):
        found = []

        def choose(self, model, data, *, key, validation=None):
            found.extend([model.function.kernel, *self.kernels])
            raise Seen

        monkeypatch.setattr(EvidenceSearch, "__call__", choose)
        monkeypatch.setattr(GFSVI, "precompile", lambda *_, **__: None)  # nothing will be fitted
        with pytest.raises(Seen):
            GFSVIRegressor(kernel=kernel, random_state=0).fit(numbers, houses["price"])
        return found

    return families_of


def test_by_itself_it_chooses_among_several_families(families_of):
    names = [type(one_of.kernel).__name__ for one_of in families_of("auto")]
    assert names == ["Matern52", "Matern32", "RBF"]


@pytest.mark.parametrize("name", ["matern52", "Matern52", "matern-52"])
def test_a_kernel_can_be_named_and_has_a_length_scale_a_feature(families_of, name):
    (kernel,) = families_of(name)
    assert isinstance(kernel, Matern52) and np.shape(kernel.lengthscale) == (4,)


def test_a_kernel_without_length_scales_can_be_named(families_of):
    assert [type(kernel).__name__ for kernel in families_of("linear")] == ["Linear"]


def test_a_kernel_is_taken_as_it_is(families_of):
    wanted = 2.0 * Matern32(0.5) + Periodic()
    assert families_of(wanted) == [wanted]


def test_a_kernel_of_scikit_learn_is_translated(families_of):
    (kernel,) = families_of(Matern(length_scale=[1.0, 2.0, 3.0, 4.0], nu=2.5))
    assert isinstance(kernel, Matern52)
    np.testing.assert_allclose(kernel.lengthscale, [1, 2, 3, 4])
    assert type(families_of(RationalQuadratic())[0]).__name__ == "RationalQuadratic"


def test_an_unknown_name_is_answered_with_the_known_ones(numbers, houses):
    with pytest.raises(ValueError, match="matern52.*got 'matern25'.*Did you mean"):
        GFSVIRegressor(kernel="matern25").fit(numbers, houses["price"])


def test_what_is_no_kernel_is_refused_in_words(numbers, houses):
    with pytest.raises(TypeError, match="expected a kernel of gfsvi"):
        GFSVIRegressor(kernel=5).fit(numbers, houses["price"])
