"""The command line: a table in, predictions and a page that explains them out."""

from gfsvi.cli.main import main as main
