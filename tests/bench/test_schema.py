"""The JSON schema of experiment files."""

import json
import tomllib
from pathlib import Path

import pytest

from gfsvi.bench.schema import json_schema
from gfsvi.cli import main

EXPERIMENTS = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))
TYPES = {"string": str, "integer": int, "boolean": bool, "number": float}


def admits(schema, value):
    """What a validator of JSON schemas would say, for the keywords that are used."""
    if "anyOf" in schema:
        return any(admits(one, value) for one in schema["anyOf"])
    if schema["type"] == "array":
        return isinstance(value, list) and all(admits(schema["items"], v) for v in value)
    if schema["type"] != "object":
        return type(value) is TYPES[schema["type"]]
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    return isinstance(value, dict) and all(
        admits(known[name], inner)
        if name in known
        else others is True or (others is not False and admits(others, inner))
        for name, inner in value.items()
    )


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_every_experiment_of_the_repository_is_admitted(path):
    assert admits(json_schema(), tomllib.loads(path.read_text()))


@pytest.mark.parametrize("wrong", [{"taks": "curve"}, {"folds": "all"}, {"report": {"texts": ""}}])
def test_other_keys_and_types_are_not(wrong):
    assert not admits(json_schema(), wrong)


def test_the_command_prints_it(capsys):
    assert main(["bench", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()
