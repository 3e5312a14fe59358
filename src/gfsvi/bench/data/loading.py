"""Loads data sets from the folder in GFSVI_DATA, the cache, a package or the original source."""

import functools
import importlib.util
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gfsvi import registry
from gfsvi.bench.data.dataset import AbstractDataset, Arrays, DatasetError, Download, Layout, Loaded
from gfsvi.bench.data.downloading import OnProgress, download, silent
from gfsvi.bench.data.own_tables import OwnTable
from gfsvi.bench.data.table_file import AbstractTableFile
from gfsvi.numerics.process import cache_home
from gfsvi.storage.files import atomic_path

VARIABLE = "GFSVI_DATA"


@functools.lru_cache(maxsize=8)
def load(name: str) -> Loaded:
    """Load a data set by name from the first place that has it, or a table of one's own."""
    own = OwnTable.named(name)
    if own is not None:
        return own.load()
    dataset = registry.find("datasets", name)()
    if isinstance(dataset, AbstractTableFile):
        return OwnTable(str(path_of(dataset)), dataset.target).load(dataset.left_out)
    return load_dataset(dataset)


def path_of(dataset: AbstractTableFile) -> Path:
    """The file of a table, which is checked."""
    for folder in _folders():
        path = folder / dataset.file
        if path.is_file():
            dataset.check_file(path)
            return path
    raise DatasetError(_how_to_get(dataset, []))


def load_dataset(dataset: AbstractDataset, *, on_progress: OnProgress = silent) -> Loaded:
    """Generate a data set or load it from the first place that has it; downloads are cached."""
    recipe = dataset.recipe  # pyright: ignore[reportAttributeAccessIssue]  # a static method
    if recipe is not None:
        return Loaded(recipe())
    found = _in_folders(dataset) or _in_packages(dataset)
    if found is not None:
        return found
    problems = []
    for source in dataset.downloads:
        try:
            return _downloaded(dataset, source, on_progress)
        except DatasetError as error:
            problems.append(str(error))
    raise DatasetError(_how_to_get(dataset, problems))


def _in_folders(dataset: AbstractDataset) -> Loaded | None:
    for layout in dataset.layouts:
        for folder in _folders():
            arrays = _read(folder, layout)
            if arrays is not None:
                if layout.partial is None:
                    dataset.check(arrays, folder)
                return Loaded(arrays, layout.partial)
    return None


def _folders() -> Iterator[Path]:
    named = os.environ.get(VARIABLE)
    if named:
        yield Path(named)
    yield data_cache()


def data_cache() -> Path:
    """Folder in which downloads are kept."""
    return cache_home() / "data"


def _read(folder: Path, layout: Layout) -> Arrays | None:
    if not all((folder / path).is_file() for path in layout.paths.values()):
        return None
    arrays: Arrays = {}
    for prefix, path in layout.paths.items():
        try:
            with np.load(folder / path, allow_pickle=False) as content:
                named = {f"{prefix}{name}": content[name] for name in content.files}
                arrays |= {n: v for n, v in named.items() if v.dtype.kind in "fiu"}
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise DatasetError(
                f"expected arrays in {folder / path}; got the error '{error}'. Remove the file."
            ) from error
    return arrays


def _in_packages(dataset: AbstractDataset) -> Loaded | None:
    for package in dataset.packages:
        for home in _homes(package.home):
            paths = [home / path for path in package.paths]
            if all(path.is_file() for path in paths):
                arrays = package.parse([path.read_bytes() for path in paths])
                dataset.check(arrays, home)
                return Loaded(arrays)
    return None


def _homes(name: str) -> list[Path]:
    if name.startswith("/"):
        return [Path(name)]
    spec = importlib.util.find_spec(name)
    return [Path(home) for home in (spec.submodule_search_locations or [] if spec else [])]


def _downloaded(dataset: AbstractDataset, source: Download, on_progress: OnProgress) -> Loaded:
    contents = [
        download(url, data_cache() / "parts", sha256=sha256, on_progress=on_progress)
        for url, sha256 in zip(source.urls, source.sha256 or [None] * len(source.urls), strict=True)
    ]
    try:
        arrays = source.parse(contents)
    except (ValueError, LookupError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DatasetError(
            f"expected {dataset.title} at {source.urls[0]}; got something else ({error})."
        ) from error
    dataset.check(arrays, source.urls[0])
    _keep(dataset.layouts[0], arrays)
    return Loaded(arrays)


def _keep(layout: Layout, arrays: Arrays) -> None:
    for prefix, path in layout.paths.items():
        target = data_cache() / path
        target.parent.mkdir(parents=True, exist_ok=True)
        own = {n.removeprefix(prefix): v for n, v in arrays.items() if n.startswith(prefix)}
        with atomic_path(target) as draft:
            np.savez_compressed(draft, **own)


def _how_to_get(dataset: AbstractDataset, problems: list[str]) -> str:
    path = next(iter(dataset.layouts[0].paths.values()))
    ways = [f"put it at {path} in the folder that {VARIABLE} names"]
    ways += [f"`{package.command}`" for package in dataset.packages]
    if dataset.downloads:
        ways.append("connect to a network and try again")
    reason = f" ({problems[0].rstrip('.')})" if problems else ""
    return (
        f"expected the data set {dataset.title}; it was not found locally and could not be "
        f"downloaded{reason}. To get it: {', or '.join(ways)}. Source: {dataset.source}."
    )
