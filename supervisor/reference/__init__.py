"""Pages of the documentation that are written from the code and belong to no single module."""
