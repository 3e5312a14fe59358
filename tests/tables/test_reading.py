"""Reading tables from files and writing them, completely or not at all."""

import ast
import contextlib
import errno
import gzip
import importlib
import os
import pickle
import pkgutil
import re
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest

import gfsvi.tables
from gfsvi.storage.files import WriteError
from gfsvi.tables.reading import TableError, read_table, write_table

FRAME = pd.DataFrame({"a": [1.5, None, 1 / 3], "b, c": ["x", None, 'y "z"'], "d": [1, 2, 3]})


def written(folder, content, name="table.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.txt", "t.parquet", "t.pq"])
def test_what_is_written_is_read_again(tmp_path, name):
    write_table(FRAME, tmp_path / name)
    pd.testing.assert_frame_equal(read_table(tmp_path / name), FRAME)
    assert os.listdir(tmp_path) == [name]


@hypothesis.given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_numbers_survive_csv_to_the_last_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("exact") / "t.csv"
    write_table(pd.DataFrame({"a": np.array(values)}), path)
    np.testing.assert_array_equal(read_table(path)["a"].to_numpy(np.float64), values)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_found_from_the_header(tmp_path, separator):
    path = written(tmp_path, "a;b;c\n1;2.5;x\n3;4.5;y\n".replace(";", separator))
    assert list(read_table(path).columns) == ["a", "b", "c"]
    assert read_table(path)["b"].tolist() == [2.5, 4.5]


def test_a_quoted_separator_in_a_name_separates_nothing(tmp_path):
    assert list(read_table(written(tmp_path, '"a;b;c",d\n1,2\n')).columns) == ["a;b;c", "d"]


def test_a_decimal_comma_is_read_where_semicolons_separate(tmp_path):
    path = written(tmp_path, "a;b\n3,5;1\n0,25;2\n")
    assert read_table(path)["a"].tolist() == [3.5, 0.25]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    path = written(tmp_path, '"ä;;",b\n1,2\n'.encode("utf-8-sig"))
    assert list(read_table(path).columns) == ["ä;;", "b"]


def test_blank_lines_and_windows_line_ends_do_no_harm(tmp_path):
    path = written(tmp_path, "\r\na,b\r\n1,2\r\n\r\n3,4\r\n\r\n")
    assert read_table(path).to_numpy().tolist() == [[1, 2], [3, 4]]


def test_rows_are_numbered_from_zero_and_row_labels_are_no_column(tmp_path):
    FRAME.set_index(pd.Index([7, 8, 9])).to_parquet(tmp_path / "t.parquet")
    frame = read_table(tmp_path / "t.parquet")
    assert list(frame.index) == [0, 1, 2]
    assert list(frame.columns) == list(FRAME.columns)


BAD = {
    "empty": (b"", "empty file"),
    "blank": (b"\n \n", "name for each column"),
    "header only": (b"a,b\n", "only column names"),
    "latin-1": ("a,b\n1,2\n1,é\n".encode("latin-1"), "line 3; save it as UTF-8"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "UTF-16.*save it as UTF-8"),
    "duplicate names": (b"a,b,a\n1,2,3\n", "`a` more than once"),
    "nameless column": (b",a\n0,1\n", "none for column 1"),
    "short row": (b"a,b,c\n1,2,3\n7,5\n", "3 values.*got 2.*'7'"),
    "long row": (b"a,b,c\n1,2,3\n7,5,6,7\n", "3 values.*got 4.*'7'"),
    "all rows long": (b"a,b\n1,2,3\n4,5,6\n", "2 values.*got 3"),
    "open quote": (b'a,b\n1,2\n3,"4\n5,6\n', "quotes"),
    "pickle": (pickle.dumps([1.0, "x"]), "pickle"),
    "zip": (b"PK\x03\x04....", "Excel"),
    "parquet": (b"PAR1....", "name it .parquet"),
    "binary": (b"a,b\n\0\1\2,1\n", "binary"),
    "broken gzip": (gzip.compress(b"a,b\n1,2\n")[:-6], "complete"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_content_is_refused_in_one_sentence(tmp_path, kind):
    content, message = BAD[kind]
    with pytest.raises(TableError, match=message) as caught:
        read_table(written(tmp_path, content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"PAR1 not really PAR1", b"a,b\n1,2\n"])
def test_a_broken_parquet_file_is_refused(tmp_path, content):
    with pytest.raises(TableError, match="expected a Parquet file"):
        read_table(written(tmp_path, content, "t.parquet"))


def test_a_truncated_parquet_file_is_refused(tmp_path):
    write_table(FRAME, tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    with pytest.raises(TableError, match="expected a Parquet file"):
        read_table(written(tmp_path, whole[: len(whole) // 2], "t.parquet"))


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    with pytest.raises(TableError, match="no file at"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(TableError, match="directory"):
        read_table(tmp_path)


def test_an_unreadable_file_is_refused(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    path = written(tmp_path, "a\n1\n")
    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(TableError, match="Permission denied.*permissions"):
        read_table(path)


@hypothesis.given(st.binary(max_size=60) | st.text("a1,;\t\n\r\"' .é", max_size=40))
def test_any_bytes_give_a_table_or_a_table_error(tmp_path_factory, content):
    path = written(tmp_path_factory.mktemp("any"), content)
    with contextlib.suppress(TableError):
        assert len(read_table(path))


def test_nothing_is_left_when_the_disk_is_full(tmp_path, monkeypatch):
    path = written(tmp_path, "old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="No space left on device.*has room"):
        write_table(FRAME, path)
    assert os.listdir(tmp_path) == ["table.csv"]
    assert path.read_text() == "old"


def test_places_that_cannot_be_written_to_are_refused(tmp_path):
    with pytest.raises(WriteError, match="Check that the folder exists"):
        write_table(FRAME, tmp_path / "none" / "t.csv")
    with pytest.raises(WriteError, match="Check that the folder exists"):
        write_table(FRAME, written(tmp_path, "a file") / "t.csv")


def test_a_frame_that_does_not_fit_is_refused_and_leaves_nothing(tmp_path):
    mixed = pd.DataFrame({"a": np.array([1, "x"], object)})
    with pytest.raises(WriteError, match="give each column a single type"):
        write_table(mixed, tmp_path / "t.parquet")
    assert os.listdir(tmp_path) == []


TABLE_MODULES = ["gfsvi.tables.reading", "gfsvi.tables.cells", "gfsvi.tables"]
TABLE_MODULES += [
    f"gfsvi.tables.{part.name}" for part in pkgutil.iter_modules(gfsvi.tables.__path__)
]


@pytest.mark.parametrize("name", TABLE_MODULES)
def test_importing_tables_does_not_import_pandas(name):
    body = ast.parse(Path(str(importlib.import_module(name).__file__)).read_text()).body
    names = [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert names
    assert not [name for name in names if re.match(r"(import|from) (pandas|pyarrow)", name)]
