"""Predictions and scores of a table that is read piece by piece are those of one in memory."""

import functools
import json

import numpy as np
import pandas as pd
import pytest

from gfsvi.auto import Fitted, Learner, Parameters, scores_in_pieces
from gfsvi.auto import fitted as fitted_module
from gfsvi.cli import main
from gfsvi.tables import Preparation, sources

from .flights import flights


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    frame = flights(300)
    frame["late"] = np.where(frame["delay"] > 5, "yes", "no")
    for target, other in (("delay", "late"), ("late", "delay")):
        table = frame.drop(columns=other)
        preparation = Preparation.learn(table, target)
        parameters = Parameters(hidden=(5,), num_steps=5, num_points=30, random_state=0)
        fitted = Learner(preparation.task, parameters).learn_table(
            preparation.prepare(table), preparation
        )
        fitted.save(folder / f"{target}.gfsvi")
    return folder


@pytest.fixture(params=["new.parquet", "new.csv"])
def table(request, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PIECE", 64)
    frame = flights(300, seed=1)
    frame["late"] = np.where(frame["delay"] > 5, "yes", "no")
    frame.insert(0, "code", [f"{i:04d}" for i in range(300)])
    frame.loc[5, ["delay", "late"]] = None
    path = tmp_path / request.param
    (frame.to_parquet if path.suffix == ".parquet" else frame.to_csv)(path, index=False)
    return path


def read(path):
    return (
        pd.read_parquet(path)
        if path.suffix == ".parquet"
        else pd.read_csv(path, dtype={"code": str})
    )


@pytest.mark.parametrize("target", ["delay", "late"])
def test_pieces_are_predicted_like_the_whole(models, table, target, tmp_path):
    found = []
    for way in ("--stream", "--in-memory"):
        output = tmp_path / f"predicted{way}{table.suffix}"
        model = str(models / f"{target}.gfsvi")
        words = ["predict", model, str(table), "-o", str(output), "--id", "code", way]
        assert main(words) == 0
        found.append(read(output))
    assert list(found[0]["code"]) == [f"{i:04d}" for i in range(300)]
    pd.testing.assert_frame_equal(*found, check_dtype=False, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("target", ["delay", "late"])
def test_pieces_are_scored_like_the_whole(models, table, target, capsys):
    found = []
    for way in ("--stream", "--in-memory"):
        assert main(["evaluate", str(models / f"{target}.gfsvi"), str(table), "--json", way]) == 0
        found.append(json.loads(capsys.readouterr().out))
    streamed, whole = found
    assert streamed.keys() == whole.keys()
    for name, value in whole.items():
        assert streamed[name] == pytest.approx(value, rel=1e-5, abs=1e-6), name


@pytest.mark.parametrize("target", ["delay", "late"])
def test_many_rows_in_memory_are_scored_in_pieces(models, target, monkeypatch):
    fitted, new = Fitted.load(models / f"{target}.gfsvi"), flights(300, seed=1)
    new["late"] = np.where(new["delay"] > 5, "yes", "no")
    y = fitted.preparation.observations(new)
    whole, sizes = fitted.evaluate(new, y), []
    pieces = functools.partial(scores_in_pieces.evaluated_in_pieces, piece=64)
    monkeypatch.setattr(fitted_module, "evaluated_in_pieces", pieces)
    monkeypatch.setattr(fitted_module, "PIECE", 64)
    predict = Fitted.predict
    monkeypatch.setattr(Fitted, "predict", lambda s, x: sizes.append(len(x)) or predict(s, x))
    assert fitted.evaluate(new, y) == pytest.approx(whole, rel=1e-5, abs=1e-6)
    assert sizes == [64, 64, 64, 64, 44]


def test_a_folder_is_predicted(models, tmp_path):
    (tmp_path / "parts").mkdir()
    for number in range(3):
        flights(20, seed=number).to_parquet(tmp_path / f"parts/{number}.parquet", index=False)
    output = tmp_path / "out.csv"
    assert (
        main(["predict", str(models / "delay.gfsvi"), str(tmp_path / "parts"), "-o", str(output)])
        == 0
    )
    assert len(pd.read_csv(output)) == 60


def test_nothing_is_written_if_a_column_is_missing(models, tmp_path, capsys):
    flights(200).drop(columns="distance").to_parquet(tmp_path / "t.parquet", index=False)
    words = ["predict", str(models / "delay.gfsvi"), str(tmp_path / "t.parquet"), "--stream"]
    assert main([*words, "-o", str(tmp_path / "out.parquet")]) == 2
    assert "distance" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]
