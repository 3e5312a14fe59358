"""What regressor and classifier share: a table of numbers in, a posterior out."""

from abc import abstractmethod
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from gfsvi.auto import Learner
from gfsvi.auto.phases import Watch
from gfsvi.tables import Preparation

if TYPE_CHECKING:
    import pandas


class AbstractEstimator(BaseEstimator):
    """A Bayesian network under a Gaussian-process prior, in scikit-learn's clothes.

    Args:
        kernel: The prior: "auto" to choose a family from the data, the name of a kernel, or a
            kernel of gfsvi, GPJax, tinygp or scikit-learn. Its parameters are learned from there.
        network: For images (row, height, width[, channel]): "cnn", or a network of gfsvi,
            Equinox, Flax or Haiku that takes them with their channels; None for a table.
        hidden: Widths of the hidden layers of the network for a table.
        num_points: How many points prior and posterior are compared at.
        gamma: The regulariser of the divergence.
        num_steps: Steps of training after the mean has been fitted.
        batch_size: Rows a step.
        validation_fraction: Share of the rows that decide when to stop and set the noise.
        time_budget: Seconds that `fit` may take; it returns the best found until then.
        checkpoint: A file that remembers how far training has come, to go on from if cut off.
        watch: Called with the stage and its `Progress` now and then; return True to stop.
        random_state: Seed, or a NumPy random state.
    """

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        network: Any = None,
        hidden: tuple[int, ...] | None = None,
        num_points: int | None = None,
        gamma: float | None = None,
        num_steps: int | None = None,
        batch_size: int | None = None,
        validation_fraction: float = 0.1,
        time_budget: float | None = None,
        checkpoint: str | PathLike[str] | None = None,
        watch: Watch | None = None,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.network = network
        self.hidden = hidden
        self.num_points = num_points
        self.gamma = gamma
        self.num_steps = num_steps
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.time_budget = time_budget
        self.checkpoint = checkpoint
        self.watch = watch
        self.random_state = random_state

    @property
    @abstractmethod
    def _task(self) -> Literal["regression", "classification"]:
        """What a table is prepared for."""

    def fit_table(self, frame: "pandas.DataFrame", target: str | list[str]) -> "AbstractEstimator":
        """Fit to a table as it comes: text, gaps and dates included; predictions take the same."""
        return self.fit_prepared(frame, Preparation.learn(frame, target, self._task))

    def fit_prepared(self, frame: "pandas.DataFrame", preparation: Preparation) -> Any:
        """Fit to a table whose preparation was learned before."""
        vars(self).update(self._learner().learn_table(frame, preparation))
        vars(self).pop("feature_names_in_", None)  # of an earlier fit to a frame of numbers
        return self

    def novelty(self, X: Any) -> np.ndarray:
        """How unlike the training inputs each row is: 0 all known, 1 nothing known."""
        x = self._standardized(X)
        return self.novelty_.at(x)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted estimator to one file; `gfsvi.load` reads it anywhere."""
        from gfsvi.estimators.files import save

        save(self, path)

    def _learner(self) -> Learner:
        return Learner(self._task, **self.get_params(deep=False))

    def _fit_rows(self, X: np.ndarray, y: np.ndarray) -> Any:
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else [str(name) for name in names]
        vars(self).update(self._learner().learn(X, y, names))
        return self

    def _standardized(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if self.preparation_ is not None and hasattr(X, "columns"):
            X = self.preparation_.inputs(X)
        else:
            X = self._rows(X)
        return (X - self.input_centre_) / self.input_spread_

    def _rows(self, X: Any) -> np.ndarray:
        """Rows to predict at: numbers or, where a network for them was chosen, images."""
        return _with_channels(validate_data(self, X, reset=False, **self._expected(X)))

    def _rows_and_targets(self, X: Any, y: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """Rows to learn from, and what was observed there."""
        X, y = validate_data(self, X, y, **self._expected(X), **options)
        return _with_channels(X), y

    def _expected(self, X: Any) -> dict[str, Any]:
        """What arrays must be like; images are refused where no network for them was chosen."""
        shape = getattr(X, "shape", ())
        if self.network is None and len(shape) > 2:
            raise ValueError(
                f"{type(self).__name__} expects rows of numbers; got an array of shape "
                f'{tuple(shape)}. For images (row, height, width[, channel]) set network="cnn".'
            )
        return {"dtype": np.float64, "allow_nd": self.network is not None}


def _with_channels(X: np.ndarray) -> np.ndarray:
    return X[..., None] if X.ndim == 3 else X


def refuse(arguments: dict[str, Any], owner: object) -> None:
    """Say in words that an argument of `fit` is not supported."""
    for name in arguments:
        reason = (
            "every row counts the same. Leave it out, or repeat rows"
            if name == "sample_weight"
            else "it takes X and y alone. Leave it out"
        )
        raise TypeError(f"{type(owner).__name__}.fit does not support {name}: {reason}.")
