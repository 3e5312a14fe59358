"""Scripts that complete commands in shells; bash is asked, as the user's own would be."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gfsvi import registry
from gfsvi.cli.commands import parser
from gfsvi.cli.completion import commands_of

ASK = """
{script}
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_gfsvi
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(run, *words: str) -> set[str]:
    """What bash offers after these words, the last of which is being written."""
    _, script, _ = run("completion", "bash")
    quoted = " ".join(f"'{word}'" for word in ("gfsvi", *words))
    command = ["bash", "--norc", "-c", ASK.format(script=script, words=quoted)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_commands_options_names_and_files(run):
    Path("houses.csv").write_text("a,b")
    assert completed(run, "") >= {"fit", "predict", "list", "completion", "--version"}
    assert completed(run, "fi") == {"fit"}
    assert completed(run, "bench", "") >= {"run", "tune", "report"}
    assert completed(run, "bench", "run", "--wor") == {"--workers"}
    assert completed(run, "fit", "hou") == {"houses.csv"}
    assert completed(run, "fit", "houses.csv", "--meth") == {"--method"}
    assert completed(run, "fit", "houses.csv", "--method", "") == set(registry.methods())
    assert completed(run, "fit", "houses.csv", "-k", "rb") == {"rbf"}
    assert completed(run, "list", "ker") == {"kernels"}
    assert completed(run, "fit", "houses.csv", "--output", "ho") == {"houses.csv"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_is_in_the_script(run, shell):
    status, script, error = run("completion", shell)
    assert (status, error) == (0, "")
    for command in commands_of(parser()):
        for option in command.options:
            longest = option.flags[-1]
            assert (f"-l {longest[2:]}" if shell == "fish" else longest) in script
        assert all(name in script for name in command.commands)


def test_zsh_runs_the_script_of_bash(run):
    _, bash, _ = run("completion", "bash")
    _, zsh, _ = run("completion", "zsh")
    assert zsh == f"autoload -U +X bashcompinit && bashcompinit\n{bash}"


def test_fish_is_told_where_a_word_belongs_and_quotes_what_it_shows(run):
    _, script, _ = run("completion", "fish")
    lines = script.splitlines()
    assert lines[0] == "complete -c gfsvi -f"
    place = '-n "__fish_seen_subcommand_from bench; and __fish_seen_subcommand_from run"'
    assert any(place in line and "-l workers" in line and "-r" in line for line in lines)
    table = [line for line in lines if "from fit" in line and "CSV or Parquet" in line]
    assert len(table) == 1 and " -F " in table[0]
    for line in lines:
        assert line.replace("\\'", "").count("'") % 2 == 0


def test_short_options_are_those_of_common_ones(run):
    for command in commands_of(parser()):
        short = {
            flags[0]: flags[1] for flags in (o.flags for o in command.options) if len(flags) > 1
        }
        assert set(short) <= {"-h", "-t", "-o", "-q", "-r", "-m", "-k", "-l"}
        for flag, name in short.items():
            assert name[2] == flag[1]
