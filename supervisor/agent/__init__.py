"""One turn's work: the model, its tools, their safety, their processes. Everything here runs on the loop thread."""
