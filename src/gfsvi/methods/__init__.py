"""Inference methods, one class per file: each maps a model and data to a model."""

from gfsvi.methods.base import AbstractMethod as AbstractMethod
from gfsvi.methods.deep_ensemble import DeepEnsemble as DeepEnsemble
from gfsvi.methods.empirical_bayes import EmpiricalBayes as EmpiricalBayes
from gfsvi.methods.evidence_search import EvidenceSearch as EvidenceSearch
from gfsvi.methods.exact_gp import ExactGP as ExactGP
from gfsvi.methods.fsp_laplace import FSPLaplace as FSPLaplace
from gfsvi.methods.fvi import FVI as FVI
from gfsvi.methods.gfsvi import GFSVI as GFSVI
from gfsvi.methods.gfsvi import Subsampling as Subsampling
from gfsvi.methods.gp_classifier import GPClassifier as GPClassifier
from gfsvi.methods.gwi import GWI as GWI
from gfsvi.methods.laplace import Laplace as Laplace
from gfsvi.methods.map import MAP as MAP
from gfsvi.methods.mfvi import MFVI as MFVI
from gfsvi.methods.point_estimate import AbstractPointEstimate as AbstractPointEstimate
from gfsvi.methods.sparse_gp import SparseGP as SparseGP
from gfsvi.methods.tfsvi import TFSVI as TFSVI
from gfsvi.methods.variational import AbstractVariational as AbstractVariational
from gfsvi.methods.vip import VIP as VIP
