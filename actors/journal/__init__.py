"""The actors of the journal: one writes, one reads."""
