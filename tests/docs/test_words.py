"""The documentation uses the words of its glossary, and the same word for the same thing."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs/explain/glossary.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "docs/learn").glob("*.py")),
]
BETTER = {
    r"validation (rows|data|set)": "held-out rows",
    r"copies of rows|stand twice": "duplicate rows",
    r"inducing locations|context points": "measurement points",
    r"\blengthscales?\b": "length scale",
    r"\b(rows|points|steps|seconds|one|scale|record|worker|deviation) an? "
    r"(step|feature|class|run|file|row|layer|point|core)\b": "per",
    r"in words\b(?! and pictures)": "an error that says",
    r"\bclothes\b": "scikit-learn-compatible",
}
WORDS = (
    *("Row", "Feature", "Target", "Held-out rows", "Weight of a row"),
    *("Prior", "Posterior", "Kernel", "Length scale", "Likelihood", "Noise", "Warp"),
    *("Linearised network", "Mean", "Covariance family", "Measurement points", "Gamma"),
    *("Epistemic uncertainty", "Aleatoric uncertainty", "Novelty", "Calibration"),
    *("Evidence", "Leave-one-out", "Step", "Fit", "Recipe", "Fitted"),
    *("Experiment", "Task", "Fold", "Run", "Record"),
)


def entries() -> dict[str, str]:
    found = re.findall(r"^\* \*\*(.+?)\*\*: (.+?)(?=^\*|^#|\Z)", GLOSSARY.read_text(), re.M | re.S)
    return {word: " ".join(sentence.split()) for word, sentence in found}


@pytest.mark.parametrize("word", WORDS)
def test_the_glossary_explains_a_word_in_one_sentence(word):
    sentence = entries()[word]
    assert sentence.endswith(".")
    assert not re.search(r"\. [A-Z]", sentence)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_has_one_word_for_one_thing(page):
    text = " ".join(prose(page).split())
    found = [
        f"{m[0]!r}: write {better!r}" for p, better in BETTER.items() for m in re.finditer(p, text)
    ]
    assert found == []


def prose(page: Path) -> str:
    """The text of a page or tutorial without code."""
    text = page.read_text()
    if page.suffix == ".py":
        text = "\n".join(line[1:] for line in text.splitlines() if line.startswith("#"))
    return re.sub(r"`[^`]*`", "", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))
