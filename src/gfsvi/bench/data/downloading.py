"""Downloads with progress that resume after interruptions and are complete or absent."""

import hashlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from gfsvi.bench.data.dataset import DatasetError

OnProgress = Callable[[int, int | None], None]
NUM_TRIES = 4
TIMEOUT = 30.0
CHUNK = 1 << 16
_INTERRUPTIONS = (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError)


def silent(received: int, total: int | None) -> None:
    """Report nothing."""


def download(
    url: str,
    folder: Path,
    *,
    sha256: str | None = None,
    on_progress: OnProgress = silent,
    timeout: float = TIMEOUT,
    pause: float = 1.0,
) -> bytes:
    """Download a file; what arrives before an interruption is kept for the next attempt.

    Args:
        url: An https address, or http on this machine.
        folder: Folder for partial downloads.
        sha256: Expected checksum of the content.
        on_progress: Called with the number of bytes received and, if known, the total.
        timeout: Seconds without data after which a connection counts as interrupted.
        pause: Seconds before the second attempt; doubled for each further one.
    """
    _check_url(url)
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.part"
    content = _whole(url, part, on_progress, timeout, pause)
    part.unlink(missing_ok=True)
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        raise DatasetError(
            f"expected a file with the SHA-256 checksum {sha256[:12]}... at {url}; "
            f"got {found[:12]}.... It changed at its source or in transit; nothing was kept."
        )
    return content


def _whole(url: str, part: Path, on_progress: OnProgress, timeout: float, pause: float) -> bytes:
    reason = ""
    for number in range(NUM_TRIES):
        if number:
            time.sleep(pause * 2 ** (number - 1))
        try:
            if _receive(url, part, on_progress, timeout):
                return part.read_bytes()
            reason = "the connection was interrupted"
        except urllib.error.HTTPError as error:
            if error.code == 416:  # the part is already complete, or the file has changed
                part.unlink(missing_ok=True)
            elif error.code < 500:  # retrying would not help
                raise DatasetError(f"expected a file at {url}; got {error}.") from error
            reason = str(error)
        except _INTERRUPTIONS as error:
            reason = str(getattr(error, "reason", "")) or str(error) or type(error).__name__
    raise DatasetError(f"expected a file at {url}; got none after {NUM_TRIES} attempts ({reason}).")


def _receive(url: str, part: Path, on_progress: OnProgress, timeout: float) -> bool:
    """Append what is missing to the partial file; return whether it is complete."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "gfsvi"} | ({"Range": f"bytes={have}-"} if have else {})
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=timeout) as response:
        if response.status != http.client.PARTIAL_CONTENT:
            have = 0  # the server ignores ranges and starts over
        length = response.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        with part.open("ab" if have else "wb") as file:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                have += len(chunk)
                on_progress(have, total)
    return total is None or have == total


def _check_url(url: str) -> None:
    parts = urllib.parse.urlsplit(url)
    here = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and here):
        raise DatasetError(f"expected an https address; got {url}.")
