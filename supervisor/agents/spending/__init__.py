"""The spending of turns: budgets, use and cost; and models that repeat themselves."""
