"""A fit as a model of BoTorch, for its acquisition functions and their optimisers."""

# pyright: reportMissingImports=false
# pyright: reportIncompatibleMethodOverride=false
# PyTorch and BoTorch are optional, and BoTorch's signatures differ between its own models.

from typing import Any

from gfsvi.auto.fitted import Fitted
from gfsvi.numerics.extras import packages_for
from gfsvi.portable.predictor import PortablePredictor
from gfsvi.predictives.warp import Unwarped

with packages_for("BotorchModel", "torch", "botorch"):
    import torch
    from botorch.acquisition.objective import PosteriorTransform
    from botorch.models.model import FantasizeMixin, Model
    from botorch.posteriors import GPyTorchPosterior, Posterior, TransformedPosterior
    from gpytorch.distributions import MultivariateNormal
    from linear_operator.utils.cholesky import psd_safe_cholesky

    from gfsvi.portable.torch_ops import TorchOps

JITTER = 1e-12
"""Added to the diagonal of covariances, in shares of the prior's variance at the points."""


class BotorchModel(Model, FantasizeMixin):
    """The closed-form posterior of a fit, evaluated by PyTorch with gradients through the network.

    The posterior is that of the function on the user's scale; with a warped target it is Gaussian
    on the warped scale, and its samples are transformed. `condition_on_observations`, and with it
    `fantasize`, is exact for this Gaussian process. For several targets make a
    `botorch.models.model.ModelList` of several fits.

    Args:
        model: A fitted `GFSVIRegressor`, or a `Fitted`, of one column of numbers.
    """

    def __init__(self, model: Fitted | Any):
        super().__init__()
        predictor = PortablePredictor.of(model, "BotorchModel")
        if predictor.process.num_outputs != 1:
            raise ValueError(
                "BotorchModel expects a fit to one column of numbers; got several. Fit each of "
                "them and make a ModelList."
            )
        self._predictor = predictor
        self._rows: torch.Tensor | None = None
        self._targets: torch.Tensor | None = None
        self.likelihood = None  # which BoTorch asks for fixed noise

    @property
    def num_outputs(self) -> int:
        """One."""
        return 1

    @property
    def batch_shape(self) -> torch.Size:
        """The shape of a batch of observations that the model is conditioned on."""
        return torch.Size() if self._targets is None else self._targets.shape[:-2]

    def posterior(
        self,
        X: torch.Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | torch.Tensor = False,
        posterior_transform: PosteriorTransform | None = None,
    ) -> Posterior:
        """The joint distribution at `X` (batch, q, feature), with observation noise if asked for.

        A tensor as `observation_noise` has variances on the user's scale, which a warped target
        does not have.
        """
        del output_indices  # there is one output
        ops, scatter = TorchOps(X.device), self._predictor.scatter
        rows = self._predictor.standardized(ops, self.transform_inputs(X).double())
        mean, covariance = self._moments(ops, rows)
        if isinstance(observation_noise, torch.Tensor):
            added = self._given_noise(observation_noise)
        else:
            added = scatter.noise_variance(ops, rows, 0) * scatter.widening(0) ** 2
            added = added if observation_noise else added * 0
        covariance = covariance + torch.diag_embed((added + self._jitter).squeeze(-1))
        found = self._on_user_scale(ops, mean.squeeze(-1), covariance)
        return found if posterior_transform is None else posterior_transform(found)

    def condition_on_observations(
        self, X: torch.Tensor, Y: torch.Tensor, **kwargs: Any
    ) -> "BotorchModel":
        """The model after observations `Y` (batch, row, 1) at `X` (batch, row, feature)."""
        ops = TorchOps(X.device)
        rows = self._predictor.standardized(ops, self.transform_inputs(X).double())
        centre, spread = (float(part[0]) for part in self._targets_scale)
        targets = self._predictor.scatter.warped(ops, (Y.double() - centre) / spread, 0)
        if self._rows is not None and self._targets is not None:
            rows, targets = _joined(self._rows, rows), _joined(self._targets, targets)
        made = BotorchModel.__new__(BotorchModel)
        Model.__init__(made)
        made._predictor, made._rows, made._targets = self._predictor, rows, targets
        made.likelihood = None
        return made

    @property
    def _targets_scale(self) -> tuple[Any, Any]:
        return self._predictor.centre, self._predictor.spread

    @property
    def _jitter(self) -> float:
        prior = self._predictor.process.posterior
        return JITTER * float(prior.kernel.diagonal(prior.points).mean())

    def _moments(self, ops: TorchOps, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean (..., q, 1) and covariance (..., q, q) of the function on its own scale."""
        process, wide = self._predictor.process, self._predictor.scatter.widening(0) ** 2
        seen = process.seen(ops, rows)
        mean, covariance = seen.means[0], wide * process.covariance(ops, seen, seen, 0)
        if self._rows is None or self._targets is None:
            return mean, covariance
        known = process.seen(ops, self._rows)
        within = wide * process.covariance(ops, known, known, 0)
        noise = wide * self._predictor.scatter.noise_variance(ops, self._rows, 0).squeeze(-1)
        factor = psd_safe_cholesky(within + torch.diag_embed(noise + self._jitter))
        return _conditioned(
            (mean, covariance),
            wide * process.covariance(ops, known, seen, 0),
            factor,
            self._targets - known.means[0],
        )

    def _on_user_scale(
        self, ops: TorchOps, mean: torch.Tensor, covariance: torch.Tensor
    ) -> Posterior:
        predictor, (centre, spread) = self._predictor, self._targets_scale
        if isinstance(predictor.scatter.warp, Unwarped):
            scaled = MultivariateNormal(mean * spread[0] + centre[0], covariance * spread[0] ** 2)
            return GPyTorchPosterior(scaled)

        def observed(values: torch.Tensor) -> torch.Tensor:
            return predictor.on_user_scale(ops, predictor.scatter.observed(ops, values, 0), 0)

        def moments(mean: torch.Tensor, variance: torch.Tensor) -> tuple[Any, Any]:
            without_noise = torch.zeros_like(variance)
            expected, known, _ = predictor.scatter.moments(ops, mean, variance, without_noise, 0)
            return predictor.on_user_scale(ops, expected, 0), known * spread[0] ** 2

        return TransformedPosterior(
            GPyTorchPosterior(MultivariateNormal(mean, covariance)),
            sample_transform=observed,
            mean_transform=lambda *normal: moments(*normal)[0],
            variance_transform=lambda *normal: moments(*normal)[1],
        )

    def _given_noise(self, variance: torch.Tensor) -> torch.Tensor:
        if not isinstance(self._predictor.scatter.warp, Unwarped):
            raise ValueError(
                "BotorchModel expects observation_noise to be True or False, as the target is "
                "warped; got a tensor of variances. Fit with likelihood='normal' to give them."
            )
        return variance / float(self._predictor.spread[0]) ** 2


def _conditioned(
    moments: tuple[torch.Tensor, torch.Tensor],
    between: torch.Tensor,
    factor: torch.Tensor,
    residual: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A Gaussian given observations, the factor of whose covariance is known.

    Args:
        moments: Mean (..., q, 1) and covariance (..., q, q).
        between: Covariances of observations and values, (..., row, q).
        factor: The lower Cholesky factor of the covariance of the observations, (..., row, row).
        residual: The observations less their means, (..., row, 1).
    """
    mean, covariance = moments
    batch = torch.broadcast_shapes(factor.shape[:-2], between.shape[:-2], residual.shape[:-2])
    factor, between, residual = (
        part.expand(*batch, *part.shape[-2:]) for part in (factor, between, residual)
    )
    gain = torch.linalg.solve_triangular(factor, between, upper=False)
    explained = torch.linalg.solve_triangular(factor, residual, upper=False)
    turned = gain.transpose(-1, -2)
    return mean + turned @ explained, covariance - turned @ gain


def _joined(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Rows after rows, whose batches are broadcast."""
    batch = torch.broadcast_shapes(before.shape[:-2], after.shape[:-2])
    parts = [part.expand(*batch, *part.shape[-2:]) for part in (before, after)]
    return torch.cat(parts, dim=-2)
