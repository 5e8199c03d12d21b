"""Requests of dialects that are no conversation's own business, carried out."""
