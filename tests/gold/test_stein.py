"""The spectral Stein estimator against scores that are known."""

import numpy as np
import pytest

from gfsvi.inference.stein import estimated_score


def agreement(estimate: np.ndarray, score: np.ndarray) -> tuple[float, float]:
    """Cosine between two fields, and the size of the first along the second."""
    product = np.sum(estimate * score)
    norms = np.linalg.norm(estimate), np.linalg.norm(score)
    return product / (norms[0] * norms[1]), product / norms[1] ** 2


def of_normal(num_samples: int, dimension: int, seed: int) -> tuple[float, float]:
    """How well the score of a normal distribution is found."""
    random = np.random.default_rng(seed)
    mean, std = random.normal(size=dimension), random.uniform(0.5, 2, size=dimension)
    samples = mean + std * random.normal(size=(num_samples, dimension))
    return agreement(np.asarray(estimated_score(samples)), -(samples - mean) / std**2)


@pytest.mark.parametrize("seed", range(3))
def test_the_score_of_a_normal_is_found_in_one_dimension(seed: int) -> None:
    cosine, size = of_normal(900, 1, seed)
    assert cosine > 0.95
    assert 0.9 < size < 1.1


@pytest.mark.parametrize("seed", range(3))
def test_the_score_of_a_normal_is_found_in_ten_dimensions(seed: int) -> None:
    cosine, size = of_normal(900, 10, seed)
    assert cosine > 0.8
    assert 0.9 < size < 1.1


@pytest.mark.parametrize("dimension", [1, 10])
def test_more_samples_find_the_score_better(dimension: int) -> None:
    few, many = (
        np.median([of_normal(n, dimension, seed)[0] for seed in range(3)]) for n in (50, 500)
    )
    assert many > few


def test_the_score_of_a_skewed_distribution_is_not_that_of_a_normal() -> None:
    samples = np.random.default_rng(0).gumbel(size=(400, 1))
    true = -1 + np.exp(-samples)
    as_if_normal = -(samples - samples.mean()) / samples.var()
    estimate = np.asarray(estimated_score(samples))
    assert np.mean((estimate - true) ** 2) < np.mean((as_if_normal - true) ** 2)


def test_many_dimensions_shrink_the_estimate() -> None:
    # Why FVI wants few points: with 100 draws at 500 values little of the score is left.
    _, size = of_normal(100, 500, 0)
    assert size < 0.3
