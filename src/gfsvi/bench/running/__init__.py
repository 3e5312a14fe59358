"""Executing the runs of an experiment exactly once each, on this machine or a cluster."""
