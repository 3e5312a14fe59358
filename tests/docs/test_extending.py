"""The files and lines shown on the pages about extending work where they are said to go."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import registry
from gfsvi.storage import model_file, tags
from gfsvi.values import Gaussian

PAGES = Path(__file__).parents[2] / "docs" / "extend"


@contextmanager
def added(page: str, package: str, file: str, folder: Path) -> Iterator[ModuleType]:
    """The file that a page shows, put where the collection looks."""
    fences = re.findall(r"```python\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)
    (source,) = [code for code in fences if code.startswith('"""')]
    (folder / f"{file}.py").write_text(source)
    home = importlib.import_module(package)
    home.__path__.append(str(folder))
    try:
        yield importlib.import_module(f"{package}.{file}")
    finally:
        home.__path__.remove(str(folder))
        sys.modules.pop(f"{package}.{file}", None)


@pytest.fixture
def tagged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Puts the line that a page shows into the table of tags, below a kind."""
    caches = (tags.places, tags.class_of, tags._tags)

    def tag(page: str, kind: str) -> None:
        text = (PAGES / page).read_text()
        ((name, where),) = re.findall(r'^"(\w+)": "([\w.]+)",$', text, re.MULTILINE)
        monkeypatch.setitem(tags._CLASSES[kind], name, where)
        for cached in caches:
            cached.cache_clear()

    yield tag
    for cached in caches:
        cached.cache_clear()


def test_the_shown_lines_make_new_classes_part_of_model_files(tmp_path, tagged):
    tagged("kernel.md", "kernel")
    tagged("likelihood.md", "likelihood")
    tagged("method.md", "method")
    with (
        added("kernel.md", "gfsvi.kernels", "inverse_multiquadric", tmp_path) as kernels,
        added("likelihood.md", "gfsvi.likelihoods", "exponential", tmp_path) as likelihoods,
        added("method.md", "gfsvi.methods", "anchored_ensemble", tmp_path) as methods,
    ):
        kernel = kernels.InverseMultiquadric(0.5)
        content = {"parts": [kernel, likelihoods.Exponential(), methods.AnchoredEnsemble()]}
        model_file.write(tmp_path / "model.gfsvi", content)
        parts = model_file.read(tmp_path / "model.gfsvi")["parts"]
    assert [type(part) for part in parts] == [type(part) for part in content["parts"]]
    assert parts[0].lengthscale == 0.5


def test_the_shown_kernel_has_a_name_and_is_a_kernel(tmp_path):
    file = "inverse_multiquadric"
    with added("kernel.md", "gfsvi.kernels", file, tmp_path) as module:
        kernel = registry.find("kernels", file)()
        assert type(kernel) is module.InverseMultiquadric
    x = np.random.default_rng(0).normal(size=(9, 3))
    x = np.concatenate([x, x[:2]])
    gram = np.asarray(kernel.gram(x))
    np.testing.assert_allclose(gram, gram.T)
    assert np.linalg.eigvalsh(gram)[0] > -1e-12
    distance = np.sum((x[0] - x[1]) ** 2)
    assert gram[0, 1] == pytest.approx(1 / np.sqrt(1 + distance))
    gradient = jax.grad(lambda k: jnp.sum(k.gram(x)))(kernel)
    assert np.all(np.isfinite(jax.tree.leaves(gradient)))


def test_the_shown_likelihood_has_a_name_and_right_expectations(tmp_path, key):
    with added("likelihood.md", "gfsvi.likelihoods", "exponential", tmp_path) as module:
        likelihood = registry.find("likelihoods", "exponential")()
        assert type(likelihood) is module.Exponential
    y, mean, std = np.array([0.3, 2.0]), np.array([[0.2, -0.4]]), 0.3
    values = Gaussian(jnp.asarray(mean), std**2 * jnp.eye(2)[None])
    f = mean + std * np.random.default_rng(0).normal(size=(200_000, 1, 2))
    by_hand = np.mean(-f[:, 0] - y * np.exp(-f[:, 0]), axis=0)
    np.testing.assert_allclose(likelihood.expected_log_prob(y, values, key=key), by_hand, atol=5e-3)
    draws = likelihood.draw(jnp.asarray(mean), 100_000, key=key)
    np.testing.assert_allclose(np.mean(draws, axis=0), np.exp(mean), rtol=0.02)
    with pytest.raises(ValueError, match="zero or more; got"):
        likelihood.check(np.array([1.0, -1.0]))


def test_the_shown_data_set_has_a_name_and_reads_a_file_of_its_kind(tmp_path):
    with added("dataset.md", "gfsvi.bench.datasets", "airfoil", tmp_path) as module:
        assert registry.find("datasets", "airfoil") is module.Airfoil
        dataset = module.Airfoil()
        rows = np.random.default_rng(0).normal(size=(1503, 5))
        dataset.check({"X": rows, "y": rows[:, 0]}, "memory")
        with pytest.raises(ValueError, match="1503"):
            dataset.check({"X": rows[:5], "y": rows[:5, 0]}, "memory")
