"""What is wrong with a fit, in words, with the numbers it was measured by and what to change."""

from gfsvi.diagnostics.checks import diagnose as diagnose
from gfsvi.diagnostics.diagnostic import Diagnostic as Diagnostic
