"""Programs that were compiled are kept, for the command line alone."""

import warnings
from pathlib import Path

import jax
import pytest

from gfsvi.numerics.process import cache_home, prepare_jax


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("GFSVI_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "compiled"


def compile_something() -> None:
    jax.jit(lambda x: x @ x + 12345.0).lower(jax.numpy.eye(3)).compile()


def test_what_was_compiled_is_kept(folder):
    prepare_jax(10)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    compile_something()
    assert len(list(folder.glob("*-cache"))) >= 1


def test_what_a_killed_process_left_does_no_harm(folder):
    folder.mkdir(parents=True)
    (folder / "half-cache").write_bytes(b"half of a pro")
    (folder / "whole-cache").write_bytes(b"program")
    (folder / "whole-atime").write_bytes(bytes(8))
    prepare_jax(10)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    compile_something()
    names = {path.name for path in folder.iterdir()}
    assert "half-cache" not in names and "whole-cache" in names
    assert len([name for name in names if name.endswith("-cache")]) >= 2


def test_a_folder_that_cannot_be_made_does_no_harm(folder):
    folder.parent.write_text("a file is in the way")
    before = jax.config.values["jax_compilation_cache_dir"]
    prepare_jax(10)
    assert jax.config.values["jax_compilation_cache_dir"] == before


def test_a_program_that_cannot_be_kept_is_not_worth_a_word(folder):
    prepare_jax(10)
    warnings.warn("Error writing persistent compilation cache entry for 'f'", stacklevel=1)
    with pytest.raises(UserWarning, match="else"):
        warnings.warn("something else", stacklevel=1)


def test_without_a_word_it_is_the_usual_place(monkeypatch):
    monkeypatch.delenv("GFSVI_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_home() == Path("/somewhere/gfsvi")
