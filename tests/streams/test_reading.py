"""Tables are read piece by piece, and every row is in one lane."""

import numpy as np
import pandas as pd
import pytest

from gfsvi.numerics.groups import LANES, Alone
from gfsvi.numerics.parallel import read_ahead
from gfsvi.streams.sampling import HeldOut, Place, end_of, random_numbers
from gfsvi.streams.scan import scan
from gfsvi.tables import sources
from gfsvi.tables.reading import TableError
from gfsvi.tables.sources import TableFiles

from .flights import flights
from .processes import in_processes


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(sources, "PIECE", 100)


@pytest.fixture(params=["table.parquet", "table.csv", "table.csv.gz", "folder", "*.parquet"])
def written(request, tmp_path):
    frame = flights(1950)
    if request.param == "table.parquet":
        frame.to_parquet(tmp_path / request.param, index=False, row_group_size=450)
    elif request.param.startswith("table"):
        frame.to_csv(tmp_path / request.param, index=False)
    else:
        for number in range(40):  # each a lane of its own
            part = frame[number * 50 : (number + 1) * 50]
            if len(part):
                part.to_parquet(tmp_path / f"part-{number:02d}.parquet", index=False)
    return frame, str(tmp_path if request.param == "folder" else tmp_path / request.param)


def test_pieces_are_the_table(written):
    frame, path = written
    found = TableFiles.at(path).frame()
    pd.testing.assert_frame_equal(found, frame, check_dtype=False, check_index_type=False)
    assert TableFiles.at(path).column_names == list(frame.columns)


def test_lanes_are_the_pieces_of_all_of_them(written):
    frame, path = written
    source = TableFiles.at(path)
    whole = [(p.part, p.first, p.lane, len(p.rows)) for p in source.pieces()]
    shares = [
        (p.part, p.first, p.lane, len(p.rows))
        for lane in range(LANES)
        for p in source.pieces(lanes=range(lane, lane + 1))
    ]
    assert sorted(shares) == sorted(whole)
    assert sum(count for *_, count in whole) == len(frame)


def test_a_column_that_ceases_to_be_numbers_is_read_as_text(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PIECE", 10_000)
    frame = pd.DataFrame({"x": ["1"] * 150_000 + ["high"], "y": 1e6 + np.arange(150_001.0)})
    frame.to_csv(tmp_path / "table.csv", index=False)  # longer than what types are told from
    source = TableFiles.at(tmp_path / "table.csv")
    with pytest.raises(sources.ChangedKind):
        source.frame()
    scanned = scan(source, Alone(), seed=0)
    assert int(scanned.num_rows.sum()) == 150_001
    assert scanned.counts["x"] == {"1": 150_000, "high": 1}


@pytest.mark.parametrize("name", ["none.parquet", "folder", "*.csv"])
def test_a_path_without_tables_is_refused(tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(TableError, match="expected CSV or Parquet files"):
        TableFiles.at(tmp_path / name)


def test_a_broken_file_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(TableError, match="broken.parquet"):
        next(TableFiles.at(tmp_path / "broken.parquet").pieces())


@pytest.mark.parametrize("size", [2, 8])
def test_processes_find_the_sample_that_one_process_finds(written, size, monkeypatch):
    from gfsvi.streams import scan as module

    monkeypatch.setattr(module, "FEWEST_SAMPLED", 300)
    monkeypatch.setattr(module, "SAMPLE_CELLS", 300)
    frame, path = written
    source = TableFiles.at(path)
    expected = scan(source, Alone(), seed=4)
    assert len(expected.sample) == 300
    assert int(expected.num_rows.sum()) == len(frame)
    assert expected.counts["origin"] == frame["origin"].value_counts().to_dict()
    for found in in_processes(size, lambda group: scan(source, group, seed=4)):
        pd.testing.assert_frame_equal(found.sample, expected.sample)
        np.testing.assert_array_equal(found.num_rows, expected.num_rows)
        assert found.counts == expected.counts


def test_a_sample_has_every_row_as_often_as_any_other():
    place = Place.of_piece(3, 0, 100_000)
    numbers = random_numbers(7, place)
    assert len(np.unique(numbers)) == len(numbers)
    counts = np.histogram(numbers, 20, (0, 1))[0]
    assert np.abs(counts - 5000).max() < 5 * np.sqrt(5000)
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.02


def test_the_end_of_a_table_has_as_many_rows_as_asked():
    num_rows = np.array([10, 5, 7])
    for count in (1, 7, 8, 12, 22):
        held = HeldOut(0, 0.0, end_of(num_rows, count))
        flags = [held.of(Place.of_piece(part, 0, n)) for part, n in enumerate(num_rows)]
        joined = np.concatenate(flags)
        assert joined.sum() == count
        assert joined[-count:].all()


def test_reading_ahead_keeps_order_and_errors():
    def items():
        yield from range(5)
        raise KeyError("the end")

    found = []
    with pytest.raises(KeyError, match="the end"):
        found.extend(read_ahead(items()))
    assert found == list(range(5))
    assert list(read_ahead(range(10))) == list(range(10))
