"""What methods are made of: objectives, divergences, evidence, calibration and priors."""
