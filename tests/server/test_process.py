"""`gfsvi serve` as a process, asked over a real connection."""

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from gfsvi import GFSVIRegressor


@pytest.fixture
def port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def answered(port, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    with contextlib.closing(connection):
        connection.request("GET" if body is None else "POST", path, body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def wait_for(port, process):
    for _ in range(3000):
        assert process.poll() is None, process.communicate()
        try:
            return answered(port, "/health")
        except OSError:
            time.sleep(0.1)
    raise AssertionError("no answer within five minutes")


def test_it_answers_until_it_is_interrupted(regressor_file, port):
    command = [sys.executable, "-m", "gfsvi.cli", "serve", str(regressor_file), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert wait_for(port, process)[1]["status"] == "ok"
        row = {"size": 100, "town": "Bonn", "age": 30}
        status, content = answered(port, "/predict", json.dumps({"rows": [row]}))
        assert status == 200 and 300 < content["predictions"][0]["mean"] < 360
        assert answered(port, "/predict", "what")[0] == 400
        assert answered(port, "/model", Host="evil.example")[0] == 421
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert f"serving houses.gfsvi at http://127.0.0.1:{port}" in output
    assert "Traceback" not in errors
    assert process.returncode in (0, 130)


def test_a_model_of_arrays_is_refused(tmp_path, port):
    x = np.linspace(0, 1, 20)[:, None]
    GFSVIRegressor(kernel="rbf", hidden=(8,), random_state=0).fit(x, x[:, 0]).save(tmp_path / "m")
    command = [sys.executable, "-m", "gfsvi.cli", "serve", str(tmp_path / "m"), "--port", str(port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2
    assert "expected a model that knows the columns of a table" in done.stderr
