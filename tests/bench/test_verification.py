"""Records say where they come from, and a repetition of their runs is held against them."""

import json
import shutil
import subprocess
from typing import Any

import pytest

from gfsvi.bench.data.loading import load
from gfsvi.bench.experiment import Experiment
from gfsvi.bench.running import provenance
from gfsvi.bench.running.execution import environment, execute
from gfsvi.bench.running.verification import sampled, verified
from gfsvi.bench.schema import is_complete, is_record
from gfsvi.cli import bench
from gfsvi.cli.main import main

EXPERIMENT = Experiment.parse(
    "small", {"task": "regression", "datasets": ["yacht"], "methods": {"map": {}, "mfvi": {}}}
)


def record_of(run, **changes) -> Any:
    return {
        **{"run": run.identity, "experiment": "small", "task": run.task, "dataset": run.dataset},
        **{"method": run.label, "fold": run.fold, "seed": run.seed, "settings": run.settings},
        **{"status": "ok", "seconds": 1.0, "version": "0.1.0", "environment": environment()},
        "metrics": {"mse": 0.25, "crps": 1e-9, "fit_seconds": 3.0},
        **changes,
    }


class Answers:
    """A worker that always finds the same."""

    def __init__(self, **found):
        self._found = found

    def __call__(self, run):
        return record_of(run, **self._found)

    def close(self):
        pass


def compared(recorded: dict, found: dict):
    run = EXPERIMENT.runs[0]
    (outcome,) = verified([run], [record_of(run, **recorded)], Answers(**found))
    return outcome


@pytest.mark.parametrize(
    ("mse", "is_equal"),
    [(0.25, True), (0.25 + 1e-7, True), (0.25 + 2e-6, False), (0.2499, False), (-0.25, False)],
)
def test_numbers_are_equal_to_one_in_a_million(mse, is_equal):
    outcome = compared({}, {"metrics": {"mse": mse, "crps": 1e-9, "fit_seconds": 9.0}})
    assert outcome.is_equal == is_equal
    assert (outcome.sentence == "equal to 1e-06") == is_equal


def test_a_number_that_is_gone_is_a_difference():
    outcome = compared({}, {"metrics": {"mse": 0.25}})
    assert not outcome.is_equal and "crps 1e-09 is nan now" in outcome.sentence


def test_the_largest_of_several_differences_comes_first():
    outcome = compared({}, {"metrics": {"mse": 0.26, "crps": 2.0}})
    assert outcome.sentence.startswith("differs: crps 1e-09 is 2 now and 1 more (")


def test_what_is_not_as_it_was_is_the_reason():
    other = environment() | {"commit": "abc", "cores": -1}
    outcome = compared({"environment": other}, {"metrics": {"mse": 1.0, "crps": 0.0}})
    assert len(outcome.reasons) == 2
    assert "commit abc then" in outcome.sentence and "number of cores -1 then" in outcome.sentence
    same = compared({}, {"metrics": {"mse": 1.0, "crps": 0.0}})
    assert same.sentence.endswith("(versions, commit and processor are the same)")


def test_records_of_before_commits_were_recorded_are_compared_as_well():
    old = {k: v for k, v in environment().items() if k not in ("commit", "lock", "processor")}
    assert is_record(record_of(EXPERIMENT.runs[0], environment=old))
    assert is_complete(record_of(EXPERIMENT.runs[0], environment=old))
    outcome = compared({"environment": old}, {"metrics": {"mse": 1.0, "crps": 0.0}})
    assert "before locked versions was recorded" in outcome.sentence


def test_a_run_that_fails_now_is_not_equal():
    outcome = compared({}, {"status": "failed", "metrics": {}, "error": "no memory"})
    assert not outcome.is_equal and outcome.sentence.startswith("fails now: no memory")


def test_a_sample_has_distinct_runs_that_succeeded_and_follows_the_seed():
    records = [record_of(run) for run in EXPERIMENT.runs]
    records[0]["status"] = "failed"
    chosen = sampled(EXPERIMENT.runs, records, 5, 0)
    assert len({run.identity for run in chosen}) == 5 and EXPERIMENT.runs[0] not in chosen
    assert chosen == sampled(EXPERIMENT.runs, records, 5, 0)
    assert chosen != sampled(EXPERIMENT.runs, records, 5, 1)
    assert len(sampled(EXPERIMENT.runs, records, 99, 0)) == len(records) - 1


class HereAndNow:
    """A worker in this process."""

    def __call__(self, run):
        return execute(run, load)

    def close(self):
        pass


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "LocalWorker", HereAndNow)
    text = 'task = "regression"\ndatasets = ["sine"]\nfolds = [1]\n[methods.exact_gp]\n'
    text += '[settings]\nkernel = "rbf"\n[report]\nmetrics = ["mse"]\n'
    path = tmp_path / "small.toml"
    path.write_text(text)
    assert main(["bench", "run", str(path), "--output", str(tmp_path / "out"), "--quiet"]) == 0
    return tmp_path / "out"


def test_the_command_finds_a_number_that_was_changed_by_hand(folder, capsys):
    assert main(["bench", "verify", str(folder)]) == 0
    assert (
        "sine exact_gp fold 1: equal to 1e-06\nequal: 1 of 1 records\n" in capsys.readouterr().out
    )
    path = folder / "records.jsonl"
    record = json.loads(path.read_text())
    name = min(n for n in record["metrics"] if "seconds" not in n)
    record["metrics"][name] += 1e-3
    path.write_text(json.dumps(record) + "\n")
    assert main(["bench", "verify", str(folder), "--sample", "1"]) == 1
    assert f"sine exact_gp fold 1: differs: {name} " in capsys.readouterr().out


def test_a_folder_without_records_cannot_be_verified(tmp_path, capsys):
    assert main(["bench", "verify", str(tmp_path)]) == 2
    assert "expected records" in capsys.readouterr().err


def test_the_commit_says_whether_sources_differ_from_it(tmp_path):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    source = tmp_path / "src" / "gfsvi" / "one.py"
    source.parent.mkdir(parents=True)
    source.write_text("x = 1\n")
    assert provenance.commit(tmp_path) is None
    provenance.commit.cache_clear()
    name = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "."), (*name, "commit", "-q", "-m", "one")):
        subprocess.run(("git", "-C", str(tmp_path), *words), check=True)
    clean = provenance.commit(tmp_path)
    assert clean is not None and len(clean) >= 12 and not clean.endswith("+")
    provenance.commit.cache_clear()
    source.write_text("x = 2\n")
    assert provenance.commit(tmp_path) == f"{clean}+"


def test_the_lock_is_known_by_a_hash_of_its_content(tmp_path):
    assert provenance.lock(tmp_path) is None
    provenance.lock.cache_clear()
    (tmp_path / "requirements.lock").write_text("numpy==2\n")
    first = provenance.lock(tmp_path)
    provenance.lock.cache_clear()
    (tmp_path / "requirements.lock").write_text("numpy==3\n")
    assert first is not None and len(first) == 12 and provenance.lock(tmp_path) != first


def test_new_records_say_commit_lock_and_processor():
    assert {"commit", "lock", "processor"} <= environment().keys()
