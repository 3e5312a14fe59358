"""Start the studio's server on loopback, and end it in order."""

import contextlib
import socket
import sys
import threading
from collections.abc import Iterator

import uvicorn

from gfsvi.numerics.threads import limit_threads
from gfsvi.studio.security import Guard, new_token
from gfsvi.studio.server import Studio

HOST = "127.0.0.1"


def listening(port: int) -> socket.socket:
    """A socket on loopback; port 0 for any that is free."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen()  # before the address is printed, so that nobody is refused
    except (OSError, OverflowError) as error:
        found.close()
        reason = getattr(error, "strerror", None) or "ports end at 65535"
        raise ValueError(
            f"--port expects a port that is free; got {port} ({reason}). Leave it out to take any."
        ) from error
    return found


def server_of(studio: Studio, sock: socket.socket) -> tuple[uvicorn.Server, str]:
    """The server on a socket, and the address that opens it."""
    port, token = sock.getsockname()[1], new_token()
    config = uvicorn.Config(
        Guard(studio.application(), token, port),
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config), f"http://{HOST}:{port}/{token}/"


def serve(studio: Studio, port: int = 0) -> None:
    """Serve until interrupted; the address is printed first."""
    with listening(port) as sock, limit_threads(0):
        server, address = server_of(studio, sock)
        print(f"studio: {address}", flush=True)
        print("Open this address in a browser; Ctrl-C ends the studio.", file=sys.stderr)
        try:
            server.run([sock])
        finally:
            studio.fits.close()


@contextlib.contextmanager
def in_background(studio: Studio, port: int = 0) -> Iterator[str]:
    """The address of a server that runs in a thread of this process."""
    with listening(port) as sock, limit_threads(0):
        server, address = server_of(studio, sock)
        thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            thread.join(0.01)
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(10)
            studio.fits.close()
