"""The tasks that experiments perform and measure."""
