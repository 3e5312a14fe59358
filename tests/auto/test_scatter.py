import numpy as np

from gfsvi.auto.scatter import scatter_in_words
from gfsvi.likelihoods import AdaptiveNormal, NoiseFunction, Normal

X = np.linspace(-3, 3, 101)[:, None]


def test_even_normal_noise_needs_no_words():
    assert scatter_in_words(Normal(0.1), X) is None
    assert scatter_in_words(AdaptiveNormal(np.array([0.1])), X) is None


def test_tails_and_noise_that_varies_are_told_with_their_numbers():
    factor = NoiseFunction(np.array([[3.0]]), np.array([1.0]), np.array([[np.log(4.0)]]))
    likelihood = AdaptiveNormal(np.array([0.1]), degrees_of_freedom=np.array([4.0]), factor=factor)
    words = scatter_in_words(likelihood, X)
    noise = np.sort(0.1 * factor(X)[0])
    assert f"{noise[95] / noise[5]:.1f} times" in words
    assert "4 degrees of freedom" in words
