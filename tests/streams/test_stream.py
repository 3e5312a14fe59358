"""Rows of a stream add up to what they are in memory, whatever the processes and lanes."""

from typing import Any

import jax
import numpy as np
import pytest

from gfsvi.data import Data
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.conjugate import Interpolation, tangents_of
from gfsvi.inference.conjugate_fit import closed_form_posterior
from gfsvi.inference.quick_mean import Penalized
from gfsvi.inference.row_slopes import row_slopes
from gfsvi.inference.streamed_mean import streamed_descent
from gfsvi.kernels import RBF
from gfsvi.likelihoods import AdaptiveNormal, Categorical, Normal
from gfsvi.model import Model
from gfsvi.networks import MLP
from gfsvi.numerics.groups import LANES, Alone, check_size, own_lanes, tree_sum
from gfsvi.plain.networks import TanhNetwork, random_network
from gfsvi.streams.lanes import lanes_of_arrays
from gfsvi.streams.stream import Batches, Layout, Stream

from .processes import in_processes

NUM_ROWS = 403


def rows(seed: int = 0) -> Data:
    random = np.random.default_rng(seed)
    x = random.normal(size=(NUM_ROWS, 3))
    y = np.sin(2 * x[:, 0]) + x[:, 1] + 0.2 * random.standard_t(4, size=NUM_ROWS)
    return Data(x, y, random.integers(1, 4, NUM_ROWS).astype(float))


def streamed(data: Data, group=None, piece: int = 16, sample: Data | None = None) -> Stream:
    group = Alone() if group is None else group
    columns = [np.asarray(part) for part in (data.x, data.y, data.weights) if part is not None]
    are_labels = np.asarray(data.y).dtype.kind == "i"
    layout = Layout(3, has_weights=data.weights is not None, are_labels=are_labels)
    lanes = lanes_of_arrays(columns, own_lanes(group), piece)
    return Stream(lanes, layout, data if sample is None else sample, len(data), group, seed=3)


def interpolation() -> Interpolation:
    network = MLP((5,), 1)
    params = network.init(np.zeros((4, 3)), key=jax.random.key(1), dtype=np.float64)
    points = np.random.default_rng(5).normal(size=(20, 3))
    return Interpolation.at(
        tangents_of(network, params), GaussianProcess(RBF()), points, gamma=1e-8
    )


@pytest.mark.parametrize("piece", [1, 16, 100, 5000])
def test_every_row_is_in_one_lane(piece):
    data = rows()
    lanes = lanes_of_arrays([np.asarray(data.x)], range(LANES), piece)
    found = np.concatenate([lane.read(0, len(lane)) for lane in lanes])
    assert sum(map(len, lanes)) == NUM_ROWS
    np.testing.assert_array_equal(
        found[np.lexsort(found.T)], np.asarray(data.x)[np.lexsort(np.asarray(data.x).T)]
    )


def test_parts_of_a_lane_are_the_whole_lane():
    (lane,) = lanes_of_arrays([np.asarray(rows().x)], range(2, 3), 10)
    parts = [lane.read(start, start + 7) for start in range(0, len(lane), 7)]
    np.testing.assert_array_equal(np.concatenate(parts), lane.read(0, len(lane)))


def posterior(*given: Any, **options: Any) -> Any:
    return closed_form_posterior(*given, **options)


def posteriors(likelihood, **options) -> list[Any]:
    data, at = rows(), interpolation()
    model = Model(GaussianProcess(RBF()), likelihood)
    some = (data, streamed(data))
    return [posterior(at, model, one, **options).predict(rows(2).x) for one in some]


@pytest.mark.parametrize("likelihood", [Normal(0.3), AdaptiveNormal(0.3)])
def test_the_posterior_of_a_stream_is_that_of_its_rows_in_memory(likelihood):
    expected, found = posteriors(likelihood, learn_noise=False)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-10)
    np.testing.assert_allclose(found.std, expected.std, rtol=1e-10)


@pytest.mark.parametrize("likelihood", [Normal(0.3), AdaptiveNormal(0.3)])
@pytest.mark.parametrize("with_validation", [True, False])
def test_so_is_its_noise_up_to_where_a_search_ends(likelihood, with_validation):
    validation = rows(1) if with_validation else None
    expected, found = posteriors(likelihood, learn_noise=True, validation=validation)
    # Searches for noise and its function end within 1e-5 of the optimum, not always at one place.
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-4 * expected.std.min())
    np.testing.assert_allclose(found.std, expected.std, rtol=1e-4)


