"""Pages and schemas of the documentation that are written from the code."""
