"""A fit of GPyTorch's sparse variational process; runs in the environment of the peers.

python benchmarks/svgp_script.py ROWS.npz SEED

1,024 inducing points, which begin at training rows; batches of 1,024 rows, 100 passes of Adam with
a learning rate of 0.01; a Matern-5/2 kernel with a length scale per feature.
"""
# The peers are not installed where types are checked.
# pyright: reportMissingImports=false

import json
import os
import sys
import time

import gpytorch
import torch
from peers_script import scores, standardized

NUM_INDUCING, BATCH_SIZE, NUM_EPOCHS, LEARNING_RATE = 1024, 1024, 100, 1e-2


class SparseProcess(gpytorch.models.ApproximateGP):
    """A sparse variational process with one length scale per feature."""

    def __init__(self, points: torch.Tensor):
        distribution = gpytorch.variational.CholeskyVariationalDistribution(len(points))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, distribution))
        kernel = gpytorch.kernels.MaternKernel(2.5, ard_num_dims=points.shape[1])
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        """The prior at rows."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def main(path: str, seed: str) -> None:
    """Fit, and print seconds and scores."""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(int(seed))
    x, y, x_test, y_test = standardized(path)
    wall, processor = time.perf_counter(), time.process_time()
    process = SparseProcess(x[torch.randperm(len(x))[:NUM_INDUCING]].clone()).train()
    noise = gpytorch.likelihoods.GaussianLikelihood()
    bound = gpytorch.mlls.VariationalELBO(noise, process, num_data=len(y))
    parameters = [*process.parameters(), *noise.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=LEARNING_RATE)
    for epoch in range(NUM_EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH_SIZE):
            optimizer.zero_grad()
            (-bound(process(x[rows]), y[rows])).backward()
            optimizer.step()
        if epoch % 10 == 0:
            print(epoch, time.process_time() - processor, file=sys.stderr, flush=True)
    found = {
        "seconds": time.perf_counter() - wall,
        "processor_seconds": time.process_time() - processor,
    }
    process.eval()
    with torch.no_grad():
        observed = [noise(process(rows)) for rows in x_test.split(BATCH_SIZE)]
        mean = torch.cat([one.mean for one in observed])
        variance = torch.cat([one.variance for one in observed])
    print(json.dumps({**found, **scores(mean, variance, y_test)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
