"""Whatever the records of an experiment: reports, or one sentence."""

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.edits import ATOMS, damaged, edit_tree
from fuzz.engine import ACCEPTED, REFUSED, Kind, check_sentence, command

HOMES = ("regression_tuned", "wasserstein", "figure_rank", "figure_eigenvalues")
NAMES = ("run", "metrics", "series", "", "__class__", "<script>alert(1)</script>")

places = st.integers(0, 2**32)
of_records = st.one_of(
    st.tuples(st.just("replace"), places, st.sampled_from(ATOMS)),
    st.tuples(st.just("remove"), places, st.none()),
    st.tuples(st.just("copy"), places, places),
    st.tuples(st.just("rename"), places, st.sampled_from(NAMES)),
    st.tuples(st.just("nest"), places, st.sampled_from([1, 3, 5000])),
)
of_text = st.one_of(
    st.tuples(st.just("cut"), places, st.none()),
    st.tuples(st.just("flip"), places, st.integers(1, 255)),
    st.tuples(
        st.just("insert"), places, st.sampled_from([b"\n", b"NaN", b"{}\n", b"[1]\n", b"\0"])
    ),
)
cases = st.tuples(
    places,
    st.lists(of_records, min_size=1, max_size=4).map(lambda e: ("content", e))
    | st.lists(of_text, min_size=1, max_size=3).map(lambda e: ("text", e)),
)


@functools.cache
def folder_of(number: int) -> tuple[bytes, bytes]:
    """An experiment of the repository, and a few of its records."""
    home = Path("results") / HOMES[number % len(HOMES)]
    lines = (home / "records.jsonl").read_bytes().splitlines(keepends=True)
    return (home / "experiment.toml").read_bytes(), b"".join(lines[:8])


def changed(data: bytes, kind: str, edits: list[tuple[str, int, Any]]) -> bytes:
    """The records after these changes."""
    if kind == "content":
        records: Any = {str(n): json.loads(line) for n, line in enumerate(data.splitlines())}
        for name, place, value in edits:
            edit_tree(records, name, place, value)
        try:
            return b"".join(json.dumps(record).encode() + b"\n" for record in records.values())
        except (ValueError, RecursionError):
            return data
    for name, place, value in edits:
        data = damaged(data, name, place, value)
    return data


def check(case: tuple[int, tuple[str, list[Any]]]) -> str:
    """Report on the changed records."""
    number, edit = case
    experiment, records = folder_of(number % len(HOMES))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "experiment.toml").write_bytes(experiment)
        (folder / "records.jsonl").write_bytes(changed(records, *edit))
        status, _, error = command("bench", "report", folder)
        left = sorted(path.name for path in folder.iterdir())
        if status == 2:
            check_sentence(error)
            if left != ["experiment.toml", "records.jsonl"]:
                raise AssertionError(f"left {left}")
            return REFUSED
        page = (folder / "report.html").read_text()
        if status != 0 or "<script>alert" in page:
            raise AssertionError(f"ended with {status}: {error}")
        return ACCEPTED


KIND = Kind("records", cases, check)
