"""Building blocks of methods: objectives, divergences, evidence and calibration."""
