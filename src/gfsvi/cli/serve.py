"""`gfsvi serve`."""

import argparse
import contextlib
from pathlib import Path


def run(arguments: argparse.Namespace) -> int:
    """Predict rows over HTTP until interrupted."""
    import uvicorn

    from gfsvi.server import Limits, application
    from gfsvi.server.hosts import LOOPBACK, OnlyHosts
    from gfsvi.server.served import Served

    served = Served.read(arguments.model, Path(arguments.model).name)
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    limits = Limits(bytes=arguments.max_bytes, rows=arguments.max_rows)
    server = application(served, limits)
    if arguments.allow_host or arguments.host in LOOPBACK:
        server = OnlyHosts(server, [*LOOPBACK, *arguments.allow_host])
    print(f"serving {served.name} at http://{host}:{arguments.port}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):  # the way to end it
        uvicorn.run(
            server,
            host=arguments.host,
            port=arguments.port,
            log_level="warning",
            access_log=False,
            server_header=False,
        )
    return 0
