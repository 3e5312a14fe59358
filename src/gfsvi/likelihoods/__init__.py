"""Likelihoods, one class per file, and what new ones are built from."""

from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal as AdaptiveNormal
from gfsvi.likelihoods.base import AbstractLabelLikelihood as AbstractLabelLikelihood
from gfsvi.likelihoods.base import AbstractLikelihood as AbstractLikelihood
from gfsvi.likelihoods.base import AbstractNoisyLikelihood as AbstractNoisyLikelihood
from gfsvi.likelihoods.base import AbstractRealLikelihood as AbstractRealLikelihood
from gfsvi.likelihoods.base import FunctionValues as FunctionValues
from gfsvi.likelihoods.base import NoiseStd as NoiseStd
from gfsvi.likelihoods.base import PointLogProb as PointLogProb
from gfsvi.likelihoods.base import check_numbers as check_numbers
from gfsvi.likelihoods.base import chosen_with_prior as chosen_with_prior
from gfsvi.likelihoods.base import per_output as per_output
from gfsvi.likelihoods.bernoulli import Bernoulli as Bernoulli
from gfsvi.likelihoods.categorical import Categorical as Categorical
from gfsvi.likelihoods.custom import CustomLikelihood as CustomLikelihood
from gfsvi.likelihoods.expectations import expectation_by_quadrature as expectation_by_quadrature
from gfsvi.likelihoods.expectations import expectation_by_sampling as expectation_by_sampling
from gfsvi.likelihoods.expectations import mean_over_draws as mean_over_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets as GaussianTargets
from gfsvi.likelihoods.heteroscedastic_normal import HeteroscedasticNormal as HeteroscedasticNormal
from gfsvi.likelihoods.negative_binomial import NegativeBinomial as NegativeBinomial
from gfsvi.likelihoods.noise_function import NoiseFunction as NoiseFunction
from gfsvi.likelihoods.normal import Normal as Normal
from gfsvi.likelihoods.poisson import Poisson as Poisson
from gfsvi.likelihoods.student_t import StudentT as StudentT
from gfsvi.likelihoods.warped_normal import WarpedNormal as WarpedNormal
