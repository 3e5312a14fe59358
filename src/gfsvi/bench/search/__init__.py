"""Search for the settings with the best validation score, per data set and method."""
