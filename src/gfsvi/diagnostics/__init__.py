"""What is wrong with a fit: findings with the numbers behind them and what to change."""

from gfsvi.diagnostics.checks import diagnose as diagnose
from gfsvi.diagnostics.diagnostic import Diagnostic as Diagnostic
