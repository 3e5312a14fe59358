"""The server answers its own page alone, and bad input with one sentence."""

import copy
import http.client
import time
from urllib.parse import urlsplit
from urllib.request import urlopen

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest

from gfsvi.studio import serving
from gfsvi.studio.looking import look
from gfsvi.studio.server import page_files
from gfsvi.studio.workspace import MAX_ROWS, Workspace

from .workspaces import SEASONAL, with_points, workspace

SOLD = [3.0, 4.5, 4.0, 5.0, 5.5, 3.5, 4.5, 6.0, 5.0, 4.0]
CSV = "day,sold\n" + "".join(f"2020-01-{i:02},{sold}\n" for i, sold in enumerate(SOLD, 1))


def raw(address: str, path: str, method: str = "GET", **headers: str) -> int:
    """The status of a request that no browser would send."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers=named)
    status = connection.getresponse().status
    connection.close()
    return status


def test_it_listens_on_loopback_only(address):
    assert urlsplit(address).hostname == "127.0.0.1" == serving.HOST
    assert len(urlsplit(address).path) > 30


def test_without_the_token_nothing_is_answered(address):
    for path in ("/", "/begin", "/main.js", "/wrong/begin", "//begin", "/" + "x" * 32 + "/begin"):
        assert raw(address, path) == 404
    assert raw(address, urlsplit(address).path + "begin") == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost:1"])
def test_another_host_name_is_refused(address, host):
    assert raw(address, urlsplit(address).path, Host=host) == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_another_origin_is_refused(address, headers):
    path = urlsplit(address).path
    assert raw(address, path + "begin", **headers) == 403
    assert raw(address, path + "look", "POST", Content_Length="0", **headers) == 403


def test_the_page_of_the_studio_itself_is_admitted(address):
    parts = urlsplit(address)
    origin = f"http://{parts.netloc}"
    assert raw(address, parts.path, Origin=origin, Sec_Fetch_Site="same-origin") == 200


def test_only_files_of_the_page_are_sent(address):
    path = urlsplit(address).path
    assert {"index.html", "main.js", "studio.css"} <= set(page_files())
    for name in page_files():
        assert raw(address, path + name) == 200
    for name in ("../server.py", "%2e%2e/server.py", "..%2fserver.py", "//etc/passwd", "server.py"):
        assert raw(address, path + name) in (404, 400)


def test_large_and_endless_requests_are_refused(address):
    path = urlsplit(address).path
    assert raw(address, path + "tables", "POST", Content_Length=str(10**12)) == 413
    assert raw(address, path + "tables", "POST", Transfer_Encoding="chunked") == 411


def test_answers_may_not_be_kept_framed_or_guessed_at(address):
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    connection.request("GET", parts.path)
    headers = connection.getresponse().headers
    connection.close()
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["look", "express", "elicit", "export", "check", "preset", "fits"])
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"workspace": {"format": 1}}', b"\xff"])
def test_bad_input_gets_one_sentence(ask, path, body):
    status, answer = ask(path, body)
    assert status == 400
    assert answer["sentence"].strip() and "\n" not in answer["sentence"]
    assert "Traceback" not in answer["sentence"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.csv", b"", "empty file"),
        ("a.csv", b"a,b\n1,2,3\n", "values in every row"),
        ("a.csv", b"a,a\n1,2\n", "more than once"),
        ("a.csv", b"PK\x03\x04...", "Excel"),
        ("a.csv", b"\x1f\x8b nonsense", "readable file"),
        ("a.parquet", b"no", "Parquet"),
        ("../../etc/passwd", b"a,b\n", "only column names"),
    ],
)
def test_bad_tables_get_one_sentence(ask, name, data, words):
    status, answer = ask("tables", data, X_Name=name)
    assert status == 400 and words in answer["sentence"] and "/" not in answer["sentence"]


def test_a_table_becomes_the_parts_of_a_workspace(ask):
    _, table = ask("tables", CSV.encode(), X_Name="sales.csv")
    assert table["columns"] == ["day", "sold"] and table["numeric"] == ["sold"]
    status, rows = ask("rows", {"id": table["id"], "target": "sold"})
    assert status == 200, rows
    (day,) = rows["columns"]
    assert (day["kind"], day["low"], day["high"], day["first"][:10]) == ("date", 0, 9, "2020-01-01")
    assert rows["rows"] == {"x": [[float(i)] for i in range(10)], "y": SOLD}
    wanted = {"centre": np.mean(SOLD), "spread": np.std(SOLD)}
    assert rows["target"] == {"name": "sold", **wanted}
    assert rows["source"]["sample"] == "All 10 rows are used."
    factor = {"family": "rbf", "columns": ["day"], "values": {"lengthscale": 2.0}}
    view = {"column": "day", "low": 0.0, "high": 5.0}
    content = workspace(**rows, terms=[{"std": 1.0, "factors": [factor]}], view=view)
    status, shown = ask("look", {"workspace": content})
    assert status == 200 and len(shown["exact"]["mean"]) == 300


def test_a_target_that_is_no_number_and_a_table_that_is_not_open_get_a_sentence(ask):
    _, table = ask("tables", b"a,b\n" + b"x,1\ny,2\n" * 6, X_Name="t.csv")
    status, answer = ask("rows", {"id": table["id"], "target": "a"})
    assert status == 400 and "`a`" in answer["sentence"]
    status, answer = ask("rows", {"id": "0" * 16, "target": "a"})
    assert status == 400 and "Open the file again" in answer["sentence"]


def test_two_tables_of_one_name_do_not_disturb_each_other(ask):
    _, one = ask("tables", CSV.encode(), X_Name="t.csv")
    _, other = ask("tables", CSV.replace("4.5", "9.5").encode(), X_Name="t.csv")
    assert one["id"] != other["id"]
    seconds = [
        ask("rows", {"id": t["id"], "target": "sold"})[1]["rows"]["y"][1] for t in (one, other)
    ]
    assert seconds == [4.5, 9.5]


def test_a_large_table_is_looked_at_by_a_sample_and_says_so(ask):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(100_000, 4)), columns=list("abcy"))
    data = frame.to_csv(index=False, float_format="%.5f").encode()
    began = time.monotonic()
    _, table = ask("tables", data, X_Name="large.csv")
    status, rows = ask("rows", {"id": table["id"], "target": "y"})
    print(f"opened in {time.monotonic() - began:.2f} s")
    assert status == 200 and len(rows["rows"]["y"]) == MAX_ROWS
    assert (
        "random sample of 400 of 100\N{NARROW NO-BREAK SPACE}000 rows" in rows["source"]["sample"]
    )
    assert rows["target"]["centre"] == pytest.approx(frame["y"].mean(), abs=1e-4)


def test_a_field_comes_from_a_table_with_two_positions_and_two_components(ask):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(20, 4)), columns=["east", "north", "u", "v"])
    _, table = ask("tables", frame.to_csv(index=False).encode(), X_Name="flow.csv")
    status, rows = ask("rows", {"id": table["id"], "target": "u", "second": "v"})
    assert status == 200 and [c["name"] for c in rows["columns"]] == ["east", "north"]
    view = {"column": "east", "low": 0.0, "high": 1.0}
    term = {"std": 1.0, "factors": [{"family": "constant", "columns": [], "values": {}}]}
    content = workspace(**rows, kind="field", terms=[term], view=view)
    status, shown = ask("look", {"workspace": content})
    assert status == 200 and len(shown["mean"]) == 225
    frame["other"] = 1.5 * np.arange(20)
    _, table = ask("tables", frame.to_csv(index=False).encode(), X_Name="flow.csv")
    status, answer = ask("rows", {"id": table["id"], "target": "u", "second": "v"})
    assert status == 400 and "two columns of positions" in answer["sentence"]


def test_too_few_points_and_unknown_fits_get_a_sentence(ask):
    status, answer = ask("fits", {"workspace": with_points(3)})
    assert status == 400 and "10 rows" in answer["sentence"]
    status, answer = ask("fits/7")
    assert status == 400 and "begun" in answer["sentence"]


@pytest.mark.slow
def test_a_fit_runs_in_full_and_leaves_model_and_report(ask, address, tmp_path):
    from gfsvi.auto import Fitted

    status, begun = ask("fits", {"workspace": with_points(40)})
    assert status == 200
    status, answer = ask("fits", {"workspace": with_points(40)})
    assert status == 400 and "one fit at a time" in answer["sentence"]
    told = _finished(ask, begun["number"])
    assert told["state"] == "done", told
    _, report = ask(f"fits/{begun['number']}/report")
    assert report.startswith("<!doctype html>") and "points.csv" in report
    with urlopen(f"{address}fits/{begun['number']}/model") as answer:
        (tmp_path / "model.gfsvi").write_bytes(answer.read())
    assert Fitted.load(tmp_path / "model.gfsvi").predict(np.array([[5.0]])).mean.shape == (1,)


@pytest.mark.slow
def test_a_fit_that_is_stopped_ends_with_a_model(ask):
    _, begun = ask("fits", {"workspace": with_points(40)})
    assert ask(f"fits/{begun['number']}/stop", b"")[0] == 200
    assert _finished(ask, begun["number"])["state"] == "done"


def _finished(ask, number: int) -> dict:
    for _ in range(1200):
        _, told = ask(f"fits/{number}")
        if told["state"] != "running":
            return told
        time.sleep(0.25)
    raise AssertionError(told)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def paths(content: object, before: tuple = ()) -> list[tuple]:
    """The places of all values in a JSON object."""
    items = content.items() if isinstance(content, dict) else enumerate(content)
    found = []
    for key, inner in items:
        found.append((*before, key))
        if isinstance(inner, dict | list):
            found += paths(inner, (*before, key))
    return found


@hypothesis.given(st.data())
@hypothesis.settings(max_examples=60)
def test_a_workspace_with_anything_in_it_is_shown_or_refused_with_a_sentence(data):
    content = with_points(12, terms=copy.deepcopy(SEASONAL))
    for _ in range(data.draw(st.integers(1, 3))):
        *parents, last = data.draw(st.sampled_from(paths(content)))
        inner = content
        for key in parents:
            inner = inner[key]
        inner[last] = data.draw(JSON)
        if not isinstance(content, dict):
            break
    try:
        look(Workspace.read(content), at_rest=False)
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
