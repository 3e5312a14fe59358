"""Model files that are none, and rows that do not go with a model."""

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from .conftest import SCRIPT
from .test_bad_tables import refused


def commands(model, table):
    """What reads a model."""
    return ["predict", model, table, "--output", "predictions.csv"], ["evaluate", model, table]


def newer(data: bytes) -> bytes:
    """The same model in a format of the future."""
    length = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + length])
    inner = json.loads(outer["__metadata__"]["gfsvi"]) | {"format": 999}
    outer["__metadata__"]["gfsvi"] = json.dumps(inner)
    text = json.dumps(outer).encode()
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


BAD = {
    "a model from another format": (newer, "has format 999, this library reads up to"),
    "a truncated model": (lambda data: data[: len(data) // 2], "is damaged or foreign"),
    "a model with one other bit": (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "checksum"),
    "an empty model": (lambda data: b"", "is empty. Check the path"),
    "a pickle": (lambda data: pickle.dumps({"model": 1}), "is a pickle and is never opened"),
    "text": (lambda data: b"hello, I am a model", "is something else"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_file_that_is_no_whole_model_gets_one_sentence(run, regression, table, kind):
    change, about = BAD[kind]
    Path("bad.gfsvi").write_bytes(change(regression.read_bytes()))
    for words in commands("bad.gfsvi", table):
        refused(run(*words), about=about)
    assert sorted(os.listdir()) == ["bad.gfsvi", "houses.csv"]


def test_no_such_model(run, table):
    for words in commands("nowhere.gfsvi", table):
        refused(run(*words), about="nowhere.gfsvi cannot be read: No such file or directory")


def test_a_directory_is_no_model(run, table):
    os.mkdir("folder")
    for words in commands("folder", table):
        refused(run(*words), about="folder cannot be read: it is not a file")


def test_a_missing_column_is_named(run, regression, houses):
    houses.drop(columns=SCRIPT).to_csv("table.csv", index=False)
    for words in commands(regression, "table.csv"):
        refused(run(*words), about=f"got none named `{SCRIPT}`; add them")
    assert os.listdir() == ["table.csv"]


def test_words_in_place_of_numbers_are_shown(run, regression, houses):
    houses.assign(**{SCRIPT: "large"}).to_csv("table.csv", index=False)
    for words in commands(regression, "table.csv"):
        answer = run(*words)
        assert answer[0] == 2
        assert f"expected numbers in column `{SCRIPT}`, as in training, got 'large'" in answer[2]
    assert os.listdir() == ["table.csv"]


def test_scores_expect_the_target(run, regression, houses):
    houses.drop(columns="price").to_csv("table.csv", index=False)
    refused(run("evaluate", regression, "table.csv"), about="expected a target column `price`")
    houses.assign(price=np.nan).to_csv("table.csv", index=False)
    refused(run("evaluate", regression, "table.csv"), about="'price' is known; got none")


def test_a_class_that_was_not_learned_is_named(run, classification, houses):
    houses.assign(kind="enormous").to_csv("table.csv", index=False)
    refused(run("evaluate", classification, "table.csv"), about="got 'enormous' in 60 rows")
