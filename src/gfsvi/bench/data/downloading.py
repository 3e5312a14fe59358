"""Files from their source: with progress, taken up where they were cut, whole or not at all."""

import hashlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from gfsvi.bench.data.dataset import DatasetError

Tell = Callable[[int, int | None], None]
NUM_TRIES = 4
TIMEOUT = 30.0
CHUNK = 1 << 16
_CUT = (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError)


def silent(received: int, total: int | None) -> None:
    """Tell nobody."""


def download(
    url: str,
    folder: Path,
    *,
    sha256: str | None = None,
    tell: Tell = silent,
    timeout: float = TIMEOUT,
    pause: float = 1.0,
) -> bytes:
    """The content of a file; what was received before a cut is kept in `folder` for the next try.

    Args:
        url: Where it is: https, or http on this machine.
        folder: Where to keep what has come so far.
        sha256: What the content must hash to.
        tell: Called with the bytes received and, where known, the bytes in all.
        timeout: Seconds without a byte after which a connection counts as cut.
        pause: Seconds before the first new try; doubled each time.
    """
    _check_url(url)
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.part"
    content = _whole(url, part, tell, timeout, pause)
    part.unlink(missing_ok=True)
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        raise DatasetError(
            f"expected a file with the SHA-256 checksum {sha256[:12]}... at {url}; "
            f"got {found[:12]}.... It has changed at its source, or on the way: nothing was kept."
        )
    return content


def _whole(url: str, part: Path, tell: Tell, timeout: float, pause: float) -> bytes:
    reason = ""
    for number in range(NUM_TRIES):
        if number:
            time.sleep(pause * 2 ** (number - 1))
        try:
            if _receive(url, part, tell, timeout):
                return part.read_bytes()
            reason = "the connection was cut"
        except urllib.error.HTTPError as error:
            if error.code == 416:  # nothing is left to send, or the file is another one now
                part.unlink(missing_ok=True)
            elif error.code < 500:  # asking again would not help
                raise DatasetError(f"expected a file at {url}; got {error}.") from error
            reason = str(error)
        except _CUT as error:
            reason = str(getattr(error, "reason", "")) or str(error) or type(error).__name__
    raise DatasetError(f"expected a file at {url}; got none after {NUM_TRIES} tries ({reason}).")


def _receive(url: str, part: Path, tell: Tell, timeout: float) -> bool:
    """Add what is missing to the part that is there; whether it is whole now."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "gfsvi"} | ({"Range": f"bytes={have}-"} if have else {})
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=timeout) as response:
        if response.status != http.client.PARTIAL_CONTENT:
            have = 0  # the server starts from the beginning
        length = response.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        with part.open("ab" if have else "wb") as file:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                have += len(chunk)
                tell(have, total)
    return total is None or have == total


def _check_url(url: str) -> None:
    parts = urllib.parse.urlsplit(url)
    here = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and here):
        raise DatasetError(f"expected an https address; got {url}.")
