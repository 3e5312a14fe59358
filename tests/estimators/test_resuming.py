import functools

import numpy as np
import pytest

from gfsvi import GFSVIClassifier, GFSVIRegressor
from gfsvi.auto import solving
from gfsvi.auto.holding_out import held_out_rows
from gfsvi.kernels import RBF
from gfsvi.storage import checkpoints


class Killed(BaseException):
    pass


@pytest.fixture(autouse=True)
def every_look_is_remembered(monkeypatch):
    often = functools.partial(checkpoints.Checkpoints, every_seconds=0.0)
    monkeypatch.setattr(solving, "Checkpoints", often)


def killed_in(stage):
    """A watch that ends everything at the second look of a stage."""
    looks = []

    def watch(name, progress):
        looks.append(name)
        if looks.count(stage) == 2:
            raise Killed

    return watch


def test_killed_in_every_stage_it_ends_with_the_undisturbed_file(houses, tiny, tmp_path):
    frame, path = houses.drop(columns="kind"), tmp_path / "checkpoint"
    settings = {**tiny, "num_steps": 40}  # of which each twentieth is looked at
    for stage, has_begun in (("prior", False), ("mean", True)):
        with pytest.raises(Killed):
            doomed = GFSVIRegressor(**settings, checkpoint=path, watch=killed_in(stage))
            doomed.fit_table(frame, "price")
        assert path.exists() == has_begun  # a stage of a second begins again
    undisturbed = GFSVIRegressor(**settings).fit_table(frame, "price")
    undisturbed.save(tmp_path / "undisturbed")
    seen = []

    def watch(stage, progress):
        seen.append((stage, progress.step))

    GFSVIRegressor(**settings, checkpoint=path, watch=watch).fit_table(frame, "price").save(
        tmp_path / "resumed"
    )
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "undisturbed").read_bytes()
    steps = [(stage, step) for stage, step in seen if step > 0]
    assert steps == [("mean", 20), ("mean", 40)]  # what had been done was not done again
    assert not path.exists()


def test_the_checkpoint_of_other_data_is_not_used(houses, saved, tiny, tmp_path):
    frame, path = houses.drop(columns="kind"), tmp_path / "checkpoint"
    other = frame.assign(price=frame["price"] ** 2)
    with pytest.raises(Killed):
        settings = {**tiny, "num_steps": 40}
        doomed = GFSVIRegressor(**settings, checkpoint=path, watch=killed_in("mean"))
        doomed.fit_table(other, "price")
    GFSVIRegressor(**tiny, checkpoint=path).fit_table(frame, "price").save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == saved.read_bytes()


@pytest.fixture
def fingerprint_of(monkeypatch, numbers, houses, tiny, tmp_path):
    """What a classifier with these settings remembers its work by."""

    def fingerprint_of(labels=houses["kind"], **changes):
        found = []

        def remember(path, fingerprint):
            found.append(fingerprint)
            raise Killed

        monkeypatch.setattr(solving, "Checkpoints", remember)
        with pytest.raises(Killed):
            GFSVIClassifier(**{**tiny, "checkpoint": tmp_path, **changes}).fit(numbers, labels)
        return found[0]

    return fingerprint_of


def test_equal_work_is_recognised(fingerprint_of):
    assert fingerprint_of() == fingerprint_of()
    assert fingerprint_of(kernel=RBF(2.0)) == fingerprint_of(kernel=RBF(2.0))


@pytest.mark.parametrize("changes", [{"random_state": 1}, {"hidden": (9,)}, {"kernel": "matern52"}])
def test_work_with_other_settings_is_other_work(fingerprint_of, changes):
    assert fingerprint_of(**changes) != fingerprint_of()


def test_a_kernel_with_other_numbers_is_other_work(fingerprint_of):
    assert fingerprint_of(kernel=RBF(1.0)) != fingerprint_of(kernel=RBF(2.0))


def test_a_row_that_only_decides_when_to_stop_is_data_too(fingerprint_of, houses):
    row = held_out_rows(len(houses), 0.1, seed=0)[0]
    labels = houses["kind"].to_numpy(copy=True)
    labels[row] = "fair" if labels[row] != "fair" else "dear"
    held_out = {"validation_fraction": 0.1}
    assert fingerprint_of(labels=labels, **held_out) != fingerprint_of(**held_out)


@pytest.mark.slow
def test_a_watch_that_says_so_stops_a_stage_early(houses, tiny):
    settings = {**tiny, "num_steps": 40}
    estimator = GFSVIRegressor(**settings, watch=lambda stage, progress: stage == "mean")
    estimator.fit_table(houses.drop(columns="kind"), "price")
    assert len(estimator.history_.steps["objective"]) == 20


def test_when_time_is_up_the_best_so_far_is_returned(houses, tiny):
    estimator = GFSVIRegressor(**{**tiny, "num_steps": 40}, time_budget=1e-3)
    estimator.fit_table(houses.drop(columns="kind"), "price")
    assert len(estimator.history_.steps["objective"]) == 1  # the clock is asked after every step
    assert np.all(np.isfinite(estimator.predict(houses)))
