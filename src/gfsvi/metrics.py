"""Metrics of predictive distributions, given the observations.

A metric is a mean over points and, for several outputs, over all scalar components.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from jax.typing import ArrayLike
from jaxtyping import PRNGKeyArray

from gfsvi.numerics.precision import double
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.predictives.normal import NormalPredictive
from gfsvi.predictives.normal_mixture import NormalMixturePredictive
from gfsvi.predictives.student import StudentPredictive
from gfsvi.predictives.warped import WarpedPredictive

NUM_LEVELS = 200
"""Quantiles that a CRPS is integrated over: it is exact to about 1e-4 of itself."""


def expected_log_likelihood(predictive: AbstractPredictive, y: ArrayLike) -> float:
    """Mean of E_q[log p(y | f)], which the paper reports as log-likelihood; higher is better."""
    return _mean_log_prob(predictive.expected_log_prob(np.asarray(y)), y)


def log_predictive_density(predictive: AbstractPredictive, y: ArrayLike) -> float:
    """Mean of log E_q[p(y | f)], which most other papers report; higher is better."""
    return _mean_log_prob(predictive.log_prob(np.asarray(y)), y)


def least_log_density(predictive: AbstractPredictive, y: ArrayLike) -> float:
    """Log predictive density of the row that was expected least; higher is better."""
    return float(np.min(predictive.log_prob(np.asarray(y))))


def mse(predictive: AbstractRealPredictive, y: ArrayLike) -> float:
    """Mean squared difference between the predictive mean and y; lower is better."""
    mean = np.asarray(predictive.mean)
    return float(np.mean(np.square(mean - _shaped(y, mean))))


def crps(
    predictive: AbstractRealPredictive,
    y: ArrayLike,
    *,
    num_samples: int = 1000,
    key: PRNGKeyArray | None = None,
) -> float:
    """Continuous ranked probability score E|Y - y| - E|Y - Y'| / 2; lower is better.

    Closed form for normal predictives and their mixtures, an integral over quantiles for Student's
    t and warped predictives, else the unbiased estimate from samples.
    """
    if isinstance(predictive, NormalPredictive):
        return _normal_crps(predictive, y)
    if isinstance(predictive, StudentPredictive | WarpedPredictive):
        return _crps_of_quantiles(predictive, y)
    if isinstance(predictive, NormalMixturePredictive):
        return _normal_mixture_crps(predictive, y)
    key = jax.random.key(0) if key is None else key
    draws = np.sort(np.asarray(predictive.sample(num_samples, key=key)), axis=0)
    error = np.mean(np.abs(draws - _shaped(y, draws[0])), axis=0)
    # sum_{i<j} (y_(j) - y_(i)) = sum_i (2 i - n + 1) y_(i), i = 0 ... n-1, over n (n-1) / 2 pairs
    ranks = 2 * np.arange(num_samples) - num_samples + 1
    spread = np.tensordot(ranks, draws, axes=1) / (num_samples * (num_samples - 1) / 2)
    return float(np.mean(error - spread / 2))


@double
def _normal_crps(predictive: NormalPredictive, y: ArrayLike) -> float:
    # sigma [z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)], z = (y - mu) / sigma
    mean, std = np.asarray(predictive.mean), np.asarray(predictive.std)
    z = jnp.asarray((_shaped(y, mean) - mean) / std)
    score = z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi)
    return float(jnp.mean(std * score))


def _crps_of_quantiles(predictive: AbstractRealPredictive, y: ArrayLike) -> float:
    # 2 * integral over u of (1{y < Q(u)} - u) (Q(u) - y); u = 3 t^2 - 2 t^3 has more of the levels
    # in the tails, where the integrand is steep.
    t = (np.arange(NUM_LEVELS) + 0.5) / NUM_LEVELS
    levels, weights = 3 * t**2 - 2 * t**3, 6 * t * (1 - t) / NUM_LEVELS
    total = 0.0
    for u, weight in zip(levels, weights, strict=True):  # one by one, for the sake of memory
        away = np.asarray(predictive.quantile(float(u)))
        away = away - _shaped(y, away)
        total += 2 * weight * float(np.mean(((away > 0) - u) * away))
    return total


def _normal_mixture_crps(predictive: NormalMixturePredictive, y: ArrayLike) -> float:
    # sum_i w_i A(y - mu_i, s_i) - 1/2 sum_ij w_i w_j A(mu_i - mu_j, sqrt(s_i^2 + s_j^2)), where
    # A(m, s) = E|Z| for Z normal with mean m and standard deviation s (Grimit et al. 2006)
    means, stds = np.asarray(predictive.means), np.asarray(predictive.stds)
    weights = np.asarray(predictive.weights)
    error = weights @ _mean_absolute(_shaped(y, means[0]) - means, stds)
    between = _mean_absolute(means[:, None] - means, np.hypot(stds[:, None], stds))
    spread = np.einsum("i,j,ijp->p", weights, weights, between)
    return float(np.mean(error - spread / 2))


def _mean_absolute(mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    from scipy import special

    z = mean / std
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return mean * (2 * special.ndtr(z) - 1) + 2 * std * density


def interval_score(predictive: AbstractRealPredictive, y: ArrayLike, level: float = 0.95) -> float:
    """Width of the central interval, plus 2 / (1 - level) times how far y is outside of it.

    The interval score of Gneiting and Raftery (2007); lower is better.
    """
    low, high = map(np.asarray, predictive.interval(level))
    y = _shaped(y, low)
    outside = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    return float(np.mean(high - low + 2 / (1 - level) * outside))


def coverage(predictive: AbstractRealPredictive, y: ArrayLike, level: float = 0.95) -> float:
    """Share of observations inside the central interval of this level; ideally the level itself."""
    low, high = map(np.asarray, predictive.interval(level))
    y = _shaped(y, low)
    return float(np.mean((low <= y) & (y <= high)))


def accuracy(predictive: CategoricalPredictive, y: ArrayLike) -> float:
    """Share of labels that are the most probable class; higher is better."""
    predicted = np.asarray(predictive.predicted)
    return float(np.mean(predicted == _shaped(y, predicted)))


def expected_calibration_error(
    predictive: CategoricalPredictive, y: ArrayLike, num_bins: int = 15
) -> float:
    """Mean of |accuracy - confidence| over equal-width bins of the largest probability.

    Bins are weighted by their size and include their upper edge; lower is better.
    """
    return calibration_error(predictive.probabilities, y, num_bins)


def calibration_error(probabilities: ArrayLike, y: ArrayLike, num_bins: int = 15) -> float:
    """`expected_calibration_error` of probabilities (point, class)."""
    probabilities = np.asarray(probabilities)
    confidence, predicted = probabilities.max(axis=-1), probabilities.argmax(axis=-1)
    correct = predicted == _shaped(y, predicted)
    bins = np.clip(np.ceil(confidence * num_bins).astype(int) - 1, 0, num_bins - 1)
    # |accuracy - confidence| times the number of points = |sum of (correct - confidence)|
    gaps = np.bincount(bins, weights=correct - confidence, minlength=num_bins)
    return float(np.sum(np.abs(gaps)) / len(confidence))


def auc(probabilities: ArrayLike, y: ArrayLike, positive: int | None = None) -> float:
    """Chance that a row of a class gets a higher probability of it than a row of another class.

    Of the positive class, or the mean over all classes that occur; 0.5 for a guess, 1 is best.
    """
    probabilities, y = np.asarray(probabilities), np.asarray(y)
    of_classes = [_auc(probabilities[:, k], y == k) for k in _occurring(y, positive)]
    return float(np.mean([one for one in of_classes if one is not None] or [0.5]))


def precision(predicted: ArrayLike, y: ArrayLike, positive: int | None = None) -> float:
    """Share of the rows predicted to be positive that are; 0 if none is. See `recall`."""
    predicted, y = np.asarray(predicted), np.asarray(y)
    return _mean_share([(y == k)[predicted == k] for k in _occurring(y, positive)])


def recall(predicted: ArrayLike, y: ArrayLike, positive: int | None = None) -> float:
    """Share of the positive rows that are predicted to be; without one, the mean over classes."""
    predicted, y = np.asarray(predicted), np.asarray(y)
    return _mean_share([(predicted == k)[y == k] for k in _occurring(y, positive)])


def _occurring(y: np.ndarray, positive: int | None) -> list[int]:
    return np.unique(y).tolist() if positive is None else [positive]


def _mean_share(marked: list[np.ndarray]) -> float:
    return float(np.mean([float(np.mean(one)) if one.size else 0.0 for one in marked]))


def _auc(score: np.ndarray, is_positive: np.ndarray) -> float | None:
    """The area under the curve of one class; None unless there are rows in and out of it."""
    num_in, num_out = np.sum(is_positive), np.sum(~is_positive)
    if not (num_in and num_out):
        return None
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    # Rows of equal score share the mean of their ranks 1 ... n.
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return float((ranks[is_positive].sum() - num_in * (num_in + 1) / 2) / (num_in * num_out))


def wasserstein2_squared(
    q_mean: ArrayLike, q_std: ArrayLike, p_mean: ArrayLike, p_std: ArrayLike
) -> np.ndarray:
    """Squared 2-Wasserstein distance between two normal distributions, at each point."""
    q_mean, q_std, p_mean, p_std = map(np.asarray, (q_mean, q_std, p_mean, p_std))
    return np.square(q_mean - p_mean) + np.square(q_std - p_std)


def wasserstein2_squared_from_samples(q_draws: ArrayLike, p_draws: ArrayLike) -> np.ndarray:
    """Squared 2-Wasserstein distance between equally many draws (sample, ...), at each point."""
    q_draws, p_draws = np.asarray(q_draws), np.asarray(p_draws)
    if q_draws.shape != p_draws.shape:
        raise ValueError(
            "wasserstein2_squared_from_samples expects two arrays of one shape (sample, point); "
            f"got {q_draws.shape} and {p_draws.shape}. Draw equally many samples of both."
        )
    return np.mean(np.square(np.sort(q_draws, axis=0) - np.sort(p_draws, axis=0)), axis=0)


def out_of_distribution_accuracy(in_scores: ArrayLike, out_scores: ArrayLike) -> float:
    """Best accuracy of separating the two sets by one threshold, in either direction.

    As in the paper, the threshold is chosen on the same scores that it is evaluated on, so two
    sets of equal size give at least 0.5.
    """
    in_scores, out_scores = np.ravel(np.asarray(in_scores)), np.ravel(np.asarray(out_scores))
    scores = np.concatenate([in_scores, out_scores])
    if not (in_scores.size and out_scores.size and np.all(np.isfinite(scores))):
        raise ValueError(
            "out_of_distribution_accuracy expects finite scores, at least one per set; "
            f"got {in_scores.size} and {out_scores.size}, {np.sum(~np.isfinite(scores))} of them "
            "NaN or infinite. Remove those."
        )
    order = np.argsort(scores)
    is_out = (np.arange(scores.size) >= in_scores.size)[order]
    # right[k]: number classified correctly if the k smallest are called inside, the rest outside
    gained = np.concatenate([[0], np.cumsum(np.where(is_out, -1, 1))])
    right = out_scores.size + gained
    # Equal scores cannot be separated: thresholds lie between different scores.
    ordered = scores[order]
    between = np.concatenate([[True], ordered[1:] > ordered[:-1], [True]])
    possible = right[between]
    return float(max(possible.max(), scores.size - possible.min()) / scores.size)


def _mean_log_prob(log_prob: ArrayLike, y: ArrayLike) -> float:
    # log_prob sums over the outputs of a point
    return float(np.mean(np.asarray(log_prob)) * len(np.asarray(log_prob)) / np.size(y))


def _shaped(y: ArrayLike, like: np.ndarray) -> np.ndarray:
    # (point, 1) beside (point,) would broadcast to (point, point)
    observed = np.asarray(y)
    if observed.size != like.size:
        raise ValueError(
            f"a metric expects one observation per prediction, {like.shape}; "
            f"got {observed.shape}. Pass the observations of the predicted points."
        )
    return observed.reshape(like.shape)
