"""Inference maps a model to a model."""

from abc import abstractmethod

import equinox as eqx
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.model import Model
from gfsvi.training import Fit


class AbstractMethod(eqx.Module):
    """A way to learn from data."""

    @abstractmethod
    def __call__(
        self,
        model: Model,
        data: Data,
        *,
        key: PRNGKeyArray,
        validation: Data | None = None,
    ) -> Fit:
        """Learn from `data`; `validation` decides when to stop, where a method can stop early."""
