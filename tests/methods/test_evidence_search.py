import dataclasses

import jax
import numpy as np
import pytest

from gfsvi import Data, Model
from gfsvi.auto.priors import kernels_named
from gfsvi.functions import GaussianProcess
from gfsvi.inference.length_prior import LengthPrior
from gfsvi.inference.unknowns import Unknowns
from gfsvi.kernels import RBF, Linear, Matern32, Matern52, Periodic, White
from gfsvi.kernels.one_of import OneOf
from gfsvi.likelihoods import Categorical, Normal, WarpedNormal
from gfsvi.methods import EmpiricalBayes, EvidenceSearch, ExactGP
from gfsvi.predictives.warp import Warp
from gfsvi.training.settings import Training

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2, 2, size=(60, 2))
Y = np.sin(3 * X[:, 0]) + 0.1 * RANDOM.normal(size=60)
KEY = jax.random.key(0)
MODEL = Model(GaussianProcess(RBF(np.ones(2))), Normal(0.3))


def test_it_finds_the_maximum_that_the_exact_process_finds():
    found = EvidenceSearch(lengths=None)(MODEL, Data(X, Y), key=KEY)
    exact = ExactGP(num_starts=1)(MODEL, Data(X, Y), key=KEY)
    best = float(exact.history.steps["objective"][-1])
    assert found.history.steps["objective"][-1] == pytest.approx(best, abs=1e-3)
    kernel = found.posterior.function.kernel
    assert kernel.lengthscale[0] < 1 < 5 < kernel.lengthscale[1]
    assert float(found.posterior.likelihood.noise) == pytest.approx(0.1, rel=0.3)


def test_features_that_fit_by_chance_are_not_singled_out():
    x = RANDOM.normal(size=(80, 40))
    y = x[:, :20].sum(axis=1) / 5 + RANDOM.normal(size=80)
    model = Model(GaussianProcess(RBF(np.full(40, 6.0))), Normal(0.3))
    found = {}
    for name, lengths in {"prior": LengthPrior(), "evidence": None}.items():
        search = EvidenceSearch(lengths=lengths)
        kernel = search(model, Data(x, y), key=KEY).posterior.function.kernel
        found[name] = np.log(kernel.lengthscale)
    assert np.std(found["prior"]) < 0.3 < 1 < np.std(found["evidence"])


def test_one_length_scale_for_all_features_is_not_held_back():
    alone = Model(GaussianProcess(RBF(np.array(0.5))), Normal(0.3))
    lengths = [
        float(
            EvidenceSearch(lengths=prior)(
                alone, Data(X, Y), key=KEY
            ).posterior.function.kernel.lengthscale
        )
        for prior in (LengthPrior(), None)
    ]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.05)


def test_the_family_with_the_most_evidence_is_chosen():
    rough = np.abs(np.sin(5 * X[:, 0]))
    kernel, *others = kernels_named("auto", (2,))
    model = Model(GaussianProcess(kernel), Normal(0.3))
    for y, name in ((rough, {Matern32, Matern52}), (np.sin(X[:, 0]), {RBF})):
        found = EvidenceSearch(kernels=tuple(others))(model, Data(X, y), key=KEY)
        family = found.posterior.function.kernel
        assert not isinstance(family, OneOf) and type(family) in name
        each = [
            EvidenceSearch()(Model(GaussianProcess(k), Normal(0.3)), Data(X, y), key=KEY)
            for k in (kernel, *others)
        ]
        best = max(float(fit.history.steps["objective"][-1]) for fit in each)
        assert found.history.steps["objective"][-1] > best - 0.02


def test_fast_oscillations_are_not_taken_for_noise():
    y = np.abs(np.sin(5 * X[:, 0]))
    model = Model(GaussianProcess(Matern52(np.full(2, 2**0.5))), Normal(0.3))
    found = EvidenceSearch()(model, Data(X, y), key=KEY).posterior
    assert found.function.kernel.lengthscale[0] < 0.5
    assert float(found.likelihood.noise) < 0.01


def test_copies_of_rows_count_once():
    copied = Data(np.concatenate([X, X]), np.concatenate([Y, Y]), np.ones(120))
    one, two = (EvidenceSearch()(MODEL, data, key=KEY) for data in (Data(X, Y), copied))
    noises = [float(fit.posterior.likelihood.noise) for fit in (one, two)]
    assert noises[1] == pytest.approx(noises[0], rel=1e-3)


def test_a_row_of_weight_three_counts_like_three_copies_of_it():
    weights = np.where(np.arange(60) < 20, 3.0, 1.0)
    rows = np.repeat(np.arange(60), weights.astype(int))
    found = [
        EvidenceSearch()(MODEL, data, key=KEY).posterior
        for data in (Data(X, Y, weights), Data(X[rows], Y[rows]), Data(X, Y))
    ]
    noises = [float(model.likelihood.noise) for model in found]
    assert noises[1] == pytest.approx(noises[0], rel=1e-6) != pytest.approx(noises[2], rel=1e-3)


