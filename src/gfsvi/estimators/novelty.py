"""How unlike everything seen an input is."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.data import Data
from gfsvi.functions.conditioned_process import ConditionedProcess
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.model import Model
from gfsvi.precision import double

MAX_ROWS = 1000


class Novelty(eqx.Module):
    """The share of the prior's variance that the training inputs leave, in [0, 1].

    It is the prior conditioned on where observations were made, not on what they were: a network
    may saturate far from its data, the prior's own variance comes back to its full size there.
    """

    process: ConditionedProcess

    @classmethod
    @double
    def of(cls, prior: Model, data: Data, *, seed: int) -> "Novelty":
        """Novelty with respect to `data`; of many rows a random thousand stand for all."""
        num_rows = len(data)
        rows = np.random.default_rng(seed).permutation(num_rows)[:MAX_ROWS]
        some = data.take(np.sort(rows))
        function = GaussianProcess(prior.function.kernel)
        variance = prior.likelihood.gaussian_targets(some.y, prior.function.outputs).variance
        # A row that stands for several is several observations: noise averages out.
        noise = jnp.mean(variance) * len(some) / num_rows
        targets = jnp.zeros((1, len(some)))
        given = ConditionedProcess.given(
            function, jnp.asarray(some.x, jnp.float64), targets, noise * jnp.ones_like(targets)
        )
        return cls(given)

    @double
    def at(self, x: Float[Array, "row feature"]) -> Float[Array, " row"]:
        """Zero where the data say all there is to know, one where they say nothing."""
        parts = [self._share(jnp.asarray(part)) for part in _blocks(np.asarray(x, np.float64))]
        return np.concatenate([np.asarray(part) for part in parts])

    def _share(self, x: Float[Array, "row feature"]) -> Float[Array, " row"]:
        left = self.process.marginals(x).variance[0]
        return jnp.clip(left / self.process.prior.marginals(x).variance[0], 0.0, 1.0)


def _blocks(x: np.ndarray, size: int = 4096) -> list[np.ndarray]:
    return [x[start : start + size] for start in range(0, max(len(x), 1), size)]
