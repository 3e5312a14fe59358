"""The method as a parameter of an estimator."""

from os import PathLike
from typing import Any

from gfsvi.auto.phases import Watch
from gfsvi.estimators.base import AbstractEstimator
from gfsvi.methods.base import AbstractMethod


class AbstractChosenMethod(AbstractEstimator):
    """An estimator for any method.

    Args:
        method: The name of a method, or a method.
        kernel: The prior over functions, for methods that want one (see GFSVIRegressor).
        prior_scale: The standard deviation of weights, for methods with a prior over them.
        network: For images: "cnn", or a network (see GFSVIClassifier); None for a table.
        hidden: Widths of the hidden layers of the network for a table.
        num_points: How many points prior and posterior are compared at.
        gamma: The regulariser of the divergence.
        num_steps: Steps of training.
        batch_size: Rows a step.
        validation_fraction: Share of the rows that decide when to stop and set the noise.
        time_budget: Seconds that `fit` may take; it returns the best found until then.
        checkpoint: A file that remembers how far training has come, to go on from if cut off.
        watch: Called with the stage and its `Progress` now and then; return True to stop.
        random_state: Seed, or a NumPy random state.
    """

    def __init__(
        self,
        method: str | AbstractMethod = "gfsvi",
        kernel: Any = "auto",
        *,
        prior_scale: float = 1.0,
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
        super().__init__(
            kernel,
            network=network,
            hidden=hidden,
            num_points=num_points,
            gamma=gamma,
            num_steps=num_steps,
            batch_size=batch_size,
            validation_fraction=validation_fraction,
            time_budget=time_budget,
            checkpoint=checkpoint,
            watch=watch,
            random_state=random_state,
        )
        self.method = method
        self.prior_scale = prior_scale
