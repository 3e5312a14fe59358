"""Whatever the experiment file: runs that could be executed, or one sentence."""

import functools
import tempfile
import tomllib
from pathlib import Path
from typing import Any
from unittest import mock

import tomlkit
from hypothesis import strategies as st

from fuzz.edits import damaged, edit_tree
from fuzz.engine import ACCEPTED, REFUSED, Kind, check_sentence, command

ATOMS: list[Any] = [
    True,
    0,
    1,
    -1,
    5,
    10**9,
    2**63,
    0.5,
    float("nan"),
    float("inf"),
    "",
    "a",
    "rbf",
]
ATOMS += [
    "gfsvi",
    "../../x",
    "a b",
    "x" * 5000,
    [],
    {},
    [1, 2],
    ["rbf"],
    {"name": "rbf"},
    [[]],
    [{}],
]
ATOMS += ["function.params", "__class__.__init__", tomlkit.parse("a = 2020-01-01")["a"].unwrap()]
NAMES = (
    "method",
    "settings",
    "search",
    "chosen",
    "report",
    "folds",
    "seeds",
    "x.y",
    "",
    "__class__",
)
LINES = [b"\n[\n", b"\na = \n", b'\ntitle = """\n', b"\n[methods.gfsvi]\n"]

places = st.integers(0, 2**32)
of_content = st.one_of(
    st.tuples(st.just("replace"), places, st.sampled_from(ATOMS)),
    st.tuples(st.just("remove"), places, st.none()),
    st.tuples(st.just("copy"), places, places),
    st.tuples(st.just("rename"), places, st.sampled_from(NAMES)),
    st.tuples(st.just("nest"), places, st.sampled_from([1, 3, 50])),
    st.tuples(st.just("insert"), st.sampled_from(NAMES), st.sampled_from(ATOMS)),
)
of_text = st.one_of(
    st.tuples(st.just("cut"), places, st.none()),
    st.tuples(st.just("flip"), places, st.integers(1, 127)),
    st.tuples(st.just("insert"), places, st.sampled_from(LINES)),
)
cases = st.tuples(
    places,
    st.lists(of_content, min_size=1, max_size=4).map(lambda e: ("content", e))
    | st.lists(of_text, min_size=1, max_size=3).map(lambda e: ("text", e)),
)


@functools.cache
def texts() -> tuple[bytes, ...]:
    """The experiments of the repository."""
    return tuple(path.read_bytes() for path in sorted(Path("experiments").glob("*.toml")))


def changed(data: bytes, kind: str, edits: list[tuple[str, Any, Any]]) -> bytes:
    """The file after these changes."""
    if kind == "content":
        content = tomllib.loads(data.decode())
        for name, place, value in edits:
            if name == "insert":
                content[place] = value
            else:
                edit_tree(content, name, place, value)
        try:
            return tomlkit.dumps(content).encode()
        except Exception:  # what TOML cannot say
            return b"a = "
    for name, place, value in edits:
        data = damaged(data, name, place, value)
    return data


def check(case: tuple[int, tuple[str, list[Any]]]) -> str:
    """Run and tune the changed experiment, without executing anything."""
    number, edit = case
    with tempfile.TemporaryDirectory() as name:
        path, folder = Path(name) / "e.toml", Path(name) / "results"
        path.write_bytes(changed(texts()[number % len(texts())], *edit))
        with (
            mock.patch("gfsvi.cli.bench.run_all"),
            mock.patch("gfsvi.bench.search.tuning.tune", return_value=path),
        ):
            told = [command("bench", verb, path, "--output", folder) for verb in ("run", "tune")]
        for status, _, error in told:
            if status not in (0, 1, 2):
                raise AssertionError(f"ended with {status}: {error}")
            if status == 2:
                check_sentence(error)
        if told[0][0] == 2 and folder.exists():
            raise AssertionError(f"left {list(folder.iterdir())}")
        return REFUSED if 2 in [status for status, _, _ in told] else ACCEPTED


KIND = Kind("experiments", cases, check)
