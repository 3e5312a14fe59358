"""Families of covariance matrices over a network's weights."""

from gfsvi.covariances.diagonal import Diagonal
from gfsvi.covariances.full import Full
from gfsvi.covariances.isotropic import Isotropic
from gfsvi.covariances.kronecker import Kronecker
from gfsvi.covariances.last_layer import LastLayer
from gfsvi.covariances.low_rank import LowRank
from gfsvi.covariances.rotated_diagonal import RotatedDiagonal

__all__ = ["Diagonal", "Full", "Isotropic", "Kronecker", "LastLayer", "LowRank", "RotatedDiagonal"]
