"""Figures that must not grow: the same work with ever more on disk."""
