"""Five networks in PyTorch that predict mean and spread, or classes, and are averaged.

Two layers of 128 units and Adam. Each network holds out a tenth of the rows, its own, keeps the
weights that predict them best, and stops when they have not been predicted better for a while.
"""
# pyright: reportMissingImports=false

import copy
from collections.abc import Callable

import numpy as np
import pandas
import torch
from prepared import Answer, Columns, Fold, answer, held_out_rows
from torch import nn

NUM_MEMBERS, WIDTH = 5, 128
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 1e-4
NUM_EPOCHS, PATIENCE = 400, 40
SMALL_BATCH, LARGE_BATCH, MANY_ROWS = 64, 256, 5_000
LEAST_STD = 1e-3

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def fit(fold: Fold, columns: Columns) -> Callable[[pandas.DataFrame], Answer]:
    """Train the members one after the other."""
    torch.set_num_threads(1)
    x = torch.as_tensor(columns.matrix(fold.train), dtype=torch.float32)
    centre, spread = (0.0, 1.0) if fold.classes else (fold.y.mean(), fold.y.std() or 1.0)
    if fold.classes is None:
        y = torch.as_tensor((fold.y - centre) / spread, dtype=torch.float32)
        num_outputs, loss = 2, negative_log_density
    else:
        y, num_outputs, loss = torch.as_tensor(fold.y), len(fold.classes), nn.CrossEntropyLoss()
    members = []
    for number in range(NUM_MEMBERS):
        seed = NUM_MEMBERS * fold.seed + number
        torch.manual_seed(seed)
        network = network_of(x.shape[1], num_outputs)
        members.append(trained(network, x, y, held_out_rows(fold, 0.1, seed), loss))

    def predict(table: pandas.DataFrame) -> Answer:
        rows = torch.as_tensor(columns.matrix(table), dtype=torch.float32)
        with torch.no_grad():
            outputs = torch.stack([member(rows) for member in members])
        if fold.classes is not None:
            return {"probability": outputs.double().softmax(dim=-1).mean(dim=0).numpy()}
        mean, std = (part.double().numpy() for part in parts_of(outputs))
        weight = np.full(NUM_MEMBERS, 1 / NUM_MEMBERS)
        return {"mean": centre + spread * mean, "std": spread * std, "weight": weight}

    return predict


def network_of(num_features: int, num_outputs: int) -> nn.Sequential:
    """Two hidden layers."""
    hidden = (nn.Linear(num_features, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU())
    return nn.Sequential(*hidden, nn.Linear(WIDTH, num_outputs))


def parts_of(outputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and standard deviation."""
    return outputs[..., 0], nn.functional.softplus(outputs[..., 1]) + LEAST_STD


def negative_log_density(outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Mean negative log density of a normal distribution."""
    mean, std = parts_of(outputs)
    return nn.functional.gaussian_nll_loss(mean, y, std**2)


def trained(
    network: nn.Sequential,
    x: torch.Tensor,
    y: torch.Tensor,
    rows: tuple[np.ndarray, np.ndarray],
    loss: Loss,
) -> nn.Sequential:
    """The network with the weights that predict held-out rows best."""
    kept, held_out = map(torch.as_tensor, rows)
    batch = SMALL_BATCH if len(x) <= MANY_ROWS else LARGE_BATCH
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    best, lowest, waited = copy.deepcopy(network.state_dict()), float("inf"), 0
    for _ in range(NUM_EPOCHS):
        for chosen in kept[torch.randperm(len(kept))].split(batch):
            optimizer.zero_grad()
            loss(network(x[chosen]), y[chosen]).backward()
            optimizer.step()
        with torch.no_grad():
            now = float(loss(network(x[held_out]), y[held_out]))
        waited += 1
        if now < lowest:
            best, lowest, waited = copy.deepcopy(network.state_dict()), now, 0
        if waited == PATIENCE:
            break
    network.load_state_dict(best)
    return network


if __name__ == "__main__":
    answer(fit)
