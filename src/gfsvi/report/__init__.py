"""The report page: one HTML file about a fit, and where not to trust it.

`gathering` collects the numbers in `evidence`: `case` has the rows, `assumptions` the prior,
`judging` the scores and `effects` the predictions along each column. `words` writes the sentences,
`formatting` the numbers in them, `charts` and `gallery` draw the pictures, and `page` puts all of
it into a file.
"""

from gfsvi.report.evidence import Evidence as Evidence
from gfsvi.report.gathering import gather as gather
from gfsvi.report.page import render as render
from gfsvi.report.page import write_page as write_page
from gfsvi.report.page import write_report as write_report
