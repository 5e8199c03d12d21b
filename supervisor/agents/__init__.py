"""Turns as their agents see them: what every kind of agent shares."""
