"""The parts that every dialect is made of. Pure, and without a word of any protocol."""
