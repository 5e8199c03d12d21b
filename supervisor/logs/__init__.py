"""What is logged where, and what no log may show."""
