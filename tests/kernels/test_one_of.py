"""Families of kernels in one: the same numbers as each by itself."""

import jax
import numpy as np
import pytest

from gfsvi.kernels import RBF, Matern32, Matern52
from gfsvi.kernels.one_of import OneOf

FAMILIES = (Matern52, Matern32, RBF)
X = np.random.default_rng(0).normal(size=(6, 2))
LENGTHS = np.array([0.7, 1.9])


@pytest.mark.parametrize("number", range(3))
def test_the_chosen_family_is_the_kernel(number):
    chosen = OneOf(FAMILIES, np.array(number), LENGTHS, 1.3)
    alone = FAMILIES[number](LENGTHS, 1.3)
    np.testing.assert_allclose(chosen.gram(X), alone.gram(X), rtol=1e-12)
    assert type(chosen.kernel) is FAMILIES[number]
    np.testing.assert_allclose(chosen.kernel.gram(X), alone.gram(X), rtol=1e-12)


@pytest.mark.parametrize("number", range(3))
def test_gradients_are_those_of_the_chosen_family_at_coincident_points_too(number):
    x = np.concatenate([X, X[:1]])

    def total(lengths, build):
        return build(lengths).gram(x).sum()

    chosen = jax.grad(total)(LENGTHS, lambda lengths: OneOf(FAMILIES, np.array(number), lengths))
    alone = jax.grad(total)(LENGTHS, FAMILIES[number])
    np.testing.assert_allclose(chosen, alone, rtol=1e-9)


def test_families_share_one_structure():
    kernels = [OneOf(FAMILIES, np.array(number), LENGTHS) for number in range(3)]
    structures = {jax.tree.structure(kernel) for kernel in kernels}
    assert len(structures) == 1
