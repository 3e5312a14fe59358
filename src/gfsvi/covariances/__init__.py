"""Families of covariance matrices over a network's weights, one class per file."""

from gfsvi.covariances.base import AbstractCovariance as AbstractCovariance
from gfsvi.covariances.base import State as State
from gfsvi.covariances.closed_form import ClosedForm as ClosedForm
from gfsvi.covariances.diagonal import Diagonal as Diagonal
from gfsvi.covariances.full import Full as Full
from gfsvi.covariances.isotropic import Isotropic as Isotropic
from gfsvi.covariances.kronecker import Kronecker as Kronecker
from gfsvi.covariances.last_layer import LastLayer as LastLayer
from gfsvi.covariances.low_rank import LowRank as LowRank
from gfsvi.covariances.rotated_diagonal import RotatedDiagonal as RotatedDiagonal
from gfsvi.covariances.subspace import Subspace as Subspace
