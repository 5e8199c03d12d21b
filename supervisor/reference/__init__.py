"""Pages of the documentation that are written from the code, where no single module owns what they tell."""
