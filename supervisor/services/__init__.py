"""Requests of dialects that no conversation answers: status, config, histories, jobs, budgets and the like."""
