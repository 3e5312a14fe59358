"""Likelihoods, one class per file."""

from gfsvi.likelihoods.bernoulli import Bernoulli as Bernoulli
from gfsvi.likelihoods.categorical import Categorical as Categorical
from gfsvi.likelihoods.custom import CustomLikelihood as CustomLikelihood
from gfsvi.likelihoods.heteroscedastic_normal import HeteroscedasticNormal as HeteroscedasticNormal
from gfsvi.likelihoods.normal import Normal as Normal
from gfsvi.likelihoods.poisson import Poisson as Poisson
from gfsvi.likelihoods.student_t import StudentT as StudentT
from gfsvi.likelihoods.warped_normal import WarpedNormal as WarpedNormal
