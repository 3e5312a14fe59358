"""What people look at shows its numbers, in text and in a notebook."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gfsvi.kernels
from gfsvi import Data, Model, registry
from gfsvi.fields import HelmholtzKernel
from gfsvi.functions import ConditionedProcess, GaussianProcess
from gfsvi.functions.means import Constant
from gfsvi.kernels import RBF, Linear, Matern32, Periodic, Scaled, White, as_kernel
from gfsvi.likelihoods import Categorical, Normal, StudentT
from gfsvi.numerics.printing import array_text, html_of, number_text, text_of
from gfsvi.predictives import CategoricalPredictive, NormalPredictive
from gfsvi.training import Fit
from gfsvi.training.history import History

X = np.random.default_rng(0).normal(size=(6, 3))
KERNELS = [registry.find("kernels", name)() for name in registry.names("kernels")]
KERNELS += [
    2.0 * RBF([0.3, 1 / 3, 2.0]) + Periodic() * Matern32().on(0, 2) + 0.5,
    Scaled(RBF(), 2.0),
    (RBF() + White()) * Linear([1.0, 2.0, 3.0]),
    ((RBF() + 1.0) * RBF() + RBF(variance=1e-12)).on(0, 1),
    (2.0 * RBF()).on(1) * 3.0,
]
PROCESS = GaussianProcess(RBF(0.25), mean=Constant(0.5))
MODEL = Model(PROCESS, Normal(0.125))
HISTORY = History({"objective": np.arange(100.0)}, np.array([50]), np.array([0.25]), 50)
THINGS = [
    PROCESS,
    MODEL,
    Model(ConditionedProcess.given(PROCESS, X, np.ones((1, 6)), np.ones((1, 6))), Normal(0.125)),
    Fit(MODEL, HISTORY),
    Data(X, X[:, 0]),
    PROCESS.at(X),
    StudentT(0.25),
    Categorical(num_classes=3),
    MODEL.predict(X),
    HelmholtzKernel(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_the_text_of_a_kernel_is_code_that_makes_it_again(kernel):
    made = eval(repr(kernel), vars(gfsvi.kernels))
    np.testing.assert_allclose(made.gram(X), kernel.gram(X), rtol=1e-7)
    assert repr(made) == repr(kernel)


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: type(thing).__name__)
def test_no_array_is_shown_as_its_type_alone(thing):
    for text in (repr(thing), str(thing), thing._repr_html_()):
        assert "f64[" not in text and "f32[" not in text and "numpy)" not in text
        assert "object at 0x" not in text


def test_a_model_shows_the_numbers_of_its_parts():
    assert repr(MODEL) == (
        "Model(\n"
        "  function=GaussianProcess(\n"
        "    kernel=RBF(lengthscale=0.25, variance=1.0),\n"
        "    mean=Constant(value=0.5)\n"
        "  ),\n"
        "  likelihood=Normal(noise=0.125)\n"
        ")"
    )


def test_large_arrays_show_shape_and_range():
    assert array_text(np.linspace(-1, 2, 600).reshape(20, 30)) == "<20x30 numbers from -1 to 2>"
    assert array_text(np.zeros((0, 2))) == "<0x2 float64>"
    assert array_text(jax.random.key(0)) == "<random key>"
    assert array_text(jnp.array([1, 2])) == "[1, 2]"


def test_numbers_are_read_back_by_python():
    for value in (1.0, -3.0, 0.1, 1e-300, 2.5e20, 123456.0):
        assert float(number_text(value)) == value and "." in number_text(value) + "."
    assert number_text(1 / 3, 4) == "0.3333" and number_text(2.0) == "2.0"


def test_traced_kernels_can_be_printed_inside_compiled_code():
    texts = []

    @jax.jit
    def traced(kernel):
        texts.append(repr(kernel))
        return kernel.variance

    traced(RBF([1.0, 2.0]))
    assert texts == ["RBF(lengthscale=<traced float64 2>, variance=<traced float64>)"]


def test_a_notebook_shows_fewer_digits_and_no_markup_of_others():
    assert "0.3333," in RBF(1 / 3)._repr_html_()
    assert html_of("<b>&") == '<pre style="white-space: pre-wrap; margin: 0">&lt;b&gt;&amp;</pre>'
    named = as_kernel(lambda x, z: jnp.sum(x * z))
    assert "<lambda>" not in named._repr_html_() and "&lt;lambda&gt;" in named._repr_html_()


def test_a_predictive_is_a_table_of_its_first_points():
    predictive = NormalPredictive(np.arange(20.0), np.full(20, 9.0), np.full(20, 16.0))
    title, header, first, *rest = repr(predictive).splitlines()
    assert title == "NormalPredictive at 20 points; not shown: 12 more points"
    assert header.split() == ["mean", "std", "epistemic_std", "aleatoric_std", "lower", "upper"]
    assert first.split() == ["0", "5", "3", "4", "-9.8", "9.8"] and len(rest) == 7
    page = predictive._repr_html_()
    assert page.count("<tr>") == 9 and "<td>9.8</td>" in page


def test_several_outputs_and_many_classes_are_columns():
    two = NormalPredictive(np.zeros((3, 2)), np.ones((3, 2)), np.ones((3, 2)))
    assert "mean[1]" in repr(two) and "upper[0]" in repr(two)
    labels = CategoricalPredictive(np.log(np.full((4, 1, 20), 0.05)))
    assert "at 1 point; not shown: 9 more columns" in repr(labels) and "p_11" in repr(labels)


def test_containers_and_long_lines_are_broken():
    assert text_of((1.0,)) == "(1.0,)" and text_of([]) == "[]" and text_of({"a": 1}) == "{'a': 1}"
    assert text_of(["x" * 50, "y" * 50]).count("\n") == 3
