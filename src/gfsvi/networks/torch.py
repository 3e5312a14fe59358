"""PyTorch modules."""

import dataclasses
import importlib
import math
from typing import Any, NoReturn

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.networks.base import Inputs, Params
from gfsvi.networks.foreign import AbstractForeignNetwork, Opaque
from gfsvi.plain.networks import Layers


class TorchNetwork(AbstractForeignNetwork):
    """A PyTorch module that maps all points at once.

    It is evaluated by PyTorch, outside of JAX's programs: it can be given a posterior by
    `gfsvi.posterior_of`, but not be trained here.
    """

    module: Opaque = eqx.field(static=True, converter=Opaque)

    def __check_init__(self) -> None:
        for part in self.module.content.modules():
            kind = type(part).__name__
            if "BatchNorm" in kind and part.training:
                raise self.hidden_state_error(f"{kind}; call module.eval() to freeze it")
            if "Dropout" in kind and part.training:
                raise self.randomness_error("Disable it: module.eval().")

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        named = self.module.content.named_parameters()
        return {name: weights.detach().cpu().numpy().copy() for name, weights in named}

    def apply(self, params: Params, x: Inputs) -> NoReturn:
        raise self._outside()

    def linearize(self, params: Params, x: Inputs, outputs: Float[Array, "k output"]) -> NoReturn:
        raise self._outside()

    def in_numpy(self, params: Params) -> "EvaluatedModule":
        """The module at these weights, from rows to arrays of NumPy."""
        return EvaluatedModule(self, dict(params))

    def _outside(self) -> TypeError:
        return TypeError(
            "a PyTorch module expects to be evaluated by PyTorch; got a use that needs JAX, such "
            "as training, draws of functions or covariances. Use `marginals` or `predict` of its "
            "posterior, or rewrite the network for Equinox, Flax or Haiku."
        )


@dataclasses.dataclass(frozen=True)
class EvaluatedModule:
    """A module at given weights, evaluated in float64."""

    network: TorchNetwork
    params: dict[str, np.ndarray]

    @property
    def row_size(self) -> int:
        """Elements of the derivatives of one output at one row."""
        return sum(math.prod(np.shape(weights)) for weights in self.params.values())

    def linearized(self, x: np.ndarray, first: int = 0) -> tuple[np.ndarray, Layers]:
        """Outputs (output, row), and their derivatives as layers without inputs, from the first."""
        func = importlib.import_module("torch.func")
        module, params, fixed = self.network.module.content, *self._tensors()

        def outputs(params: dict[str, Any], rows: Any) -> Any:
            return func.functional_call(module, {**params, **fixed}, (rows,))

        rows = self._tensor(x)
        values: Any = self.network.checked_outputs(outputs(params, rows), x)
        by_row = func.vmap(func.jacrev(lambda p, row: outputs(p, row[None])[0]), (None, 0))
        found = by_row(params, rows)
        # In the order of JAX's leaves: sorted by name.
        derivatives = [found[name].detach().flatten(2).numpy() for name in sorted(found)]
        nothing = np.zeros((len(x), 0))
        layers = [(nothing, np.swapaxes(d, 0, 1)) for d in derivatives[first:]]
        return values.detach().numpy().T, layers

    def _tensors(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Weights, and the other numbers of the module."""
        params = {name: self._tensor(weights) for name, weights in self.params.items()}
        buffers = dict(self.network.module.content.named_buffers())
        fixed = {n: b.detach().double() if b.is_floating_point() else b for n, b in buffers.items()}
        return params, fixed

    @staticmethod
    def _tensor(array: np.ndarray) -> Any:
        torch = importlib.import_module("torch")
        return torch.as_tensor(np.array(array, np.float64))
