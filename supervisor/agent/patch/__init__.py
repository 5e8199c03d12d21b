"""Patches of the model: parsed, verified against the files, applied all or nothing. Asks nobody; keeps no state."""
