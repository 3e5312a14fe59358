"""Tables that cannot be learned from: exit code 2, one sentence, nothing left behind."""

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

NUMBERS = np.random.default_rng(0).normal(size=(30, 3))
GOOD = pd.DataFrame(NUMBERS, columns=["a", "b", "y"])
MANY = 100_000


def csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def with_cell(value: object) -> pd.DataFrame:
    return GOOD.astype(object).assign(y=[value, *GOOD["y"][1:]])


BAD = {
    "empty": (b"", "got an empty file; write column names"),
    "header only": (b"a,b,y\n", "got only column names; write at least one row"),
    "one row": (b"a,y\n1,2\n", "at least 10 rows with a value of `y`, got 1; collect more"),
    "wrong delimiter": (csv(GOOD).replace(b",", b"|"), "got a single column `a|b|y`; separate"),
    "ragged": (csv(GOOD) + b"1,2\n", "expected 3 values in every row"),
    "target missing": (csv(GOOD.drop(columns="y")), "got `a`, `b`; choose one of them"),
    "target misspelt": (csv(GOOD.rename(columns={"y": "yy"})), "did you mean `yy`?"),
    "target without values": (csv(GOOD.assign(y=np.nan)), "expected values of `y`, got none"),
    "target constant": (csv(GOOD.assign(y=7)), "to vary, got 7 in every row; choose another"),
    "target with infinity": (csv(with_cell(np.inf)), "got infinite ones in 1 row; correct"),
    "all-missing column": (csv(GOOD[["y"]].assign(a=np.nan)), "`a` left out: it has no values"),
    "only the target": (csv(GOOD[["y"]]), "usable column to predict from, got none; add"),
    "100,000 categories": (
        csv(pd.DataFrame({"a": [f"c{i}" for i in range(MANY)], "y": np.arange(MANY) % 17})),
        "100000 distinct texts in 100000 rows look like an identifier",
    ),
    "100,000 classes": (
        csv(pd.DataFrame({"a": np.arange(MANY) % 17, "y": [f"c{i}" for i in range(MANY)]})),
        "expected at most 500 classes",
    ),
    "duplicate column names": (csv(GOOD).replace(b"a,b,y", b"a,a,y"), "got `a` more than once"),
    "a column without a name": (csv(GOOD).replace(b"a,b,y", b",b,y"), "expected a name for each"),
    "not UTF-8": (csv(GOOD) + "é,1,2\n".encode("latin-1"), "got other bytes in line 32"),
    "binary": (bytes(range(256)) * 4, "got a binary file; save the table as CSV"),
    "an Excel workbook": (b"PK\x03\x04 and so on", "got an Excel workbook"),
}


def refused(answer, *, about: str) -> None:
    """One sentence that says this, and no more than it."""
    status, out, error = answer
    assert status == 2, error
    assert out == ""
    assert re.fullmatch(r"gfsvi: [^\n]+[.?]\n", error), error
    assert about in error
    assert "Traceback" not in error


def fit(table, *options, target="y", output="model.gfsvi"):
    return ("fit", table, "--target", target, "--output", output, *options)


@pytest.mark.parametrize("kind", BAD)
def test_a_table_that_cannot_be_used_gets_one_sentence(run, kind):
    data, about = BAD[kind]
    Path("table.csv").write_bytes(data)
    refused(run(*fit("table.csv")), about=about)
    assert os.listdir() == ["table.csv"]


def test_mixed_types_in_a_numeric_target_are_shown(run):
    values = ["dog" if row % 2 else row for row in range(30)]
    Path("table.csv").write_bytes(csv(GOOD.assign(y=values)))
    refused(
        run(*fit("table.csv", "--task", "regression")),
        about="expected numbers in target `y`, got '0', 'dog', '2', ...; use",
    )


def test_no_such_file(run):
    refused(run(*fit("nowhere.csv")), about="got no file at nowhere.csv; check the path")
    assert os.listdir() == []


def test_a_directory_without_tables_is_no_table(run):
    os.mkdir("table.csv")
    refused(run(*fit("table.csv")), about="CSV or Parquet files at table.csv, got none")


def test_a_name_that_no_file_can_have(run):
    refused(run(*fit("a\0b")), about="embedded null byte")


@pytest.mark.parametrize("data", [b"hello", b"PAR1 but nothing follows PAR1"])
def test_a_damaged_parquet_file(run, data):
    Path("table.parquet").write_bytes(data)
    refused(run(*fit("table.parquet")), about="expected a Parquet file at table.parquet")
    assert os.listdir() == ["table.parquet"]


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (["--target", "y"], "expected different target columns"),
        (["--target", "z"], "expected a target column `z`, got `a`, `b`, `y`"),
        (["--target", "a", "--task", "classification"], "expected one target for classification"),
    ],
)
def test_several_targets_that_do_not_go_together(run, options, about):
    Path("table.csv").write_bytes(csv(GOOD))
    refused(run(*fit("table.csv", *options)), about=about)


def test_a_column_name_with_a_line_break_stays_in_the_line(run):
    Path("table.csv").write_bytes(csv(GOOD.rename(columns={"a": "a\nb"})))
    refused(run(*fit("table.csv", target="a\nc")), about="did you mean `a b`?")
