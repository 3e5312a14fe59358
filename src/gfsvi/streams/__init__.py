"""Rows that are never in memory together: where they come from, and how they are added up.

`lanes` has the numbers of rows in shares that belong to processes, `stream` what inference needs of
them, `scratch` the files that numbers are kept in once a table has been prepared, `scan` the first
pass over a table, and `effects` numbers for categories of which there are many.
"""
