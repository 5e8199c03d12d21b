"""Background commands: each has an id, and is read, written to, waited for and ended by the model and by people."""
