"""The classes that a model file may hold, each under a tag that does not depend on its module.

A file says `kernel:rbf`, not where the class is defined, so modules can move without breaking saved
models, and an untrusted file can name only what is in this table. A tag never changes and is never
reused for another class; a class that moves gets a new right-hand side here and nothing else.
"""

import functools
import importlib
from typing import Any

_CLASSES = {
    "calibration": {
        "none": "inference.calibration.NoCalibration",
        "held_out": "inference.calibration.HeldOut",
        "most_probable": "inference.calibration.MostProbable",
    },
    "column": {
        "calendar": "tables.many_rows.Calendar",
        "categories": "tables.columns.Categories",
        "date": "tables.columns.Date",
        "dropped": "tables.columns.Dropped",
        "effects": "tables.many_rows.Effects",
        "numeric": "tables.columns.Numeric",
    },
    "covariance": {
        "closed_form": "covariances.closed_form.ClosedForm",
        "diagonal": "covariances.diagonal.Diagonal",
        "full": "covariances.full.Full",
        "isotropic": "covariances.isotropic.Isotropic",
        "kronecker": "covariances.kronecker.Kronecker",
        "last_layer": "covariances.last_layer.LastLayer",
        "low_rank": "covariances.low_rank.LowRank",
        "rotated_diagonal": "covariances.rotated_diagonal.RotatedDiagonal",
        "subspace": "covariances.subspace.Subspace",
    },
    "data": {"data": "data.Data"},
    "diagnostic": {"diagnostic": "diagnostics.diagnostic.Diagnostic"},
    "fitted": {
        "first_predictions": "auto.first_predictions.FirstPredictions",
        "fitted": "auto.fitted.Fitted",
        "settings": "auto.settings.Settings",
        "unseen_rows": "auto.unseen.UnseenRows",
        "unseen_values": "auto.unseen_rows.UnseenValues",
        "updates": "auto.updates.Updates",
    },
    "function": {
        "beside": "functions.beside.Beside",
        "bayesian_network": "functions.bayesian_network.BayesianNetwork",
        "conditioned_process": "functions.conditioned_process.ConditionedProcess",
        "conjugate_network": "functions.conjugate_network.ConjugateNetwork",
        "ensemble": "functions.ensemble.Ensemble",
        "feature_function": "functions.feature_function.FeatureFunction",
        "gaussian_process": "functions.gaussian_process.GaussianProcess",
        "linearized_network": "functions.linearized_network.LinearizedNetwork",
        "mixed": "functions.mixed.Mixed",
        "network_mean_process": "functions.network_mean_process.NetworkMeanProcess",
        "shifted": "functions.shifted.Shifted",
        "sparse_process": "functions.sparse_process.SparseProcess",
        "tangents": "functions.tangents.Tangents",
        "tangents_of_last_layer": "functions.tangents.LastLayerTangents",
    },
    "kernel": {
        "active_dimensions": "kernels.base.ActiveDimensions",
        "constant": "kernels.constant.Constant",
        "helmholtz_kernel": "kernels.helmholtz.HelmholtzKernel",
        "integrated_brownian": "kernels.integrated_brownian.IntegratedBrownian",
        "known": "kernels.known.Known",
        "linear": "kernels.linear.Linear",
        "locally_periodic": "kernels.locally_periodic.LocallyPeriodic",
        "matern12": "kernels.matern12.Matern12",
        "matern32": "kernels.matern32.Matern32",
        "matern52": "kernels.matern52.Matern52",
        "periodic": "kernels.periodic.Periodic",
        "product": "kernels.base.Product",
        "rational_quadratic": "kernels.rational_quadratic.RationalQuadratic",
        "rbf": "kernels.rbf.RBF",
        "scaled": "kernels.base.Scaled",
        "shifted": "kernels.base.Shifted",
        "sum": "kernels.base.Sum",
        "white": "kernels.white.White",
    },
    "length_prior": {"length_prior": "inference.length_prior.LengthPrior"},
    "likelihood": {
        "adaptive_normal": "likelihoods.adaptive_normal.AdaptiveNormal",
        "bernoulli": "likelihoods.bernoulli.Bernoulli",
        "categorical": "likelihoods.categorical.Categorical",
        "custom_likelihood": "likelihoods.custom.CustomLikelihood",
        "heteroscedastic_normal": "likelihoods.heteroscedastic_normal.HeteroscedasticNormal",
        "negative_binomial": "likelihoods.negative_binomial.NegativeBinomial",
        "normal": "likelihoods.normal.Normal",
        "poisson": "likelihoods.poisson.Poisson",
        "student_t": "likelihoods.student_t.StudentT",
        "warped_normal": "likelihoods.warped_normal.WarpedNormal",
    },
    "mean": {
        "constant": "functions.means.Constant",
        "function": "functions.means.Function",
        "linear": "functions.means.Linear",
        "trees": "functions.tree_mean.TreeMean",
        "zero": "functions.means.Zero",
    },
    "mean_fit": {
        "gauss_newton": "inference.mean_fit.GaussNewtonMean",
        "trained": "inference.mean_fit.TrainedMean",
        "auto": "inference.auto_mean.AutoMean",
        "quick": "inference.quick_mean.QuickMean",
    },
    "method": {
        "deep_ensemble": "methods.deep_ensemble.DeepEnsemble",
        "empirical_bayes": "methods.empirical_bayes.EmpiricalBayes",
        "evidence_search": "methods.evidence_search.EvidenceSearch",
        "exact_gp": "methods.exact_gp.ExactGP",
        "fsp_laplace": "methods.fsp_laplace.FSPLaplace",
        "fvi": "methods.fvi.FVI",
        "gfsvi": "methods.gfsvi.GFSVI",
        "gp_classifier": "methods.gp_classifier.GPClassifier",
        "gwi": "methods.gwi.GWI",
        "laplace": "methods.laplace.Laplace",
        "map": "methods.map.MAP",
        "mfvi": "methods.mfvi.MFVI",
        "sparse_gp": "methods.sparse_gp.SparseGP",
        "subsampling": "methods.gfsvi.Subsampling",
        "tfsvi": "methods.tfsvi.TFSVI",
        "vip": "methods.vip.VIP",
    },
    "model": {"model": "model.Model"},
    "network": {
        "cnn": "networks.cnn.CNN",
        "equinox_network": "networks.equinox.EquinoxNetwork",
        "flax_nnx_network": "networks.flax_nnx.FlaxNNXNetwork",
        "function_network": "networks.function.FunctionNetwork",
        "haiku_network": "networks.haiku.HaikuNetwork",
        "helmholtz_network": "networks.helmholtz.HelmholtzNetwork",
        "linen_network": "networks.flax_linen.LinenNetwork",
        "mlp": "networks.mlp.MLP",
        "torch_network": "networks.torch.TorchNetwork",
    },
    "noise_function": {"noise_function": "likelihoods.noise_function.NoiseFunction"},
    "novelty": {
        "novelty": "auto.novelty.Novelty",
        "variance_share": "auto.novelty.VarianceShare",
    },
    "optimizer": {
        "adam": "training.optimizers.Adam",
        "full_batch_up_to": "training.optimizers.FullBatchUpTo",
        "lbfgs": "training.optimizers.LBFGS",
        "optax": "training.optimizers.Optax",
    },
    "points": {
        "batch_rows": "points.BatchRows",
        "between": "points.Between",
        "fixed_points": "points.FixedPoints",
        "low_discrepancy": "points.LowDiscrepancy",
        "mixture": "points.Mixture",
        "random_pixel": "points.RandomPixel",
        "rows": "points.Rows",
        "uniform_box": "points.UniformBox",
    },
    "predictive": {
        "categorical": "predictives.categorical.CategoricalPredictive",
        "mixture": "predictives.mixture.MixturePredictive",
        "normal": "predictives.normal.NormalPredictive",
        "normal_mixture": "predictives.normal_mixture.NormalMixturePredictive",
        "student": "predictives.student.StudentPredictive",
        "warped": "predictives.warped.WarpedPredictive",
    },
    "preparation": {"preparation": "tables.preparation.Preparation"},
    "target": {
        "labels": "auto.targets.Labels",
        "numbers": "auto.targets.Numbers",
    },
    "training": {
        "fit": "training.history.Fit",
        "history": "training.history.History",
        "training": "training.settings.Training",
    },
    "values": {
        "gaussian": "values.Gaussian",
        "marginals": "values.Marginals",
        "samples": "values.Samples",
    },
    "warp": {
        "bounded": "predictives.warp.Bounded",
        "unwarped": "predictives.warp.Unwarped",
        "warp": "predictives.warp.Warp",
    },
}


@functools.cache
def places() -> dict[str, str]:
    """The module and name of the class behind each tag, relative to `gfsvi`."""
    return {
        f"{kind}:{name}": where for kind, names in _CLASSES.items() for name, where in names.items()
    }


@functools.cache
def class_of(tag: str) -> type[Any]:
    """The class behind a tag; nothing is imported for a tag that is not in the table."""
    where = places().get(tag)
    if where is None:
        raise unknown(tag)
    module, _, name = where.rpartition(".")
    return getattr(importlib.import_module(f"gfsvi.{module}"), name)


def unknown(name: object) -> ValueError:
    """The error for a file that names a class outside the table."""
    return ValueError(f"it holds {name!r:.100}, which is not a class this version can load.")


def tag_of(kind: type[Any]) -> str | None:
    """The tag of a class, or None if files may not hold it."""
    tag = _tags().get(f"{kind.__module__}.{kind.__qualname__}")
    return tag if tag is not None and class_of(tag) is kind else None


@functools.cache
def _tags() -> dict[str, str]:
    return {f"gfsvi.{where}": tag for tag, where in places().items()}
