"""A model's patches: parsed, verified against the files, applied all or nothing. Asks no question, keeps no state."""