def test_more_rows_refine_what_few_rows_chose():
    few, more = (EvidenceSearch(few_rows=20, max_rows=n) for n in (20, 60))
    coarse, fine = (method(MODEL, Data(X, Y), key=KEY).posterior for method in (few, more))
    whole = EvidenceSearch()(MODEL, Data(X, Y), key=KEY).posterior
    distance = [
        abs(np.log(model.function.kernel.lengthscale[0] / whole.function.kernel.lengthscale[0]))
        for model in (coarse, fine)
    ]
    assert distance[1] < 0.05 < distance[0]


def test_a_warp_is_chosen_with_the_kernel():
    y = np.exp(2 * np.sin(3 * X[:, 0]) + 0.1 * RANDOM.normal(size=60))
    plain = Model(GaussianProcess(RBF(np.ones(2))), Normal(0.3))
    warped = Model(GaussianProcess(RBF(np.ones(2))), WarpedNormal(np.array([0.3]), Warp.fitted(y)))
    found = [EvidenceSearch()(model, Data(X, y), key=KEY) for model in (plain, warped)]
    evidence = [float(fit.history.steps["objective"][-1]) for fit in found]
    assert evidence[1] > evidence[0] + 0.5


def test_labels_are_approximated_as_by_the_stochastic_method():
    labels = (X[:, 0] > 0).astype(int)
    model = Model(GaussianProcess(RBF(np.ones(2)), outputs=2), Categorical(2))
    found = EvidenceSearch()(model, Data(X, labels), key=KEY).posterior.function.kernel
    assert found.lengthscale[1] > 2 * found.lengthscale[0]


def test_other_kernels_are_left_to_gradient_steps():
    quick = EmpiricalBayes(num_starts=1, training=Training(num_steps=5), last=None)
    model = Model(GaussianProcess(White()), Normal(0.3))
    found, expected = (
        m(model, Data(X, Y), key=KEY) for m in (EvidenceSearch(otherwise=quick), quick)
    )
    assert float(found.posterior.likelihood.noise) == float(expected.posterior.likelihood.noise)


def test_a_separate_kernel_is_used_for_its_features_where_it_is_worth_its_parameters():
    kernel, *others = kernels_named("auto", (2,))
    model = Model(GaussianProcess(kernel), Normal(0.3))
    wave = Periodic(1.0, 1.0, 0.7).on(0)
    method = EvidenceSearch(kernels=tuple(others), separate=(Linear().on(0), wave))
    beside = np.sin(9 * X[:, 0]) + X[:, 1] ** 2 + 0.01 * RANDOM.normal(size=60)
    found = method(model, Data(X, beside), key=KEY).posterior.function.kernel
    family, season = found.terms
    assert family.columns == (1,) and season.columns == (0,)
    assert float(season.kernel.period) == pytest.approx(2 * np.pi / 9, rel=0.01)
    assert np.shape(family.kernel.lengthscale) == (1,)
    smooth = method(model, Data(X, np.sin(X[:, 0] * X[:, 1])), key=KEY)
    assert isinstance(smooth.posterior.function.kernel, RBF | Matern52)


def test_a_separate_kernel_of_all_features_stands_alone():
    x = np.linspace(-2, 2, 60)[:, None]
    model = Model(GaussianProcess(RBF(np.ones(1))), Normal(0.3))
    method = EvidenceSearch(separate=(Periodic(1.0, 1.0, 0.7).on(0),))
    found = method(model, Data(x, np.sin(9 * x[:, 0])), key=KEY).posterior.function.kernel
    assert found.columns == (0,) and isinstance(found.kernel, Periodic)


def test_a_watch_can_stop_the_search_and_keeps_the_best():
    seen = []
    training = Training(
        num_steps=60, evaluate_every=2, watch=lambda p: bool(seen.append(p) or True)
    )
    method = EvidenceSearch(training=training)
    found = method(MODEL, Data(X, Y), key=KEY)
    assert [progress.step for progress in seen] == [2, 2]  # of two starts
    unhurried = dataclasses.replace(method, training=Training(num_steps=60))
    best = unhurried(MODEL, Data(X, Y), key=KEY).history.steps["objective"][-1]
    assert found.history.steps["objective"][-1] < best


def test_the_clock_ends_a_search_between_two_evaluations(monkeypatch):
    calls, original = [], Unknowns.loss
    monkeypatch.setattr(Unknowns, "loss", lambda *args: calls.append(1) or original(*args))
    late = Training(num_steps=60, is_over=lambda: len(calls) >= 2)
    data = Data(RANDOM.normal(size=(30, 2)), RANDOM.normal(size=30))
    model = Model(GaussianProcess(RBF()), Normal(0.1))
    method = EvidenceSearch(kernels=(Matern32(),), training=late)
    fit = method(model, data, key=jax.random.key(0))
    assert len(calls) == 2 and np.isfinite(fit.history.steps["objective"][-1])


def test_the_variance_stays_within_reach_of_its_start():
    """Of an almost linear function, more variance over longer distances is ever more probable."""
    y = X[:, 0] + 1e-3 * X[:, 1] ** 2
    kernel = EvidenceSearch()(MODEL, Data(X, y), key=KEY).posterior.function.kernel
    assert 20 < float(kernel.variance) <= np.exp(5) * 1.001
