"""Data sets: where they are found, how they are parsed and checked, and how they are split."""
