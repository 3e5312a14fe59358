"""The report page: one HTML file that says what was learned, and where not to trust it.

`evidence` holds the numbers, `words` the sentences, `charts` the pictures, `page` the file.
"""

from gfsvi.report.evidence import Evidence as Evidence
from gfsvi.report.gathering import gather as gather
from gfsvi.report.page import render as render
from gfsvi.report.page import write_report as write_report
