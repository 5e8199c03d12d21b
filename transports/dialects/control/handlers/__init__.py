"""The handlers of the control API, by subject: parameters to questions, answers to results."""
