"""Requests a second of `gfsvi serve`, and how long they take.

python -m benchmarks.serve --output results/serve.json [--rate 200 --seconds 20]

A model of scikit-learn's diabetes table is served by a process of its own. Clients on this machine
send requests of one row at a steady rate over connections that stay open, whether or not earlier
ones have been answered, and then as fast as they are answered.
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes

from gfsvi import GFSVIRegressor

NUM_CONNECTIONS = 20


class Connection:
    """One open connection, with one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> "Connection":
        """Connect to a server on this machine."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def post(self, body: bytes) -> int:
        """The status of the answer."""
        about = "host: localhost\r\ncontent-type: application/json"
        head = f"POST /predict HTTP/1.1\r\n{about}\r\ncontent-length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        status = int((await self._reader.readline()).split()[1])
        size = 0
        while (line := await self._reader.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        await self._reader.readexactly(size)
        return status


async def at_rate(port: int, bodies: list[bytes], rate: float, seconds: float) -> dict[str, Any]:
    """Latencies of requests that are sent at a steady rate."""
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(NUM_CONNECTIONS):
        free.put_nowait(await Connection.open(port))
    took, statuses = [], []

    async def request(due: float, body: bytes) -> None:
        connection = await free.get()
        statuses.append(await connection.post(body))
        took.append(time.perf_counter() - due)  # waiting for a connection counts
        free.put_nowait(connection)

    begun, tasks = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        due = begun + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(request(due, bodies[number % len(bodies)])))
    await asyncio.gather(*tasks)
    return _summary(took, statuses, time.perf_counter() - begun)


async def as_fast_as_possible(port: int, bodies: list[bytes], seconds: float) -> dict[str, Any]:
    """Latencies of connections that send the next request once the last is answered."""
    took, statuses, begun = [], [], time.perf_counter()

    async def client(offset: int) -> None:
        connection = await Connection.open(port)
        number = offset
        while time.perf_counter() - begun < seconds:
            start = time.perf_counter()
            statuses.append(await connection.post(bodies[number % len(bodies)]))
            took.append(time.perf_counter() - start)
            number += 1

    await asyncio.gather(*map(client, range(NUM_CONNECTIONS)))
    return _summary(took, statuses, time.perf_counter() - begun)


def _summary(took: list[float], statuses: list[int], seconds: float) -> dict[str, Any]:
    found = {f"p{q}_ms": 1e3 * float(np.quantile(took, q / 100)) for q in (50, 95, 99)}
    return {"requests": len(took), "per_second": len(took) / seconds, **found} | {
        "failed": sum(status != 200 for status in statuses)
    }


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _processor_seconds(process: int) -> float:
    """Seconds of the processor that a process has used, on Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not answer within a minute")


def main() -> None:
    """Fit, serve, measure and write one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=Path, help="JSON file to write")
    parser.add_argument("--rate", type=float, default=200, help="requests per second")
    parser.add_argument("--seconds", type=float, default=20, help="per measurement")
    arguments = parser.parse_args()
    table: Any = load_diabetes(as_frame=True, scaled=False)
    frame = table["frame"]
    rows = frame.drop(columns="target").to_dict("records")
    bodies = [json.dumps({"rows": [row]}).encode() for row in rows]
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "diabetes.gfsvi")
        GFSVIRegressor(random_state=0).fit_table(frame, "target").save(path)
        command = [sys.executable, "-m", "gfsvi.cli", "serve", str(path), "--port", str(port)]
        server = subprocess.Popen(command)
        try:
            _wait_for(port)
            asyncio.run(as_fast_as_possible(port, bodies, 2.0))  # so that everything is loaded
            before = _processor_seconds(server.pid)
            steady = asyncio.run(at_rate(port, bodies, arguments.rate, arguments.seconds))
            used = _processor_seconds(server.pid) - before
            most = asyncio.run(as_fast_as_possible(port, bodies, arguments.seconds))
        finally:
            server.terminate()
            server.wait(10)
    result = {
        "requests": {"at a steady rate": steady, "as fast as answered": most},
        "processor_ms_per_request": 1e3 * used / steady["requests"],
        "load": os.getloadavg()[0],
        "processors": os.cpu_count(),
    }
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
