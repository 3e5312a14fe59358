"""Files that `write` did not make, and that `read` must refuse."""

import json
from pathlib import Path

import pytest
import safetensors.numpy

from gfsvi.storage import container
from gfsvi.storage.model_file import ModelFileError, read


def refused(path: Path, data: bytes, match: str) -> None:
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=match) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(path))


def text_of(data: bytes) -> str:
    """The JSON text of a file."""
    outer = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return outer["__metadata__"]["gfsvi"]


def changed(data: bytes, **changes) -> bytes:
    """The same file with other header fields, its checksum made to fit."""
    tensors = safetensors.numpy.load(data)
    header = {**json.loads(text_of(data)), **changes}
    del header["checksum"]
    header["checksum"] = container.digest(header, [tensors[n] for n in sorted(tensors)])
    return safetensors.numpy.save(tensors, metadata={"gfsvi": json.dumps(header)})
