"""The table of tags: complete, unambiguous, and all that a file says about a class."""

import ast
import dataclasses
import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from gfsvi import kernels, registry
from gfsvi.storage import tags
from gfsvi.storage.model_file import ModelFileError, read, write
from gfsvi.storage.tags import class_of, places, tag_of

from .model_contents import CONTENTS, assert_same

SAVED = ("covariances", "functions", "kernels", "likelihoods", "means", "methods", "networks")
LISTED = [(kind, name) for kind in (*SAVED, "points") for name in registry.names(kind)]


@pytest.mark.parametrize("tag", places())
def test_every_tag_stands_for_a_class_that_files_can_hold(tag):
    kind = class_of(tag)
    assert dataclasses.is_dataclass(kind)
    assert not kind.__name__.startswith(("Abstract", "_"))
    assert tag_of(kind) == tag


@pytest.mark.parametrize(("collection", "name"), LISTED)
def test_every_class_of_a_collection_has_a_tag(collection, name):
    kind = registry.find(collection, name)
    assert tag_of(kind) is not None, f"add {kind.__module__}.{kind.__name__} to storage/tags.py"


@pytest.mark.parametrize(("collection", "name"), LISTED)
def test_every_class_that_builds_without_arguments_can_be_saved(tmp_path, collection, name):
    kind = registry.find(collection, name)
    required = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
    if required:
        pytest.skip(f"needs {required[0].name}")
    write(tmp_path / "model.gfsvi", {"value": kind()})
    assert_same(read(tmp_path / "model.gfsvi")["value"], kind())


def test_there_are_classes_to_look_for():
    assert len(LISTED) > 50


@pytest.mark.parametrize("name", ["Sum", "Product", "Scaled", "Shifted", "ActiveDimensions"])
def test_the_algebra_of_kernels_has_tags(name):
    assert (tag_of(getattr(kernels, name)) or "").startswith("kernel:")


def test_tags_are_unique():
    table = ast.parse(Path(str(tags.__file__)).read_text())
    for literal in (node for node in ast.walk(table) if isinstance(node, ast.Dict)):
        names = Counter(ast.unparse(key) for key in literal.keys if key is not None)
        assert [name for name, count in names.items() if count > 1] == []
    shared = [where for where, count in Counter(places().values()).items() if count > 1]
    assert shared == []


def test_tags_look_alike():
    assert [tag for tag in places() if not re.fullmatch(r"[a-z_]+:[a-z0-9_]+", tag)] == []


def test_a_file_names_no_module(tmp_path):
    write(tmp_path / "all.gfsvi", {"all": list(CONTENTS.values())})
    data = (tmp_path / "all.gfsvi").read_bytes()
    assert b"kernel:rbf" in data and b"covariance:kronecker" in data
    assert re.findall(rb"gfsvi\.\w+", data) == []


@pytest.fixture
def clear_caches() -> Iterator[Callable[[], None]]:
    """Forgets what was looked up in the table."""

    def clear() -> None:
        for cached in (tags.places, tags.class_of, tags._tags):
            cached.cache_clear()

    yield clear
    clear()


def test_a_tag_whose_class_has_moved_still_loads(tmp_path, clear_caches, monkeypatch):
    write(tmp_path / "before.gfsvi", {"kernel": kernels.RBF(0.5)})
    moved = dataclasses.make_dataclass("RBF", [("lengthscale", object), ("variance", object)])
    moved.__module__ = "gfsvi.kernels.smooth"
    monkeypatch.setitem(sys.modules, moved.__module__, ModuleType(moved.__module__))
    monkeypatch.setattr(sys.modules[moved.__module__], "RBF", moved, raising=False)
    monkeypatch.setitem(tags._CLASSES["kernel"], "rbf", "kernels.smooth.RBF")
    clear_caches()
    kernel = read(tmp_path / "before.gfsvi")["kernel"]
    assert type(kernel) is moved and kernel.lengthscale == 0.5
    write(tmp_path / "after.gfsvi", {"kernel": kernel})
    assert (tmp_path / "after.gfsvi").read_bytes() == (tmp_path / "before.gfsvi").read_bytes()


def test_a_class_that_only_claims_the_name_of_ours_is_refused(tmp_path):
    @dataclasses.dataclass
    class RBF:
        lengthscale: float = 1.0

    RBF.__module__, RBF.__qualname__ = "gfsvi.kernels.rbf", "RBF"
    with pytest.raises(ModelFileError, match="Use a class listed in"):
        write(tmp_path / "model.gfsvi", {"kernel": RBF()})
