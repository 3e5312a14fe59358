"""Hostile inputs: tables, parameters, model files, experiment files, records and checkpoints."""
