"""Fits of laplace-torch and GPyTorch, run in their environment; imports nothing of this project.

python benchmarks/peers_script.py laplace ROWS.npz SEED 100 100

ROWS has `x_train`, `y_train`, `x_test` and `y_test`; the numbers at the end are the widths of the
hidden layers. Two fits are timed after the imports. Their seconds, and the scores of the second
on the target standardised by the training rows, are printed as JSON.
"""
# The peers are not installed where types are checked.
# pyright: reportMissingImports=false

import json
import math
import os
import sys
import time
from collections.abc import Callable

import gpytorch
import laplace
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

# laplace-torch: the numbers of its regression example, which uses the full batch as well. Rows in
# memory are not passed through a DataLoader while training, which would only take longer.
NUM_EPOCHS, LEARNING_RATE, WEIGHT_DECAY = 1000, 1e-2, 5e-4
NUM_EVIDENCE_STEPS, EVIDENCE_LEARNING_RATE = 1000, 1e-1

# GPyTorch: the learning rate of its regression tutorial, but twice its 50 iterations: after 50, on
# energy, the evidence per row is 0.39 below that after 100.
NUM_ITERATIONS, PROCESS_LEARNING_RATE = 100, 1e-1

Predict = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
"""From rows to means and variances of observations."""


def fit_laplace(x: torch.Tensor, y: torch.Tensor, hidden: list[int]) -> Predict:
    """Train a network and fit a Laplace approximation with Kronecker factors to it."""
    network = trained(network_of(x.shape[1], hidden), x, y[:, None])
    posterior = laplace.Laplace(
        network, "regression", subset_of_weights="all", hessian_structure="kron"
    )
    posterior.fit(DataLoader(TensorDataset(x, y[:, None]), batch_size=len(x)))
    log_precision, log_noise = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = torch.optim.Adam([log_precision, log_noise], lr=EVIDENCE_LEARNING_RATE)
    for _ in range(NUM_EVIDENCE_STEPS):
        optimizer.zero_grad()
        evidence = posterior.log_marginal_likelihood(log_precision.exp(), log_noise.exp())
        (-evidence).backward()
        optimizer.step()

    def predict(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, variance = posterior(x, pred_type="glm")
        return mean.flatten(), variance.flatten() + posterior.sigma_noise**2

    return predict


def network_of(num_features: int, hidden: list[int]) -> torch.nn.Sequential:
    """Dense layers with tanh between them."""
    layers: list[torch.nn.Module] = []
    for width_before, width in zip([num_features, *hidden[:-1]], hidden, strict=True):
        layers += [torch.nn.Linear(width_before, width), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(hidden[-1], 1))


def trained(network: torch.nn.Sequential, x: torch.Tensor, y: torch.Tensor) -> torch.nn.Sequential:
    """Train a network by Adam with weight decay."""
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    for _ in range(NUM_EPOCHS):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(network(x), y).backward()
        optimizer.step()
    return network


class Process(gpytorch.models.ExactGP):
    """An exact Gaussian process with one length scale per feature."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor):
        super().__init__(x, y, gpytorch.likelihoods.GaussianLikelihood())
        kernel = gpytorch.kernels.MaternKernel(2.5, ard_num_dims=x.shape[1])
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        """The prior at rows."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def fit_process(x: torch.Tensor, y: torch.Tensor, hidden: list[int]) -> Predict:
    """Maximise the evidence of a Gaussian process; it has no hidden layers."""
    process = Process(x, y).train()
    optimizer = torch.optim.Adam(process.parameters(), PROCESS_LEARNING_RATE)
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(process.likelihood, process)
    for _ in range(NUM_ITERATIONS):
        optimizer.zero_grad()
        (-evidence(process(x), y)).backward()
        optimizer.step()
    process.eval()

    def predict(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        observed = process.likelihood(process(x))
        return observed.mean, observed.variance

    return predict


FITS = {"laplace": fit_laplace, "gp": fit_process}


def standardized(path: str) -> list[torch.Tensor]:
    """Training rows, their targets, test rows and their targets, scaled by the training rows."""
    with np.load(path, allow_pickle=False) as file:
        pairs = [(file[f"{name}_train"], file[f"{name}_test"]) for name in "xy"]
    scaled = []
    for train, test in pairs:
        spread = train.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        scaled.append([(part - train.mean(axis=0)) / spread for part in (train, test)])
    (x, x_test), (y, y_test) = scaled
    return [torch.tensor(array, dtype=torch.float32) for array in (x, y, x_test, y_test)]


def scores(mean: torch.Tensor, variance: torch.Tensor, y: torch.Tensor) -> dict[str, float]:
    """Mean log predictive density and root mean squared error."""
    squared, variance = (y - mean).double() ** 2, variance.double()
    density = -0.5 * (squared / variance + torch.log(2 * math.pi * variance))
    return {
        "log_predictive_density": float(density.mean()),
        "rmse": float(squared.mean().sqrt()),
    }


def main(name: str, path: str, seed: str, *hidden: str) -> None:
    """Fit twice, and print seconds and scores."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    x, y, x_test, y_test = standardized(path)
    widths, found = [int(width) for width in hidden], {}
    for which in ("first", "second"):
        torch.manual_seed(int(seed))
        start = time.perf_counter()
        predict = FITS[name](x, y, widths)
        found[which] = time.perf_counter() - start
    with torch.no_grad():
        print(json.dumps({"seconds": found, **scores(*predict(x_test), y_test)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
