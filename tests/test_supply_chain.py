"""The lock has hashes, and what is known about it can be written down and asked for."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def module(monkeypatch):
    """Imports a module of `supply_chain`, in the root of the repository."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.chdir(ROOT)
    return lambda name: importlib.import_module(f"supply_chain.{name}")


def test_every_locked_package_has_hashes(module):
    packages = module("lock").packages()
    assert len(packages) > 100 and {"jax", "numpy", "uv"} <= {package.name for package in packages}
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert len(packages) == sum(bool(re.match(r"[a-z].*==", line)) for line in lines)


def test_a_package_without_hashes_is_named(module, tmp_path):
    (tmp_path / "lock").write_text("a==1 \\\n    --hash=sha256:" + "0" * 64 + "\nb==2\n")
    with pytest.raises(ValueError, match="expected hashes of b==2"):
        module("lock").packages(tmp_path / "lock")


def test_nothing_is_installed_from_the_lock_without_checking_hashes():
    rules = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    commands = [line for line in rules.splitlines() if re.search(r"install .*\.lock", line)]
    from_the_lock = [line for line in commands if "--constraint" not in line]
    assert len(from_the_lock) == 2
    for line in from_the_lock:  # uv and, if it cannot, pip
        assert line.count("--require-hashes") == line.count(" install ")
    assert "--generate-hashes" in rules


def test_the_bill_of_materials_has_every_package_once(module, tmp_path):
    for name in ("first.json", "second.json"):
        command = [sys.executable, "-m", "supply_chain.sbom", tmp_path / name]
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    text = (tmp_path / "first.json").read_text()
    assert text == (tmp_path / "second.json").read_text()
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
    components = bill["components"]
    locked = module("lock").packages()
    assert [c["name"] for c in components] == [package.name for package in locked]
    assert len({c["bom-ref"] for c in components}) == len(components)
    scopes = {c["name"]: c["scope"] for c in components}
    assert {scopes[name] for name in ("jax", "numpy", "scipy", "safetensors")} == {"required"}
    assert {scopes[name] for name in ("pandas", "ruff", "optuna")} == {"optional"}


def test_what_is_known_is_listed_and_what_cannot_be_asked_is_said_in_one_sentence(module):
    audit = module("audit")
    known = {"id": "PYSEC-1", "fix_versions": ["2.1"]}
    answers = [
        {"name": "a", "version": "2.0", "vulns": [known]},
        {"name": "b", "version": "1", "vulns": []},
        {"name": "c", "skip_reason": "not found"},
    ]
    status, lines = audit.told(answers, 3)
    assert status == 1 and lines[0] == "a 2.0: PYSEC-1, fixed in 2.1"
    assert lines[1].startswith("audit: 1 known vulnerabilities in 2 of 3 packages")
    assert audit.told(answers[1:2], 1)[0] == 0
    for nothing in (None, [], answers[2:]):
        status, lines = audit.told(nothing, 121)
        assert status == 2 and len(lines) == 1 and "could not be asked" in lines[0]


def test_without_uv_nobody_is_asked(module, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert module("audit").asked() is None
