"""Asks a peer for its predictions of a fold: files in a folder, and a process of its own."""

import json
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from gfsvi.bench.data.raw_tables import TableFold
from gfsvi.bench.outside.peers import Peer
from gfsvi.bench.tabular import Predicted
from gfsvi.predictives.normal_mixture import NormalMixturePredictive
from gfsvi.tables.reading import write_table

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}


class PeerError(RuntimeError):
    """Raised if a peer fails or answers with something else than a prediction."""


def predicted_by_peer(peer: Peer, fold: TableFold, seed: int) -> Predicted:
    """Write the fold to a folder of its own, run the script there and read its answer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(fold, folder, seed)
        code, said = _called(*peer.command, name)
        if code != 0:
            raise PeerError(f"{peer.script} ended with {code}: {said[-1]}")
        return _read(folder / "prediction.npz", fold)


def _called(*command: str) -> tuple[int, list[str]]:
    """The exit code of a command, and the lines that it printed as errors."""
    with tempfile.TemporaryFile() as errors:
        # A peer ends when its input closes, as it does if this process is killed.
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": errors}
        with subprocess.Popen(command, env=os.environ | ONE_THREAD, **pipes) as process:
            code = process.wait()
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
    return code, said.splitlines() or ["nothing"]


def _write(fold: TableFold, folder: Path, seed: int) -> None:
    write_table(fold.train, folder / "train.csv")
    write_table(fold.test.drop(columns=fold.target), folder / "test.csv")
    said = {"target": fold.target, "classes": fold.classes, "seed": seed}
    (folder / "fold.json").write_text(json.dumps(said))


def _read(path: Path, fold: TableFold) -> Predicted:
    try:
        with np.load(path, allow_pickle=False) as content:
            found = {name: np.asarray(content[name], np.float64) for name in content.files}
        seconds = {name: float(found[name]) for name in ("fit_seconds", "predict_seconds")}
        if fold.classes is not None:
            return Predicted(_checked(found["probability"], fold, 0), seconds)
        means, stds = (_checked(found[name], fold, 1) for name in ("mean", "std"))
        return Predicted(NormalMixturePredictive.of(means, stds, found["weight"]), seconds)
    except (OSError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise PeerError(f"expected a prediction in {path.name}; got {error}.") from error


def _checked(values: np.ndarray, fold: TableFold, axis: int) -> np.ndarray:
    num_rows = len(fold.test)
    if values.ndim != 2 or values.shape[axis] != num_rows or not np.all(np.isfinite(values)):
        raise ValueError(f"numbers of shape {values.shape}, or NaN, for {num_rows} rows")
    return values
