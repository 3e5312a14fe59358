"""How observations scatter around the function, in sentences."""

import numpy as np

from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.base import AbstractLikelihood, per_output

FEW = 10
"""Degrees of freedom below which tails are worth a word."""
QUIET, NOISY = 0.05, 0.95
"""Shares of rows with less noise than those that are compared."""


def scatter_in_words(likelihood: AbstractLikelihood, x: np.ndarray) -> str | None:
    """Whether the noise differs between rows, and whether rows are far off; None if neither.

    Args:
        likelihood: The likelihood of a posterior.
        x: Rows on the model's scale.
    """
    if not isinstance(likelihood, AdaptiveNormal):
        return None
    sentences = []
    if likelihood.factor is not None:
        noise = np.asarray(per_output(likelihood.at(x).noise))
        quiet, noisy = np.quantile(noise, [QUIET, NOISY], axis=1)
        ratio = float(np.max(noisy / quiet))
        sentences.append(
            "The noise depends on the columns: it is "
            f"{ratio:.1f} times as large in the noisiest rows as in the quietest."
        )
    freedom = float(np.min(likelihood.degrees_of_freedom))
    if freedom <= FEW:
        sentences.append(
            "Some rows are much farther off than others, and predictions allow for it: they follow "
            f"Student's t with {freedom:g} degrees of freedom."
        )
    return " ".join(sentences) or None
