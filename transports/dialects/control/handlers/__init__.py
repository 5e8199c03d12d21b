"""The handlers of the control API, by subject: from params to scripts and results."""
