"""Mean-field variational inference over weights (Blundell et al. 2015)."""

from typing import ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractIndependent
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.inference.calibration import AbstractCalibration, HeldOut
from gfsvi.inference.divergences import weight_kl
from gfsvi.inference.elbo import maximize_sampled_elbo
from gfsvi.inference.initialization import posterior_network
from gfsvi.inference.outputs import check_outputs
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.training.history import Fit
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts, Where


class MFVI(AbstractMethod):
    """Independent Gaussian weights, held to their prior by the KL between weights.

    Dense layers are sampled by local reparameterisation, which makes gradients far less noisy.

    Args:
        covariance: The family of independent weights.
        training: Steps, batches, learning rate.
        num_samples: Functions drawn at a step of training.
        learn_scale: Whether the prior's scale, one a layer, is learned too.
        calibration: How held-out rows, where given, set the noise.
        fixed: Picks the parts of the model that stay as they are.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = BayesianNetwork

    covariance: AbstractIndependent = Diagonal()
    training: Training = eqx.field(static=True, default=Training(num_steps=1500, evaluate_every=25))
    num_samples: int = eqx.field(static=True, default=2)
    learn_scale: bool = eqx.field(static=True, default=False)
    calibration: AbstractCalibration = HeldOut()
    fixed: Where | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        check_outputs(model, data)
        start_key, train_key = jax.random.split(key)
        start = posterior_network(model.function, self.covariance, data, key=start_key)
        return maximize_sampled_elbo(
            self,
            WeightKL(model.function, self.learn_scale),
            start,
            model,
            data,
            num_samples=self.num_samples,
            key=train_key,
            validation=validation,
        )


class WeightKL(eqx.Module):
    """The KL between the weights of posterior and prior."""

    prior: BayesianNetwork
    learn_scale: bool = eqx.field(static=True)

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        return weight_kl(model.function, self.prior, learn_scale=self.learn_scale), {}
