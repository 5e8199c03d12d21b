"""Room in a model's context: how full it is, and what stands for the history when it is summed up.

The decisions are pure (`story`, `room`, `wording`, `gauge`); `compactor` asks the model. Knows nothing of wires.
"""
