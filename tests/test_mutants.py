"""Faults are put where they are said to be, and the list of those with a name is up to date."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportIndexIssue=false, reportOperatorIssue=false

import ast
import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the driver is beside the library, not in it
sites = importlib.import_module("mutants.sites")
planted = importlib.import_module("mutants.planted").planted
rooms = importlib.import_module("mutants.rooms")
records = importlib.import_module("mutants.records")
faults_at = importlib.import_module("mutants.operators").faults_at
running = importlib.import_module("mutants.running")
Outcome = running.Outcome
sys.path.remove(str(ROOT))


def found(text: str) -> set[str]:
    """Every fault of an expression, as text."""
    nodes = ast.walk(ast.parse(text, mode="eval"))
    return {ast.unparse(fault.replacement) for node in nodes for fault in faults_at(node)}


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("a + b", {"a - b", "a", "b"}),
        ("a * b", {"a / b", "a", "b"}),
        ("a - b", {"a + b", "a"}),
        ("a @ b", {"b @ a"}),
        ("-a", {"a"}),
        ("a < b", {"a > b"}),
        ("f(a, axis=0)", {"axis=-1", "1"}),
        ("f(a, lower=True)", {"lower=False"}),
        ("np.sum(a)", {"np.mean(a)"}),
        ("np.sqrt(a)", {"a"}),
        ("a.T", {"a"}),
        ("a if b else c", {"c if b else a"}),
        ("'a' + b", set()),
    ],
)
def test_faults_are_of_one_place(text, faults):
    assert found(text) == faults


@pytest.mark.parametrize("fault", list(planted()), ids=lambda fault: fault.name)
def test_faults_with_a_name_are_at_home_in_the_code(fault):
    assert fault.code() is not None
    assert fault.tests
    for name in fault.tests:
        path, _, test = name.partition("::")
        assert f"def {test}" in (ROOT / path).read_text(encoding="utf-8")


def test_every_module_has_tests_and_faults_can_be_put_anywhere():
    names = list(rooms.modules())
    assert len(names) > 100 and all(rooms.tests_of(name) for name in names if "/" in name)
    for name in names[::15]:
        for mutant in sites.mutants_of(name)[::40]:
            compile(sites.source_with(mutant), name, "exec")


def test_a_fault_keeps_its_name_when_lines_move(monkeypatch, tmp_path):
    text = "def f(a, b):\n    return a + b\n\n\ndef g(a, b):\n    return a + b\n"
    monkeypatch.setattr(sites, "SOURCE", tmp_path)
    (tmp_path / "one.py").write_text(text)
    before = {mutant.identity: mutant.line for mutant in sites.mutants_of("one.py")}
    (tmp_path / "one.py").write_text("x = y\n" + text)
    after = {mutant.identity: mutant.line for mutant in sites.mutants_of("one.py")}
    assert len(before) == 6 and {name: line + 1 for name, line in before.items()} == after


def test_the_report_counts_what_was_noticed_and_gives_reasons(tmp_path):
    first, second, third = sites.mutants_of("kernels/rbf.py")[:3]
    tried = records.Tried(tmp_path)
    tried.append(first, Outcome("survived", "", 1.0))
    tried.append(second, Outcome("survived", "", 1.0))
    tried.append(third, Outcome("killed", "a test", 1.0))
    tried.append(first, Outcome("killed", "a new test", 1.0))
    assert "noticed 2 of 3 (66.7 %)" in records.report(tried) and "no test yet" in records.report(
        tried
    )
    (tmp_path / "kept.toml").write_text(f'{second.identity} = "It changes nothing."\n')
    assert "It changes nothing." in records.report(tried) and "no test yet" not in records.report(
        tried
    )


@pytest.mark.parametrize(("status", "outcome"), [(0, "survived"), (2, "broken"), (4, "broken")])
def test_tests_that_do_not_run_have_noticed_nothing(status, outcome, monkeypatch):
    monkeypatch.setattr(pytest, "main", lambda *given, **options: status)
    assert running._tested("nothing.py", None, ["tests/test_metrics.py"])[0] == outcome


def test_a_fault_is_noticed_by_the_first_test_that_fails(monkeypatch):
    class Failed:
        failed, nodeid = True, "tests/test_one.py::test_two"

    def main(words, plugins):
        plugins[0].pytest_runtest_logreport(Failed)
        return 1

    monkeypatch.setattr(pytest, "main", main)
    found = running._tested("nothing.py", None, ["tests/test_metrics.py"])
    assert found == ("killed", "tests/test_one.py::test_two")
