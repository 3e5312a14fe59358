"""A fit as a model of MLflow, by its flavour of Python functions."""

# pyright: reportMissingImports=false
# MLflow is optional.

import sys
from os import PathLike
from pathlib import Path
from typing import Any

from gfsvi.auto.fitted import Fitted
from gfsvi.interchange.predictions import prediction_table
from gfsvi.numerics.extras import packages_for
from gfsvi.tables.frames import as_frame
from gfsvi.version import __version__

with packages_for("gfsvi.interchange.mlflow", "mlflow-skinny", "pandas"):
    import mlflow.pyfunc
    from mlflow.models import Model as ModelOfMLflow
    from mlflow.models import ModelSignature
    from mlflow.types.schema import DataType, ParamSchema, ParamSpec

FILE, FLAVOUR = "model.gfsvi", "gfsvi"
REQUIREMENTS, ENVIRONMENT = "requirements.txt", "python_env.yaml"


def save_model(
    model: Fitted | Any, path: str | PathLike[str], mlflow_model: ModelOfMLflow | None = None
) -> None:
    """Write a folder that MLflow can load, serve and register; it holds no pickles.

    `mlflow.pyfunc.load_model(path).predict(frame)` returns what `gfsvi predict` writes, as a frame
    of pandas; with `params={"level": 0.9}` its interval has this level.

    Args:
        model: A fitted estimator, or a `Fitted`, that knows the columns of a table.
        path: The folder to make; it must be empty or missing.
        mlflow_model: What MLflow knows of the model already; `log_model` passes it.
    """
    fitted: Fitted = getattr(model, "fitted_", model)
    if not isinstance(fitted, Fitted) or (fitted.preparation is None and not fitted.are_named):
        raise ValueError(
            "expected a fit that knows the columns of a table, so that MLflow can hand it tables; "
            "got another. Fit it with estimator.fit_table or a DataFrame."
        )
    folder = Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"expected a folder that is empty or missing; got {str(path)!r}.")
    folder.mkdir(parents=True, exist_ok=True)
    fitted.save(folder / FILE)
    version = ".".join(map(str, sys.version_info[:3]))
    (folder / REQUIREMENTS).write_text(f"mlflow-skinny\ngfsvi[tables]=={__version__}\n")
    (folder / ENVIRONMENT).write_text(f"python: {version}\ndependencies:\n- -r {REQUIREMENTS}\n")
    described = ModelOfMLflow() if mlflow_model is None else mlflow_model
    level = ParamSpec("level", DataType.double, fitted.level)
    described.signature = ModelSignature(params=ParamSchema([level]))
    described.add_flavor(FLAVOUR, version=__version__, data=FILE)
    mlflow.pyfunc.add_to_model(described, __name__, data=FILE, python_env=ENVIRONMENT)
    described.save(str(folder / "MLmodel"))


def log_model(model: Fitted | Any, name: str, **options: Any) -> Any:
    """Log the model to the active run of MLflow, or to a new one.

    Args:
        model: A fitted estimator, or a `Fitted`, that knows the columns of a table.
        name: The name of the model.
        options: Those of MLflow, such as `registered_model_name`.

    Returns:
        What MLflow says about the model that was logged.
    """
    flavour = sys.modules[__name__]
    return ModelOfMLflow.log(None, flavor=flavour, name=name, model=model, **options)


def load_model(path: str | PathLike[str]) -> Fitted:
    """The fit in a folder that `save_model` wrote; nothing in it is ever run."""
    return Fitted.load(Path(path, FILE))


class _Predictor:
    """What MLflow asks for predictions."""

    def __init__(self, fitted: Fitted):
        self._fitted = fitted

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Predictions of a table, as a frame of pandas."""
        level = (params or {}).get("level", self._fitted.level)
        frame = as_frame(model_input)
        return prediction_table(self._fitted, frame, level).set_axis(frame.index, axis=0)


def _load_pyfunc(path: str) -> _Predictor:
    """What `mlflow.pyfunc.load_model` calls, with the place of the file."""
    return _Predictor(Fitted.load(path))
