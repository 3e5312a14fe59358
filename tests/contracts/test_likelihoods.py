"""What every likelihood promises; a new class in `gfsvi.likelihoods` is tested for free."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.likelihoods import Bernoulli, Categorical, CustomLikelihood, Poisson
from gfsvi.likelihoods.base import (
    AbstractCountLikelihood,
    AbstractLikelihood,
    AbstractRealLikelihood,
)
from gfsvi.likelihoods.expectations import marginal_draws
from gfsvi.values import AbstractValues, Gaussian, Marginals, Samples

from .likelihood_cases import (
    CLASSES,
    NUM_POINTS,
    built,
    gaussian,
    laplace_density,
    many_draws,
    marginals,
    observations_for,
    samples,
)


@pytest.fixture(params=CLASSES, ids=lambda member: member.__name__, scope="module")
def likelihood(request: pytest.FixtureRequest) -> AbstractLikelihood:
    return built(request.param)


@pytest.fixture(scope="module")
def y(likelihood: AbstractLikelihood) -> np.ndarray:
    return observations_for(likelihood)


MAKERS = [marginals, gaussian, samples]


@pytest.mark.parametrize("make", MAKERS)
def test_expected_log_prob_is_the_monte_carlo_average(likelihood, y, make, key):
    values = make(likelihood.num_outputs(y))
    keys = jax.random.split(key, 500)
    own = jax.vmap(lambda k: likelihood.expected_log_prob(y, values, key=k))(keys)
    draws = many_draws(values, 100_000)
    other = jax.vmap(lambda f: likelihood.log_prob(y, f))(draws)
    exact = isinstance(values, Samples)
    variance = jnp.var(own, axis=0) / len(own) + (0 if exact else jnp.var(other, axis=0) / 1e5)
    assert own.shape == (500, NUM_POINTS)
    error = jnp.abs(jnp.mean(own, axis=0) - jnp.mean(other, axis=0))
    assert jnp.all(error <= 4.5 * jnp.sqrt(variance) + 1e-8), (error, jnp.sqrt(variance))


def test_the_expectation_at_a_row_does_not_depend_on_the_rows_beside_it(likelihood, y, key):
    values = marginals(likelihood.num_outputs(y))
    some = Marginals(values.mean[:, 3:1:-1], values.cov[3:1:-1])
    alone = likelihood.expected_log_prob(y[3:1:-1], some, key=key)
    together = likelihood.expected_log_prob(y, values, key=key)
    np.testing.assert_allclose(alone, together[3:1:-1], rtol=1e-12)


@pytest.mark.parametrize("make", [marginals, samples])
def test_gradients_are_finite_and_not_all_zero(likelihood, y, make, key):
    values = make(likelihood.num_outputs(y))

    def total(both: tuple[AbstractLikelihood, AbstractValues]) -> jax.Array:
        return jnp.sum(both[0].expected_log_prob(y, both[1], key=key))

    both = jax.tree.map(
        lambda a: jnp.asarray(a) if eqx.is_array_like(a) else a, (likelihood, values)
    )
    gradients = jax.tree.leaves(eqx.filter_jit(eqx.filter_grad(total))(both))
    assert all(jnp.all(jnp.isfinite(gradient)) for gradient in gradients)
    assert all(jnp.any(gradient != 0) for gradient in gradients)


def test_a_function_known_exactly_gives_no_nan(likelihood, y, key):
    mean = jnp.zeros((likelihood.num_outputs(y), NUM_POINTS))
    values = Marginals(mean, jnp.zeros((NUM_POINTS, len(mean), len(mean))))
    at_mean = likelihood.log_prob(y, mean)
    np.testing.assert_allclose(likelihood.expected_log_prob(y, values, key=key), at_mean, atol=1e-6)
    predictive = likelihood.predict(values, key=key)
    np.testing.assert_allclose(predictive.log_prob(y), at_mean, atol=1e-6)


def test_draws_around_known_values_have_the_moments_that_are_promised(likelihood, y, key):
    f = jnp.asarray(marginals(likelihood.num_outputs(y)).mean)
    mean, variance = likelihood.moments(f)
    assert mean.shape == variance.shape and mean.shape[1] == NUM_POINTS
    draws = np.asarray(likelihood.draw(f, 50_000, key=key))
    assert draws.shape == (50_000, 1, NUM_POINTS)
    if isinstance(likelihood, (Bernoulli, Categorical)):  # one response per class
        draws = (draws == np.arange(len(mean))[:, None]).astype(float)
    error = np.abs(np.mean(draws, axis=0) - mean)
    assert np.all(error < 4.5 * np.sqrt(variance / len(draws)) + 1e-12)
    deviations = np.square(draws - np.asarray(mean))
    # Heavy tails make a sample variance uncertain: its error is taken from the sample.
    uncertain = np.std(deviations, axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(np.mean(deviations, axis=0) - variance) < 6 * uncertain + 1e-9)


def test_draws_are_as_probable_as_log_prob_says(likelihood, y, key):
    """E[p(x) / p(y)] over draws y is the number of possible x, or the length of their range."""
    f = jnp.asarray(marginals(likelihood.num_outputs(y)).mean[:, :1])
    draws = np.asarray(likelihood.draw(f, 20_000, key=key))[:, 0, 0]
    low, high = (
        (np.floor(np.min(draws)), 3) if likelihood.discrete else np.quantile(draws, [0.1, 0.9])
    )
    inside = draws[(draws >= low) & (draws <= high)]
    log_probs = np.asarray(likelihood.log_prob(inside, jnp.tile(f, (1, len(inside)))))
    size = len(np.unique(inside)) if likelihood.discrete else high - low
    inverse = np.exp(-log_probs)
    estimate, spread = np.sum(inverse) / len(draws), np.std(inverse) / np.sqrt(len(draws))
    assert abs(estimate - size) < 5 * spread + 0.02 * size


def test_facts_are_stated_and_noise_has_an_entry_per_output_or_is_none(likelihood, y):
    assert likelihood.discrete in (True, False) and likelihood.conjugate in (True, False)
    assert not (likelihood.discrete and likelihood.conjugate)
    noise = likelihood.noise_std
    if noise is None:
        return
    assert not likelihood.discrete and noise.shape == (1,) and noise[0] > 0
    np.testing.assert_allclose(
        likelihood.gaussian_targets(y).variance, jnp.square(noise)[0], rtol=1e-12
    )


def test_exactly_the_conjugate_ones_are_their_gaussian_targets(likelihood, y, key):
    try:
        targets = likelihood.gaussian_targets(y)
    except ValueError:
        assert not likelihood.conjugate
        return
    f = jax.random.normal(key, (likelihood.num_outputs(y), NUM_POINTS))
    on_target = f[: len(targets.values)]
    density = jax.scipy.stats.norm.logpdf(targets.values, on_target, jnp.sqrt(targets.variance))
    stand_in = jnp.sum(density, axis=0) + targets.log_factor
    exact = likelihood.log_prob(y, f)
    is_exact = bool(np.allclose(stand_in, exact, rtol=1e-10))
    assert is_exact == likelihood.conjugate


def test_what_was_chosen_with_the_prior_is_a_warp_or_nothing(likelihood):
    fixed = likelihood.fixed_by_prior
    assert len(fixed) == ("warp" in dir(likelihood))
    assert all(part is likelihood.warp for part in fixed)


@pytest.mark.parametrize("missing", ["discrete", "conjugate", "moments", "draw", "noise_std"])
def test_a_likelihood_that_leaves_something_out_cannot_be_built(missing):
    whole = vars(AbstractCountLikelihood) | vars(Poisson)
    own = ("__", "_abc")
    members = {name: value for name, value in whole.items() if not name.startswith(own)}
    incomplete = type("Incomplete", (AbstractRealLikelihood,), {**members})
    assert incomplete().discrete
    del members[missing]
    with pytest.raises(TypeError, match=missing):
        type("Incomplete", (AbstractRealLikelihood,), members)()


@pytest.mark.parametrize("unusable", [np.nan, np.inf])
def test_unusable_numbers_raise(likelihood, y, unusable):
    with pytest.raises(ValueError, match=f"{type(likelihood).__name__} expects .*; got .*\\."):
        likelihood.check(np.where(np.arange(NUM_POINTS) == 2, unusable, y))


@pytest.mark.parametrize("make_bad", [lambda y: y[:, None, None], lambda y: y[:0], lambda y: y[0]])
def test_unusable_shapes_raise(likelihood, y, make_bad):
    with pytest.raises(ValueError, match=r"expects y of shape .*; got \(.*\)\. Reshape"):
        likelihood.check(make_bad(y))


def test_text_raises(likelihood):
    with pytest.raises(ValueError, match=r"expects numbers as y; got .*Convert"):
        likelihood.check(np.array(["a", "b"]))


def test_gaussian_targets_are_finite_or_refused(likelihood, y):
    try:
        targets, variances = likelihood.gaussian_targets(y)[:2]
    except ValueError as refusal:
        assert "expects" in str(refusal) and "; got " in str(refusal)
        return
    assert targets.shape == variances.shape
    assert targets.shape[1] == NUM_POINTS
    assert targets.shape[0] <= likelihood.num_outputs(y)
    assert jnp.all(jnp.isfinite(targets)) and jnp.all(variances > 0)


def test_single_precision_values_give_the_same_answer_roughly(likelihood, y, key):
    values = marginals(likelihood.num_outputs(y))
    single = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), values)
    expected = functools.partial(likelihood.expected_log_prob, y, key=jax.random.split(key, 2)[0])
    np.testing.assert_allclose(expected(single), expected(values), rtol=1e-3)


@pytest.mark.parametrize(
    ("likelihood", "bad"),
    [
        (Bernoulli(), [0, 2]),
        (Categorical(), [0, 0.5]),
        (Categorical(), [-1, 0]),
        (Categorical(num_classes=2), [0, 2]),
        (Poisson(), [-1, 3]),
        (Poisson(), [0.5, 3]),
        (CustomLikelihood(laplace_density, support=(0, 1)), [0.5, 1.5]),
    ],
)
def test_impossible_observations_are_refused_with_a_remedy(likelihood, bad):
    with pytest.raises(ValueError, match=r"expects .*; got .*\. [A-Z].*\."):
        likelihood.check(np.array(bad))


@pytest.mark.parametrize("kind", [Marginals, Gaussian])
def test_draws_at_a_point_have_its_moments_and_do_not_depend_on_other_points(kind, key):
    roots = jax.random.normal(key, (6, 3, 3))
    mean, covs = jnp.arange(18.0).reshape(3, 6), roots @ jnp.swapaxes(roots, 1, 2)
    if kind is Gaussian:  # between points, output by output; at a point outputs are independent
        covs = jax.vmap(jnp.diag)(jnp.diagonal(covs, axis1=1, axis2=2))
        values = Gaussian(mean, jax.vmap(jnp.diag)(jnp.diagonal(covs, axis1=1, axis2=2).T))
        some = Gaussian(mean[:, 3:1:-1], values.cov[:, 3:1:-1, 3:1:-1])
    else:
        values, some = Marginals(mean, covs), Marginals(mean[:, 3:1:-1], covs[3:1:-1])
    draws = marginal_draws(values, 100, key=key)
    moves = draws - mean
    np.testing.assert_allclose(jnp.mean(draws, axis=0), mean, atol=1e-12)
    np.testing.assert_allclose(jnp.einsum("sip,sjp->pij", moves, moves) / 100, covs, atol=1e-12)
    np.testing.assert_array_equal(marginal_draws(some, 100, key=key), draws[..., 3:1:-1])
