"""What the studio draws is what the library computes."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated, and kernels here have a form in NumPy.

import jax
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gfsvi import Data, Model
from gfsvi.auto.turning import turning_distance
from gfsvi.fields import HelmholtzKernel, field_of, rows_at
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF, Matern12, Matern52
from gfsvi.kernels.composed_in_numpy import composed_in_numpy
from gfsvi.likelihoods import Normal
from gfsvi.methods import ExactGP
from gfsvi.numerics.precision import double
from gfsvi.plain.helmholtz import PlainField
from gfsvi.studio import network
from gfsvi.studio.building import grid_of, kernel_of
from gfsvi.studio.eliciting import LENGTHS, STDS, belief_after, elicited
from gfsvi.studio.expressing import expressed
from gfsvi.studio.field_code import field_kernel
from gfsvi.studio.field_view import look_at_field
from gfsvi.studio.looking import look
from gfsvi.studio.workspace import Workspace

from .workspaces import FACTOR, SEASONAL, axis, with_points, workspace


def shown(content, at_rest=False):
    return look(Workspace.read(content), at_rest=at_rest)


@double
def test_the_process_after_data_is_the_librarys():
    read = Workspace.read(with_points(terms=SEASONAL))
    found = look(read, at_rest=False)
    noise = read.noise / read.scale.target_spread
    prior = Model(GaussianProcess(kernel_of(read)), Normal(noise))
    data = Data(read.scale.inputs(read.x), read.scale.targets(read.y))
    posterior = ExactGP()(prior, data, key=jax.random.key(0)).posterior
    _, features = grid_of(read, 300)
    predictive = posterior.predict(read.scale.inputs(features))
    scale = read.scale
    np.testing.assert_allclose(found["exact"]["mean"], scale.values(predictive.mean), atol=1e-3)
    half = 1.96 * np.asarray(predictive.std) * scale.target_spread
    wide = np.subtract(found["exact"]["high_observed"], found["exact"]["mean"])
    np.testing.assert_allclose(wide, half, atol=2e-3)
    narrow = np.subtract(found["exact"]["high"], found["exact"]["mean"])
    epistemic = 1.96 * np.asarray(predictive.epistemic_std) * scale.target_spread
    np.testing.assert_allclose(narrow, epistemic, atol=2e-3)


@pytest.mark.parametrize("at_rest", [False, True])
def test_the_network_after_data_is_near_the_process(at_rest):
    found = shown(with_points(), at_rest)
    difference = np.subtract(found["network"]["mean"], found["exact"]["mean"])
    inside = (np.array(found["along"]) > 0) & (np.array(found["along"]) < 10)
    assert np.max(np.abs(difference[inside])) < 0.1
    widths = [np.subtract(found[name]["high"], found[name]["low"]) for name in ("network", "exact")]
    assert np.max(np.abs(widths[0] - widths[1])[inside]) < 0.1


def test_functions_move_smoothly_with_a_slider():
    def drawn(length):
        factor = FACTOR | {"values": {"lengthscale": length}}
        content = with_points(terms=[{"std": 1.0, "factors": [factor]}])
        found = shown(content)
        return np.array(found["prior"]["draws"]), np.array(found["exact"]["draws"])

    for one, near, far in zip(drawn(1.5), drawn(1.51), drawn(3.0), strict=True):
        assert 0 < np.max(np.abs(one - near)) < 0.12
        assert np.max(np.abs(one - far)) > 3 * np.max(np.abs(one - near))


def test_novelty_is_low_at_rows_and_high_far_from_them():
    content = with_points()
    content["view"] |= {"low": 0.0, "high": 60.0}
    found = shown(content)
    novelty = np.array(found["novelty"])
    assert novelty[25] < 0.05 and novelty[-1] > 0.99


def test_the_evidence_prefers_the_prior_that_the_rows_come_from():
    def evidence(length):
        factor = FACTOR | {"values": {"lengthscale": length}}
        return shown(with_points(terms=[{"std": 2.0, "factors": [factor]}]))["evidence"]

    assert evidence(1.5) > evidence(0.05) and evidence(1.5) > evidence(60.0)


def test_the_evidence_is_the_density_of_the_rows():
    read = Workspace.read(with_points(terms=[{"std": 2.0, "factors": [FACTOR]}]))
    scale, x = read.scale, read.x
    cov = 4.0 * np.exp(-0.5 * (x - x.T) ** 2 / 1.5**2) + read.noise**2 * np.eye(len(x))
    density = multivariate_normal(np.zeros(len(x)), cov / scale.target_spread**2)
    wanted = density.logpdf(scale.targets(read.y)) / len(x)
    assert look(read, at_rest=False)["evidence"] == pytest.approx(wanted, abs=1e-3)


def test_sentences_say_what_the_prior_says():
    said = " ".join(shown(workspace(terms=SEASONAL))["sentences"])
    assert said.startswith("`y` is made of 3 parts.")
    assert "Along `x`, one repeats periodically, in a shape that drifts slowly" in said
    assert "with a period of 2.00 in `x`" in said
    assert "Along `x`, one follows a straight line." in said
    (values,) = [s for s in shown(workspace())["sentences"] if "values" in s]
    assert values.replace("\N{NO-BREAK SPACE}", " ").startswith(
        "95 % of its values are between −1.96"
    )


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        # Rice: the distance between extrema is pi sqrt(-k''(0) / k''''(0)).
        (RBF(2.0), 2.0 * np.pi / np.sqrt(3)),
        (3.0 * RBF(0.5), 0.5 * np.pi / np.sqrt(3)),
        (Matern12(1.0), 0.0),
        (RBF(1e5), None),
    ],
    ids=["rbf", "scaled", "rough", "flat"],
)
def test_turning_points_are_those_of_rices_formula(kernel, wanted):
    found = turning_distance(composed_in_numpy(kernel), np.zeros(1), 0, 10.0)
    assert found is None if wanted is None else found == pytest.approx(wanted, rel=2e-3)


def test_a_network_of_two_units_cannot_express_a_rough_prior_and_a_wide_one_can():
    content = workspace(hidden=[2, 2])
    content["terms"][0]["factors"] = [FACTOR | {"values": {"lengthscale": 0.5}}]
    narrow = expressed(Workspace.read(content))
    assert narrow["warning"] is not None and narrow["missing"] > 0.1
    wide = expressed(Workspace.read(workspace(hidden=[100, 100])))
    assert wide["warning"] is None and wide["missing"] < 0.05
    assert len(wide["spectra"]["prior"]) == len(wide["spectra"]["network"]) == 60
    shares = 10 ** np.array(wide["spectra"]["prior"])
    assert np.all(np.diff(shares) <= 1e-12) and shares.sum() == pytest.approx(1.0, abs=0.02)


def test_answers_narrow_the_belief_to_what_is_meant():
    truth, answers = np.log([0.12, 2.0]), []
    for _ in range(8):
        asked = elicited(Workspace.read(workspace()), answers)
        for one in asked["functions"]:
            distance = np.hypot(*(np.log([one["length"], one["std"]]) - truth))
            answers.append(
                {"length": one["length"], "std": one["std"], "chosen": bool(distance < 0.6)}
            )
    asked = elicited(Workspace.read(workspace()), answers)
    assert asked["settled"] and asked["num_answers"] == 40
    width = 12.0  # of the view
    found = np.log([asked["lengthscale"] / width, asked["std"]])
    assert np.max(np.abs(found - truth)) < 0.4


def test_a_refused_function_is_less_believed_and_a_chosen_one_more():
    i, j = 20, 15
    before = belief_after([])
    for chosen in (True, False):
        after = belief_after([(LENGTHS[i], STDS[j], chosen)])
        assert (after[i, j] > before[i, j]) == chosen


@pytest.mark.parametrize("kind", [RBF, Matern52])
@double
def test_fields_in_numpy_are_those_of_the_library(kind):
    random = np.random.default_rng(0)
    x, z = random.normal(size=(6, 2)), random.normal(size=(4, 2))
    z[1] = x[2]
    kernel = HelmholtzKernel(potential=kind(0.8, 0.5), stream=kind(0.8, 1.7))
    plain = PlainField(kind.__name__.lower(), 0.8, 0.5, 1.7)
    wanted = kernel.cross(rows_at(x), rows_at(z))
    np.testing.assert_allclose(plain.cross(x, z), wanted, rtol=1e-6, atol=1e-6)


def field(**changes):
    rows = {"x": [[2.0, 3.0], [6.0, 5.0]], "y": [[1.0, 0.0], [0.0, -1.5]]}
    prior = {"family": "rbf", "lengthscale": 2.0, "swirl": 1.0, "sources": 0.5}
    return workspace(
        kind="field",
        columns=[axis(), axis("y", feature=1)],
        target={"name": "flow"},
        field=prior,
        rows=rows,
        source={"kind": "points"},
        **changes,
    )


@double
def test_a_field_after_data_is_the_librarys():
    read = Workspace.read(field())
    found = look_at_field(read)
    kernel = field_kernel(read)
    at_one = np.asarray(kernel.diagonal(rows_at(np.zeros((1, 2)))))
    np.testing.assert_allclose(at_one, 1.0**2 + 0.5**2, rtol=1e-5)
    prior = Model(GaussianProcess(kernel), Normal(read.noise))
    data = Data(rows_at(read.x), read.y.ravel())
    posterior = ExactGP()(prior, data, key=jax.random.key(0)).posterior
    predictive = posterior.predict(rows_at(np.array(found["positions"])))
    np.testing.assert_allclose(found["mean"], field_of(predictive.mean), atol=1e-3)


def test_a_field_without_sources_is_said_to_have_no_divergence():
    content = field()
    assert "sources to sinks" in look_at_field(Workspace.read(content))["sentences"][1]
    content["field"]["sources"] = 0.01
    assert "no divergence" in look_at_field(Workspace.read(content))["sentences"][1]


def test_rows_among_the_points_are_summed_as_rows_elsewhere(monkeypatch):
    # A kernel whose covariance arithmetic can invert: W is the identity up to rounding.
    content = with_points(terms=[{"std": 1.0, "factors": [FACTOR | {"family": "matern32"}]}])
    quick = shown(content)["network"]
    monkeypatch.setattr(network, "measurement_points", _all_without_places)
    slow = shown(content)["network"]
    for name in ("mean", "low", "high"):
        np.testing.assert_allclose(quick[name], slow[name], atol=2e-4)


def _all_without_places(rows, x):
    return np.unique(np.concatenate([rows, x[::6]]), axis=0), None
