"""`as_kernel`: what it lets through, how, and what it refuses."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from gfsvi.kernels import RBF, Matern52, as_kernel
from gfsvi.kernels.adapters import FunctionKernel, GPJaxKernel
from gfsvi.kernels.base import Product

X = np.random.default_rng(0).normal(size=(6, 2))
Z = np.random.default_rng(1).normal(size=(4, 2))


def squared_exponential(x, z):
    return jnp.exp(-0.5 * jnp.sum((x - z) ** 2))


def test_our_own_kernel_passes_through_untouched():
    kernel = 2.0 * RBF() + Matern52().on(0)
    assert as_kernel(kernel) is kernel


def test_a_function_of_two_points_is_a_kernel():
    kernel = as_kernel(squared_exponential)
    assert isinstance(kernel, FunctionKernel)
    np.testing.assert_allclose(kernel.gram(X), RBF().gram(X), rtol=1e-12)
    np.testing.assert_allclose(kernel.cross(X, Z), RBF().cross(X, Z), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.ones(6), rtol=1e-12)


def test_a_function_kernel_passes_through_jit_and_into_algebra():
    kernel = 2.0 * as_kernel(squared_exponential) + RBF()
    jitted = jax.jit(lambda kernel, x: kernel.gram(x))(kernel, X)
    np.testing.assert_allclose(jitted, 3 * RBF().gram(X), rtol=1e-12)


def test_a_function_that_returns_an_array_raises():
    with pytest.raises(ValueError, match=r"return one number; got an array of shape \(2,\)"):
        as_kernel(lambda x, z: x * z).gram(X)


@pytest.mark.parametrize("stranger", [3.0, None, "rbf", [RBF()]])
def test_what_is_no_kernel_raises(stranger):
    with pytest.raises(TypeError, match=r"expected a kernel of gfsvi.*; got .*For example: gfsvi"):
        as_kernel(stranger)


def test_a_kernel_class_instead_of_a_kernel_raises():
    with pytest.raises(TypeError, match="got the class Matern52 itself"):
        as_kernel(Matern52)


def test_a_matern_kernel_of_unusual_smoothness_raises():
    with pytest.raises(ValueError, match=r"nu 0\.5, 1\.5, 2\.5 or inf; got nu=0\.7"):
        as_kernel(sk.Matern(nu=0.7))


@pytest.mark.parametrize("kernel", [sk.PairwiseKernel(), 2.0 * sk.PairwiseKernel()])
def test_an_unknown_scikit_learn_kernel_raises(kernel):
    with pytest.raises(TypeError, match=r"scikit-learn's .*PairwiseKernel\. Write it as"):
        as_kernel(kernel)


def test_a_subclass_of_a_known_scikit_learn_kernel_is_not_mistaken_for_it():
    class RBF(sk.RBF):
        """Has the name of a kernel we know, and may compute anything."""

    with pytest.raises(TypeError, match="expected one of scikit-learn's"):
        as_kernel(RBF())


def test_a_whole_power_of_a_kernel_is_a_product():
    assert isinstance(as_kernel(sk.RBF() ** 2), Product)


@pytest.mark.parametrize("exponent", [0.5, 0, -1])
def test_other_powers_of_a_kernel_raise(exponent):
    with pytest.raises(ValueError, match=f"integer exponent of at least 1; got {exponent}"):
        as_kernel(sk.RBF() ** exponent)


def test_a_gpjax_kernel_of_an_old_version_raises():
    with pytest.raises(TypeError, match=r"Equinox module; got .*Use GPJax 1.0 or newer"):
        GPJaxKernel(object())


def test_importing_the_kernels_imports_no_optional_library():
    code = "import sys, gfsvi.kernels; print({'gpjax', 'tinygp', 'sklearn'} & set(sys.modules))"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert output.stdout.strip() == "set()"
