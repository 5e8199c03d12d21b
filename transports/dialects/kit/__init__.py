"""The parts shared by all dialects. Pure; knows no protocol."""
