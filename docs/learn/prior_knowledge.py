"""State what you know as a kernel.

A series goes up and down once a year around a level that drifts. You know that before you see a
single number. Here you state it, and a network respects it where there are no data.
"""

# ## Three years of observations
#
# The curve below is synthetic, so that we know the future: a cycle of one year, which is not a
# sine, and a slow drift. We observe 120 days of the first three years and set the next two years
# aside.

import jax
import numpy as np

random = np.random.default_rng(0)


def truth(time: np.ndarray) -> np.ndarray:
    """A cycle of one year on a slow drift."""
    cycle = np.sin(2 * np.pi * time) + 0.4 * np.cos(4 * np.pi * time)
    return cycle + 0.6 * np.sin(0.8 * time)


past = np.sort(random.uniform(0, 3, 120))
observed = truth(past) + 0.1 * random.normal(size=120)
future = np.linspace(3, 5, 200)

# ## Two kernels
#
# A kernel says how similar the function is at two times. `RBF` says: smooth, and similar within
# about a length scale. `Periodic` says: the same again after every period. A sum of kernels is a
# sum of independent functions, so `Periodic + RBF` is the sentence we began with.

from gfsvi.kernels import RBF, Periodic

smooth = RBF(lengthscale=0.3)
yearly = Periodic(lengthscale=1.0, period=1.0) + 0.5 * RBF(lengthscale=3.0)

# ## A network under each
#
# A model is a random function and a likelihood, which says how observations scatter around it.
# `GFSVI` turns the model before the data into the model after the data. The measurement points are
# where the network is compared with the prior: evenly over all five years, not only over the three
# with data. `gamma` is larger than usual, because a periodic kernel varies in few directions only
# ([why](../do/points_and_gamma.md)).

from gfsvi import Data, Model
from gfsvi.functions import GaussianProcess
from gfsvi.likelihoods import Normal
from gfsvi.methods import GFSVI, ExactGP
from gfsvi.networks import MLP
from gfsvi.points import LowDiscrepancy

data = Data(past[:, None], observed)
method = GFSVI(
    network=MLP((50, 50)),
    points=LowDiscrepancy(100, lower=0.0, upper=5.0),
    gamma=1e-8,
)
posteriors = {}
for name, kernel in {"smooth": smooth, "yearly": yearly}.items():
    prior = Model(GaussianProcess(kernel), Normal(0.1))
    posteriors[name] = method(prior, data, key=jax.random.key(0)).posterior

# ## Who knows the future?

for name, posterior in posteriors.items():
    predictive = posterior.predict(future[:, None])
    error = np.sqrt(np.mean((predictive.mean - truth(future)) ** 2))
    print(f"{name}: error {error:.2f}, its own estimate {np.mean(predictive.epistemic_std):.2f}")

# Under the smooth prior the network returns to zero within a year and reports that it does not
# know: its own estimate of the error is about right. Under the yearly prior it repeats the year.

import matplotlib.pyplot as plt

time = np.linspace(0, 5, 400)
figure, panels = plt.subplots(2, 1, figsize=(8, 5), sharex=True, sharey=True, layout="constrained")
for panel, (name, posterior) in zip(panels, posteriors.items(), strict=True):
    predictive = posterior.predict(time[:, None])
    low = predictive.mean - 2 * predictive.epistemic_std
    high = predictive.mean + 2 * predictive.epistemic_std
    panel.fill_between(time, low, high, color="#56b4e9", alpha=0.35, lw=0, label="2 std")
    panel.plot(time, predictive.mean, color="#0072b2", label="network")
    panel.plot(time, truth(time), color="#d55e00", lw=1, ls="--", label="truth")
    panel.plot(past, observed, ".", color="0.3", ms=3, label="observed")
    panel.set_title(f"{name} prior")
panels[0].legend(ncols=4, fontsize=8, loc="lower left")
panels[1].set_xlabel("years")
figure.savefig("series.png", dpi=110)

# ## Is it the network or the prior that knows?
#
# The exact Gaussian process is the posterior of the prior without any network. The network should
# be close to it.

prior = Model(GaussianProcess(yearly), Normal(0.1))
exact = ExactGP()(prior, data, key=jax.random.key(0)).posterior.predict(future[:, None])
network = posteriors["yearly"].predict(future[:, None])
print(f"apart on average by {np.mean(np.abs(network.mean - exact.mean)):.3f}")
print(
    f"uncertainty: exact {np.mean(exact.epistemic_std):.3f}, "
    f"network {np.mean(network.epistemic_std):.3f}"
)
