"""Positive and real fields, and the free scale on which they are optimised."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.numerics import constraints as params


class Line(eqx.Module):
    slope: jax.Array = params.real(0.5)
    scale: jax.Array = params.positive(2.0)
    name: str = eqx.field(static=True, default="line")

    def __check_init__(self) -> None:
        params.check_positive(self, scale=self.scale)


class Pair(eqx.Module):
    lines: tuple[Line, ...]
    weight: jax.Array = params.positive(3.0)


def test_fields_hold_exact_double_precision_numbers_even_in_single_precision_sessions():
    with jax.enable_x64(False):
        line = Line(slope=0.1, scale=[0.1, 0.2])
    assert line.slope.dtype == line.scale.dtype == np.float64
    assert line.slope == 0.1
    np.testing.assert_array_equal(line.scale, [0.1, 0.2])


def test_jax_arrays_are_kept_as_they_are():
    array = jnp.asarray([1.0, 2.0])
    assert params.as_float64(array) is array


def test_a_field_without_default_must_be_given():
    class Needy(eqx.Module):
        scale: jax.Array = params.positive()

    with pytest.raises(TypeError, match="scale"):
        Needy()


def test_free_scale_takes_logarithms_of_positive_fields_only():
    free = params.to_free(Line(slope=-0.5, scale=2.0))
    np.testing.assert_allclose(free.scale, np.log(2.0))
    assert free.slope == -0.5
    assert free.name == "line"


def test_free_scale_reaches_modules_inside_modules_tuples_and_dictionaries():
    tree = {"pair": Pair((Line(scale=2.0), Line(scale=4.0))), "plain": np.array(7.0), "none": None}
    free = params.to_free(tree)
    np.testing.assert_allclose(free["pair"].lines[1].scale, np.log(4.0))
    np.testing.assert_allclose(free["pair"].weight, np.log(3.0))
    assert free["plain"] == 7.0
    assert free["none"] is None


def test_coming_back_from_the_free_scale_changes_nothing():
    pair = Pair((Line(scale=2.0), Line(scale=[0.1, 4.0])))
    again = params.from_free(params.to_free(pair))
    assert jax.tree.structure(again) == jax.tree.structure(pair)
    for before, after in zip(jax.tree.leaves(pair), jax.tree.leaves(again), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-15)


def test_free_scale_works_under_jit_and_grad():
    free = params.to_free(Line(scale=2.0))
    gradient = jax.jit(jax.grad(lambda free: params.from_free(free).scale))(free)
    np.testing.assert_allclose(gradient.scale, 2.0)  # d exp(u) / du = exp(u)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, [1.0, -1.0]])
def test_values_that_are_not_positive_raise(value):
    with pytest.raises(ValueError, match="Line expects a positive, finite scale; got"):
        Line(scale=value)


def test_placeholders_of_jax_pass_the_check():
    line = jax.tree.unflatten(jax.tree.structure(Line()), [object(), object()])
    assert isinstance(line, Line)
    assert eqx.filter_eval_shape(Line).scale.shape == ()


@pytest.mark.parametrize("leaf", [np.ones(2), jnp.ones(2), np.ones(2, np.float32)])
def test_arrays_of_real_numbers_are_learnable(leaf):
    assert params.is_learnable(leaf)


@pytest.mark.parametrize("leaf", [1.0, np.arange(2), jnp.arange(2), None, "a", np.ones(2) > 0])
def test_everything_else_is_not_learnable(leaf):
    assert not params.is_learnable(leaf)
