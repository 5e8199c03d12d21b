"""Room in a model's context: how full the context is, and the summary that replaces older history.

The decisions are pure (`story`, `room`, `wording`, `gauge`); `compactor` asks the model. Knows nothing of wires.
"""
