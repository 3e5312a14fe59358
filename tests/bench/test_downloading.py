"""Downloads are complete or absent, tested against a misbehaving server on this machine."""

import hashlib
import http.server
import threading
import time
from typing import Any

import numpy as np
import pytest

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, DatasetError, Download, Layout, fingerprint
from gfsvi.bench.data.downloading import download
from gfsvi.bench.data.loading import data_cache, load_dataset

CONTENT = b"".join(b"%d %d %d\n" % (i, i * i % 97, i % 7) for i in range(20_000))
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT at /whole and misbehaves at other paths, as their names say."""

    requests: list[tuple[str, str | None]]
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        wanted = self.headers.get("Range")
        type(self).requests.append((self.path, wanted))
        behave = getattr(self, f"_{self.path.strip('/')}", None)
        if behave is None:
            self.send_error(404)
        else:
            behave(int(wanted[6:-1]) if wanted else 0)

    def _send(self, first, content=CONTENT, until=None, ranges=True):
        start = first if ranges else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:until])

    def _whole(self, first):
        self._send(first)

    def _cut(self, first):  # once, in the middle
        self._send(first, until=None if first else 100_000)

    def _cut_without_ranges(self, first):
        times = [path for path, _ in type(self).requests]
        self._send(first, until=100_000 if len(times) == 1 else None, ranges=False)

    def _always_cut(self, first):
        self._send(first, until=first + 10)

    def _slow(self, first):
        time.sleep(2)

    def _busy(self, first):
        self.send_error(503)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def server():
    kind: Any = type("Server", (Server,), {"requests": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        kind.url = f"http://127.0.0.1:{running.server_port}"
        yield kind
        running.shutdown()


def test_a_file_is_downloaded_completely_with_progress(server, tmp_path):
    told = []
    got = download(
        f"{server.url}/whole", tmp_path, sha256=SHA256, on_progress=lambda *n: told.append(n)
    )
    assert got == CONTENT and told[-1] == (len(CONTENT), len(CONTENT))
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_download_resumes_where_it_stopped(server, tmp_path):
    assert download(f"{server.url}/cut", tmp_path, pause=0.01) == CONTENT
    assert server.requests == [("/cut", None), ("/cut", "bytes=100000-")]


def test_a_server_without_ranges_starts_over(server, tmp_path):
    assert download(f"{server.url}/cut_without_ranges", tmp_path, pause=0.01) == CONTENT
    assert len(server.requests) == 2


def test_the_part_before_an_interruption_is_kept_for_the_next_process(server, tmp_path):
    with pytest.raises(DatasetError, match="got none after 4 attempts .the connection was int"):
        download(f"{server.url}/always_cut", tmp_path, pause=0.01)
    (part,) = tmp_path.iterdir()
    assert part.read_bytes() == CONTENT[:40]


@pytest.mark.parametrize(
    ("path", "timeout", "about"),
    [
        ("nowhere", 60, "got HTTP Error 404"),
        ("slow", 0.2, "timed out"),
        ("busy", 60, "HTTP Error 503"),
    ],
)
def test_an_unavailable_file_raises(server, tmp_path, path, timeout, about):
    with pytest.raises(DatasetError, match=about):
        download(f"{server.url}/{path}", tmp_path, timeout=timeout, pause=0.01)


def test_unexpected_content_raises_and_is_not_kept(server, tmp_path):
    with pytest.raises(DatasetError, match="expected a file with the SHA-256 checksum 000"):
        download(f"{server.url}/whole", tmp_path, sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://example.org/x", "ftp://a/b"])
def test_unsafe_addresses_raise(tmp_path, url):
    with pytest.raises(DatasetError, match="expected an https address"):
        download(url, tmp_path)


@pytest.fixture
def dataset(server, monkeypatch, tmp_path):
    monkeypatch.setenv("GFSVI_CACHE", str(tmp_path))
    monkeypatch.delenv("GFSVI_DATA", raising=False)
    values = np.loadtxt(CONTENT.decode().splitlines())

    class Small(AbstractDataset):
        title = "Small"
        source = "this test"
        shape = (20_000, 2)
        fingerprint = fingerprint({"X": values[:, :2].copy(), "y": values[:, 2].copy()})
        layouts = (Layout({"": "regression/small.npz"}),)
        downloads = (Download((f"{server.url}/whole",), parsing.table(slice(2), 2)),)

    return Small


def test_a_download_is_cached(dataset, server):
    first = load_dataset(dataset())
    second = load_dataset(dataset())
    assert len(server.requests) == 1
    np.testing.assert_array_equal(first.arrays["X"], second.arrays["X"])
    assert [path.name for path in (data_cache() / "regression").iterdir()] == ["small.npz"]


def test_a_download_of_another_version_raises_and_is_not_cached(dataset):
    dataset.fingerprint = "0" * 64
    with pytest.raises(DatasetError, match="expected the data set Small; .*To get it: put it at"):
        load_dataset(dataset())
    assert not (data_cache() / "regression").exists()


def test_a_download_that_cannot_be_parsed_raises(dataset, server):
    dataset.downloads = (
        Download((f"{server.url}/whole",), parsing.zipped(".txt", parsing.images)),
    )
    with pytest.raises(DatasetError, match="got something else"):
        load_dataset(dataset())
