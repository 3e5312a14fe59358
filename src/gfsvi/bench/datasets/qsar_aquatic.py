"""Toxicity of molecules to water fleas."""

from gfsvi.bench.data.table_file import AbstractTableFile


class QsarAquatic(AbstractTableFile):
    """Toxicity of molecules to water fleas."""

    target = "toxicity"
    shape = (546, 8)
    sha256 = "63b92f10299e992c8e3e55fa7f3395d68d3ad5ce2eeac4cf6d190dd4a8990647"
