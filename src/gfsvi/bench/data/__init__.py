"""Finding, parsing, checking and splitting data sets."""
