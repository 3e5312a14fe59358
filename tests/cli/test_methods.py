"""Every method with its default kernel, fitted, saved, loaded and evaluated by the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gfsvi import registry

FOR_LABELS = {"gp_classifier": "kind"}
PRIORS = ("empirical_bayes", "evidence_search")
"""Methods that choose a prior and leave no posterior."""
QUICK = {"exact_gp", "gp_classifier", "gwi", "sparse_gp"}
"""Methods whose posterior keeps the kernel, which once could not be saved."""
METHODS = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
    for name in registry.methods()
    if name not in PRIORS
]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_saved_and_loaded_with_its_default_kernel(run, houses, method):
    target = FOR_LABELS.get(method, "price")
    houses.drop(columns={"kind", "price"} - {target}).to_csv("houses.csv", index=False)
    fit = ("fit", "houses.csv", "--target", target, "--method", method, "--output", "m.gfsvi")
    status, out, error = run(*fit, "--time-budget", 1, "--quiet")
    assert (status, out, error) == (0, "model: m.gfsvi\n", "")
    assert run("predict", "m.gfsvi", "houses.csv", "--output", "p.csv")[0] == 0
    predictions = pd.read_csv("p.csv")
    assert len(predictions) == len(houses)
    assert np.isfinite(predictions.select_dtypes("number").to_numpy()).all()
    status, out, _ = run("evaluate", "m.gfsvi", "houses.csv", "--json")
    assert status == 0 and all(np.isfinite(list(json.loads(out).values())))
    assert not Path("m.gfsvi.checkpoint").exists()


@pytest.mark.parametrize("method", PRIORS)
def test_a_method_without_a_posterior_is_refused_before_it_works(run, houses, method):
    houses.to_csv("houses.csv", index=False)
    fit = ("fit", "houses.csv", "--target", "price", "--method", method, "--output", "m.gfsvi")
    status, out, error = run(*fit, "--quiet")
    assert (status, out) == (2, "") and error.count("\n") == 1
    assert "got E" in error and "which only chooses a prior" in error
    assert not Path("m.gfsvi").exists()
