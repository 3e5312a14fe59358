"""Progress of fits in Python."""

import numpy as np

from gfsvi import BayesianRegressor
from gfsvi.numerics import progress

X = np.linspace(-1, 1, 40)[:, None]
Y = np.sin(3 * X[:, 0])


def test_a_verbose_fit_shows_its_stages_and_tells_the_watcher(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    stages = []

    def watch(stage, steps):
        stages.append(stage)

    model = BayesianRegressor("exact_gp", kernel="rbf", random_state=0, verbose=True, watch=watch)
    model.fit(X, Y)
    shown = capsys.readouterr().err
    assert "choosing the prior, step " in shown and "examining the fit" in shown
    assert set(stages) == {"prior", "examination"}


def test_a_fit_is_silent_by_default(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    BayesianRegressor("exact_gp", kernel="rbf", random_state=0).fit(X, Y)
    assert capsys.readouterr() == ("", "")
