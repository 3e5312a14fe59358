"""Names of the collections: found by looking, without importing anything."""

import subprocess
import sys
import textwrap

import pytest

import gfsvi.kernels
import gfsvi.networks
from gfsvi import registry
from gfsvi.kernels.rational_quadratic import RationalQuadratic
from gfsvi.kernels.rbf import RBF
from gfsvi.methods.exact_gp import ExactGP


@pytest.mark.parametrize(
    ("collection", "expected"),
    [
        ("kernels", {"rbf", "matern52", "rational_quadratic", "locally_periodic"}),
        ("methods", {"gfsvi", "exact_gp", "empirical_bayes"}),
        ("likelihoods", {"normal", "student_t", "heteroscedastic_normal"}),
        ("networks", {"mlp", "cnn", "flax_nnx_network"}),
        ("covariances", {"kronecker", "low_rank"}),
        ("functions", {"gaussian_process", "linearized_network"}),
        ("means", {"zero", "constant"}),
        ("points", {"uniform_box", "random_pixel"}),
        ("predictives", {"normal_predictive"}),
    ],
)
def test_every_collection_lists_its_classes_in_snake_case(collection, expected):
    assert expected <= set(registry.names(collection))
    assert list(registry.names(collection)) == sorted(registry.names(collection))
    assert collection in registry.collections()


def test_only_what_the_collection_is_about_is_listed():
    assert "elbo" not in registry.names("methods")  # a class in a file of a method
    assert not any("abstract" in name for name in registry.names("kernels"))
    assert "gp_jax_kernel" not in registry.names("kernels")  # made from an object, not by name


def test_every_name_finds_a_class_that_is_described_in_one_line():
    for collection in registry.collections():
        described = registry.describe(collection)
        assert tuple(described) == registry.names(collection)
        for name, sentence in described.items():
            assert isinstance(registry.find(collection, name), type)
            assert sentence and "\n" not in sentence


@pytest.mark.parametrize(
    "name", ["rational_quadratic", "rational-quadratic", "RationalQuadratic", "RATIONAL quadratic"]
)
def test_a_name_may_be_spelled_in_any_way(name):
    assert registry.find("kernels", name) is RationalQuadratic
    assert registry.find("methods", "exact-gp") is ExactGP


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(ValueError, match="a kernel named .*; got 'rbff'. Did you mean 'rbf'\\?"):
        registry.find("kernels", "rbff")


def test_a_name_like_no_other_gets_the_list():
    with pytest.raises(ValueError, match="constant, integrated_brownian, .* or white; got 'zzz'.$"):
        registry.find("kernels", "zzz")


def test_an_unknown_collection_gets_a_suggestion():
    with pytest.raises(ValueError, match="got 'kernel'. Did you mean 'kernels'\\?"):
        registry.names("kernel")


@pytest.fixture
def new_file(tmp_path, monkeypatch):
    """Puts a file into the package of kernels."""

    def put(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        monkeypatch.setattr(gfsvi.kernels, "__path__", [*gfsvi.kernels.__path__, str(tmp_path)])
        monkeypatch.delitem(sys.modules, f"gfsvi.kernels.{name}", raising=False)

    yield put
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(f"gfsvi.kernels.{path.stem}", None)
        vars(gfsvi.kernels).pop(path.stem, None)


def test_a_new_file_is_enough_for_a_new_name(new_file):
    new_file(
        "night_and_day",
        '''
        from gfsvi.kernels import AbstractKernel, Product

        class NightAndDay(AbstractKernel):
            """Functions with a sharp turn."""
            cross = gram = diagonal = lambda self, *x: None
        ''',
    )
    assert registry.find("kernels", "night-and-day").__name__ == "NightAndDay"
    assert registry.describe("kernels")["night_and_day"] == "Functions with a sharp turn."
    assert "product" not in registry.names("kernels")  # imported there, but at home elsewhere


def test_a_file_whose_framework_is_missing_is_left_out(new_file):
    new_file("of_another_library", "import a_framework_that_nobody_has")
    assert registry.find("kernels", "rbf") is RBF


def test_a_file_that_misses_a_part_of_gfsvi_is_an_error_when_its_class_is_used(new_file):
    text = "import gfsvi.no_such_module\n\nclass Mistaken(AbstractKernel):\n    pass\n"
    new_file("mistaken", text)
    assert "mistaken" in registry.names("kernels")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        registry.find("kernels", "mistaken")


def test_a_class_is_found_through_the_classes_that_it_inherits_from(new_file):
    new_file("warm", "class AbstractWarm(base.AbstractKernel): pass")
    new_file("hot", "class Hot(AbstractWarm[int]): pass\nclass Ice(Water): pass")
    assert "hot" in registry.names("kernels")
    assert not {"abstract_warm", "ice"} & set(registry.names("kernels"))


SCRIPT = """
import sys
from gfsvi import registry
for collection in registry.collections():
    registry.describe(collection)
heavy = {"flax", "haiku", "gpjax", "jax", "numpy", "tinygp", "sklearn", "pandas", "matplotlib"}
print(sorted(heavy & set(sys.modules)))
"""


def test_looking_up_names_imports_no_framework():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
