"""The backends of our own agent: one loop for every model, and the demo model."""