def test_a_sample_of_labels_weighs_as_much_as_all_rows():
    data = rows()
    labels = Data(data.x, (np.asarray(data.y) > 0).astype(int))
    model = Model(GaussianProcess(RBF(), outputs=2), Categorical(num_classes=2))
    network = MLP((5,), 2)
    params = network.init(np.zeros((4, 3)), key=jax.random.key(1), dtype=np.float64)
    at = Interpolation.at(
        tangents_of(network, params, 2), model.function, np.asarray(data.x[:20]), gamma=1e-8
    )
    half = labels.take(np.arange(0, NUM_ROWS, 2))
    twice = Data(half.x, half.y, np.full(len(half), NUM_ROWS / len(half)))
    expected, found = (
        posterior(at, model, some, learn_noise=False)
        for some in (twice, streamed(labels, sample=half))
    )
    x = rows(2).x
    np.testing.assert_allclose(
        found.predict(x).probabilities, expected.predict(x).probabilities, atol=1e-10
    )


def network_of(outputs: int = 1) -> TanhNetwork:
    drawn = random_network(np.asarray(rows().x), (7, outputs), None, np.random.default_rng(0))
    return TanhNetwork(tuple(matrix.astype(np.float32) for matrix in drawn.matrices))


def descent_of(stream: Stream, points: np.ndarray):
    empty: Any = row_slopes(Normal(0.3), rows().take(np.arange(0)), 1)
    at_points = Penalized.of(GaussianProcess(RBF()), np.zeros((0, 3)), points, empty).in_float32()
    return streamed_descent(Normal(0.3), stream, at_points, 1e-2, 1)


def test_a_step_on_all_rows_of_a_stream_is_one_in_memory():
    data, points = rows().take(np.arange(400)), np.asarray(rows(4).x[:9])
    value, gradients = descent_of(streamed(data, piece=1), points).objective(0)(network_of())
    slopes: Any = row_slopes(Normal(0.3), data, 1)
    whole = Penalized.of(GaussianProcess(RBF()), np.asarray(data.x), points, slopes)
    expected, expected_gradients = whole(network_of())
    assert value == pytest.approx(expected, rel=1e-5)
    for found, wanted in zip(gradients, expected_gradients, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


def test_a_pass_has_every_row_once_in_another_order():
    data = Data(np.arange(3 * 512.0).reshape(512, 3), np.arange(512.0))
    batches = Batches(streamed(data), 64)
    passes = [
        np.concatenate([part.y for step in range(first, first + 8) for part in batches.of(step)])
        for first in (0, 8)
    ]
    for found in passes:
        np.testing.assert_array_equal(np.sort(found), data.y)
    assert np.any(passes[0] != passes[1])


def test_a_batch_does_not_depend_on_those_before_it():
    one, other = (Batches(streamed(rows()), 64) for _ in range(2))
    for step in range(9):
        one.of(step)
    for found, wanted in zip(one.of(9), other.of(9), strict=True):
        np.testing.assert_array_equal(found.x, wanted.x)


@pytest.mark.parametrize("size", [2, 4])
def test_several_processes_compute_what_one_does_bit_for_bit(size):
    data, at, points = rows(), interpolation(), np.asarray(rows(4).x[:9])
    model = Model(GaussianProcess(RBF()), Normal(0.3))

    def work(group):
        stream = streamed(data, group)
        posterior = closed_form_posterior(at, model, stream, learn_noise=False)
        value, gradients = descent_of(stream, points).objective(3)(network_of())
        return [posterior.function.shift, posterior.function.root, value, *gradients]

    (expected,) = in_processes(1, work)
    for found in in_processes(size, work):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_tree_adds_up_everything():
    assert tree_sum([1, 2, 3, 4, 5]) == 15


@pytest.mark.parametrize("size", [0, 3, 16])
def test_processes_that_cannot_share_evenly_are_refused(size):
    with pytest.raises(ValueError, match=f"got {size}"):
        check_size(size)
