"""The server: predictions as of the model, and refusals in words."""

import asyncio
import json

import numpy as np
import pytest

import gfsvi
from gfsvi.server import Limits, application
from gfsvi.server.served import Served

from .client import asked, post

ROW = {"size": 100.0, "town": "Bonn", "age": 30}
LIMITS = Limits(bytes=20_000, rows=50)


@pytest.fixture(scope="module")
def served(regressor_file):
    return Served.read(regressor_file, "houses.gfsvi")


@pytest.fixture
def app(served):
    return application(served, LIMITS)


def test_predictions_are_those_of_the_model(app, regressor_file, houses):
    rows = houses[["size", "town", "age"]].to_dict("records")[:40]
    status, content = post(app, {"rows": rows, "level": 0.8})
    model, frame = gfsvi.load(regressor_file), houses[:40]
    assert status == 200
    found = {name: [row[name] for row in content["predictions"]] for name in ROW_OF_ANSWER}
    lower, upper = model.predict_interval(frame, 0.8)
    expected = dict(zip(("mean", "std"), model.predict(frame, return_std=True), strict=True))
    expected |= {"lower": lower, "upper": upper, "novelty": model.novelty(frame)}
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-9)


ROW_OF_ANSWER = ("mean", "std", "lower", "upper", "novelty")


def test_labels_have_probabilities_and_sets(classifier_file, houses):
    app = application(Served.read(classifier_file, "kinds.gfsvi"))
    status, content = post(app, {"rows": [ROW, ROW | {"size": 300}]})
    model = gfsvi.load(classifier_file)
    assert status == 200
    found = content["predictions"][0]
    probabilities = model.predict_proba(houses.head(1).assign(**ROW))[0]
    np.testing.assert_allclose([found["p_cheap"], found["p_dear"]], probabilities, atol=1e-9)
    assert found["predicted"] in found["set"].split(";")


def test_missing_values_and_the_target_may_be_sent(app):
    status, content = post(app, {"rows": [ROW | {"age": None, "price": 3.0}]})
    assert status == 200 and len(content["predictions"]) == 1


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"", 400, "expected JSON"),
        (b"\xff\xfe", 400, "expected JSON"),
        (b"[" * 15_000, 400, "expected JSON"),
        (b'{"rows": [{"size": NaN}]}', 400, "NaN is not JSON"),
        ([], 400, "expected {"),
        ({"rows": [ROW], "what": 1}, 400, "expected {"),
        ({}, 422, "expected {"),
        ({"rows": []}, 422, "1 to 50 rows; got 0"),
        ({"rows": [ROW] * 51}, 422, "1 to 50 rows; got 51"),
        ({"rows": [{"size": 1, "age": 2}]}, 422, "row 0 has no 'town'"),
        ({"rows": [ROW | {"colour": "red"}]}, 422, "row 0 has 'colour'"),
        ({"rows": [ROW | {"size": [1]}]}, 422, "row 0 has a list"),
        ({"rows": [ROW | {"size": 10**400}]}, 422, "below 1e300"),
        ({"rows": [ROW | {"size": "large"}]}, 422, "large"),
        ({"rows": [ROW], "level": 1.5}, 422, "level between 0 and 1"),
        ({"rows": [ROW], "level": "0.5"}, 422, "level between 0 and 1"),
        ({"rows": [ROW], "level": 0.9999}, 422, "at least 9999 rows to judge by"),
        (b" " * 20_001, 413, "at most 20000 bytes"),
    ],
)
def test_what_cannot_be_predicted_is_refused_in_words(app, content, status, words):
    found, answer = post(app, content)
    assert found == status
    assert words in answer["error"]


def test_a_large_body_is_refused_before_it_has_arrived(app):
    assert post(app, b" " * 10**6, chunks=1000)[0] == 413


def test_other_addresses_and_methods_are_refused_in_words(app):
    status, answer, _ = asyncio.run(asked(app, "/nowhere", method="GET"))
    assert status == 404 and "/predict" in answer["error"]
    status, answer, _ = asyncio.run(asked(app, "/predict", method="GET"))
    assert status == 405 and "POST" in answer["error"]


def test_requests_at_the_same_time_are_predicted_together(served):
    sizes = []

    class Counting(Served):
        def predict(self, rows, level):
            sizes.append(len(rows))
            return super().predict(rows, level)

    app = application(Counting(served.name, served.model, served.preparation))
    body = json.dumps({"rows": [ROW]}).encode()
    bad = json.dumps({"rows": [ROW | {"size": "large"}]}).encode()

    async def together():
        bodies = [*[body] * 20, bad, *[body] * 20]
        return await asyncio.gather(*(asked(app, "/predict", b) for b in bodies))

    answers = asyncio.run(together())
    statuses = [status for status, _, _ in answers]
    assert statuses == [*[200] * 20, 422, *[200] * 20]
    assert max(sizes) > 1
    first, last = (answers[i][1]["predictions"][0]["mean"] for i in (0, -1))
    assert first == pytest.approx(last, rel=1e-9)


def test_too_many_requests_are_turned_away(served):
    app = application(served, Limits(waiting=2))
    body = json.dumps({"rows": [ROW]}).encode()

    async def together():
        return await asyncio.gather(*(asked(app, "/predict", body) for _ in range(10)))

    statuses = {status for status, _, _ in asyncio.run(together())}
    assert statuses == {200, 503}


def test_pages_describe_the_model(app):
    status, known, _ = asyncio.run(asked(app, "/model", method="GET"))
    assert status == 200 and known["columns"] == ["size", "town", "age"]
    assert asyncio.run(asked(app, "/health", method="GET"))[1]["status"] == "ok"
    _, api, _ = asyncio.run(asked(app, "/openapi.json", method="GET"))
    row = api["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    assert row["schema"]["properties"]["rows"]["items"]["required"] == ["size", "town", "age"]


def test_names_on_the_page_are_escaped(served):
    app = application(Served("<script>alert(1)</script>", served.model, served.preparation))
    _, text, headers = asyncio.run(asked(app, "/", method="GET"))
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert headers[b"content-security-policy"].startswith(b"default-src 'none'")
